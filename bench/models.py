#!/usr/bin/env python3
"""Which models Hydro takes unchanged, and what becomes of them at S = 8: writes docs/models.md.

    bench/models.py [--only GPT-2 vit_b_16] [-o docs/models.md]

Each model is exported from its own package by `hydro export`, read and shrunk by `hydro check`, which also runs both
graphs once and compares the shape of every node with the predicted one. Needs .venv with tools/requirements-test.txt.
About 15 minutes on 2 cores. Other sections of the file stay.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
HYDRO = ROOT / "build/release/hydro"
OWN = ROOT / "tests/chain/networks.py"


def image_net(name, size=64, **kwargs):
    return {"export": f"torchvision.models:{name}", "kwargs": {"num_classes": 10, **kwargs},
            "input": f"float32[*, 3, {size}, {size}]"}


def transformer(model, config, inputs, **kwargs):
    return {"export": f"transformers:{model}",
            "kwargs": {"config": {"call": f"transformers:{config}", "kwargs": kwargs}}, "input": inputs}


def own(name, **kwargs):
    return {"export": f"{OWN}:{name}", "kwargs": kwargs, "input": "int64[*, 16]"}


IDS = {"input_ids": "int64[*, 64]"}
MASKED = {**IDS, "attention_mask": "int64[*, 64]"}
GPT2 = {"n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 256, "n_positions": 64, "bos_token_id": 0,
        "eos_token_id": 0, "use_cache": False}
GPT_NEO = {"num_layers": 2, "hidden_size": 64, "num_heads": 4, "vocab_size": 256, "max_position_embeddings": 64,
           "attention_types": [[["global", "local"], 1]], "window_size": 16, "bos_token_id": 0, "eos_token_id": 0,
           "use_cache": False}
BERT = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128,
        "vocab_size": 256, "max_position_embeddings": 64}
LLAMA = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
         "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 64, "use_cache": False}

MODELS = {
    **{name: image_net(name) for name in (
        "resnet18", "resnet50", "wide_resnet50_2", "vgg11", "vgg11_bn", "mobilenet_v2", "mobilenet_v3_small",
        "mobilenet_v3_large", "squeezenet1_1", "densenet121", "efficientnet_b0", "shufflenet_v2_x1_0", "swin_t")},
    "vit_b_16": image_net("vit_b_16", image_size=64),
    "VisionTransformer": image_net("VisionTransformer", 32, image_size=32, patch_size=8, num_layers=2, num_heads=4,
                                   hidden_dim=64, mlp_dim=128),
    "GPT-2": transformer("GPT2LMHeadModel", "GPT2Config", IDS, **GPT2),
    "GPT-2, eager attention": transformer("GPT2LMHeadModel", "GPT2Config", IDS, attn_implementation="eager", **GPT2),
    "GPT-Neo": transformer("GPTNeoForCausalLM", "GPTNeoConfig", IDS, **GPT_NEO),
    "BERT, masked words": transformer("BertForMaskedLM", "BertConfig", MASKED, **BERT),
    "BERT, classes": transformer("BertForSequenceClassification", "BertConfig", MASKED, num_labels=3, **BERT),
    "Swin of transformers": transformer(
        "SwinForImageClassification", "SwinConfig", {"pixel_values": "float32[*, 3, 32, 32]"}, image_size=32,
        patch_size=4, embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=4, num_labels=10),
    "Llama": transformer("LlamaForCausalLM", "LlamaConfig", IDS, **LLAMA),
    "LSTM, 2 layers": own("lstm"),
    "LSTM, tied": own("lstm", tied=True),
    "TransformerEncoder": own("encoder"),
}


def sizes_of(spec):
    return [int(size) for size in spec[spec.index("[") + 1 : -1].split(",")[1:]]


def write_data(folder, inputs):
    """Sixteen samples of zeros: nothing is trained here."""
    files = {}
    for name, spec in inputs.items():
        kind = numpy.int64 if spec.startswith("int64") else numpy.float32
        numpy.save(folder / f"{name or 'x'}.npy", numpy.zeros([16, *sizes_of(spec)], kind))
        files[name] = f"{name or 'x'}.npy"
    numpy.save(folder / "y.npy", numpy.zeros(16, numpy.int64))
    return {"format": "arrays", "inputs": files if "" not in files else files[""], "target": "y.npy"}


def export(model, folder):
    inputs = model["input"] if isinstance(model["input"], dict) else {"": model["input"]}
    command = [HYDRO, "export", model["export"], "--kwargs", json.dumps(model["kwargs"]), "-o", folder / "model.pt2"]
    for name, spec in inputs.items():
        command += ["--input", f"{name}={spec.replace(' ', '')}" if name else spec.replace(" ", "")]
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return time.time() - start, inputs, done.stderr if done.returncode else ""


def check(folder, inputs, scaling):
    split = write_data(folder, inputs)
    job = {"name": "table", "model": {"file": "model.pt2"}, "data": {"train": split, "val": split},
           "train": {"task": "classification", "epochs": 1, "batch_size": 8,
                     "optimizer": {"name": "adamw", "lr": {"loguniform": [1e-4, 1e-2]}}},
           "tune": {"num_samples": 1, "scaling": scaling}}
    (folder / "job.yaml").write_text(json.dumps(job))
    done = subprocess.run([HYDRO, "check", folder / "job.yaml", "--format", "json"], capture_output=True, text=True,
                          check=False)
    return json.loads(done.stdout) if done.stdout.startswith("{") else {"refusals": [{"what": done.stderr}]}


def graph_of(folder):
    with zipfile.ZipFile(folder / "model.pt2") as archive:
        graph = json.loads(archive.read("archive/models/train.json"))
    nodes = graph["graph_module"]["graph"]["nodes"]
    return len(nodes), len({node["target"] for node in nodes})


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def held(widths):
    """Reasons with how many classes they keep, without their lines; what always stays (inputs, outputs, kernels) is
    left out."""
    usual = ("user output", "input features", "kernel", "rows of", "sequence length", "spatial size")
    reasons = {}
    for width in widths:
        reason = (width["held_because"] or width["pinned_because"] or "").split(" `")[0]
        if reason and not reason.startswith(usual):
            reasons[reason] = reasons.get(reason, 0) + 1
    return "; ".join(f"{reason} ({count})" if count > 1 else reason for reason, count in reasons.items())


def row(name, model):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        seconds, inputs, error = export(model, folder)
        if error:
            return f"| {name} | refused: {error.splitlines()[0]} | | | | | | |"
        found = check(folder, inputs, 8)
        if found["refusals"]:
            return f"| {name} | refused: {found['refusals'][0]['what']} | | | | | | |"
        nodes, ops = graph_of(folder)
        full = sum(elements(p["shape"]) for p in found["parameters"])
        small = sum(elements(p["surrogate_shape"]) for p in found["parameters"])
        return (f"| {name} | {nodes} | {ops} | {full:,} | {small:,} | {full / small:.1f} | {seconds:.1f} | "
                f"{held(found['widths'])} |")


HEAD = """# Models

Made by `bench/models.py`. Each is exported from its own package without a changed line and shrunk at `scaling: 8`; both
graphs are run once, and every node has the shape that was predicted for it. Images are 64 x 64 (VisionTransformer and
Swin of transformers 32 x 32), texts 64 tokens; models of transformers are small configurations. Nodes and ops are those
of the exported training graph; parameters are those that train; seconds are those of one run beside other work. The last column names what keeps a width (how many
classes), without what always stays: inputs, outputs, kernels, the rows of tables.

| model | nodes | ops | parameters | at S = 8 | ratio | export s | kept |
|---|---|---|---|---|---|---|---|
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="MODEL", choices=MODELS, default=list(MODELS))
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "docs/models.md")
    options = parser.parse_args()
    rows = []
    for name in options.only:
        rows.append(row(name, MODELS[name]))
        print(rows[-1], file=sys.stderr, flush=True)
    _, title, rest = options.output.read_text().partition("\n## ") if options.output.exists() else ("", "", "")
    options.output.write_text(HEAD + "\n".join(rows) + "\n" + title + rest)


if __name__ == "__main__":
    main()
