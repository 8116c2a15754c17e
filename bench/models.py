#!/usr/bin/env python3
"""Which models Hydro takes unchanged, what becomes of them at S = 4 and 8, and that they learn: writes docs/models.md.

    bench/models.py [--only GPT-2 vit_b_16] [-o docs/models.md]

Each model is exported from its own package by `hydro export`, read and shrunk by `hydro check`, which also runs both
graphs once and compares the shape of every node with the predicted one. `hydro tune` then trains three trials along one
trial axis for 40 steps of 8 samples, and the best at full width: images of Fashion-MNIST, texts of the GPL. Fails when
their mean loss over the last five steps is not below that over the first five. Needs .venv with
tools/requirements-test.txt. About 25 minutes on 2 cores. Other sections of the file stay.
"""
import argparse
import csv
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
    return {"export": f"{OWN}:{name}", "kwargs": kwargs, "input": "int64[*, 64]"}


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
    "TransformerEncoder": own("encoder", tokens=64),
}


STEPS, BATCH, REPORT_EVERY = 40, 8, 5
RATES = [3e-4, 1e-3]
LOW_RATES = {"vit_b_16": [5e-5, 2e-4], "efficientnet_b0": [5e-5, 2e-4]}  # deep, and there is no warm-up here
SAMPLES = STEPS * BATCH
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")
OTHER = 95  # the token of what is no printable character, the last of networks.py's vocabulary


def images(spec):
    """The first images, resized to the model's size."""
    size = int(spec.rstrip("]").split(",")[-1])
    part = {"format": "idx", "images": str(FASHION / "train-images-idx3-ubyte.gz"),
            "labels": str(FASHION / "train-labels-idx1-ubyte.gz")}
    transform = ["rgb", {"resize": {"size": size}}, {"normalize": {"mean": 0.286, "std": 0.353}}]
    return {"train": {**part, "limit": SAMPLES}, "val": {**part, "limit": BATCH}, "transform": transform}, "classification"


def kind_of(letter):
    """0 a blank or what is not printed, 1 a vowel, 2 anything else."""
    return 0 if letter in (0, OTHER) else 1 if chr(letter + 32) in "aeiouAEIOU" else 2


def texts(folder, inputs, classes):
    """Blocks of 64 letters with the letter that follows each, or with the kind of the first as their class."""
    letters = numpy.frombuffer(TEXT.read_bytes(), numpy.uint8).astype(numpy.int64)
    letters = numpy.where((letters >= 32) & (letters < 127), letters - 32, OTHER)
    blocks, following = (letters[start : start + SAMPLES * 64].reshape(SAMPLES, 64) for start in (0, 1))
    target = numpy.array([kind_of(block[0]) for block in blocks]) if classes else following
    numpy.save(folder / "y.npy", target)
    files = {}
    for name in inputs:
        numpy.save(folder / f"{name or 'x'}.npy", numpy.ones_like(blocks) if name == "attention_mask" else blocks)
        files[name] = f"{name or 'x'}.npy"
    part = {"format": "arrays", "inputs": files if "" not in files else files[""], "target": "y.npy"}
    return {"train": part, "val": {**part, "limit": BATCH}}, "classification" if classes else "language_model"


def data_of(name, folder, inputs):
    spec = next(iter(inputs.values()))
    return images(spec) if spec.startswith("float32") else texts(folder, inputs, name.endswith("classes"))


def export(model, folder):
    inputs = model["input"] if isinstance(model["input"], dict) else {"": model["input"]}
    command = [HYDRO, "export", model["export"], "--kwargs", json.dumps(model["kwargs"]), "-o", folder / "model.pt2"]
    for name, spec in inputs.items():
        command += ["--input", f"{name}={spec.replace(' ', '')}" if name else spec.replace(" ", "")]
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return time.time() - start, inputs, done.stderr if done.returncode else ""


def write_job(name, folder, inputs, scaling):
    data, task = data_of(name, folder, inputs)
    job = {"name": "table", "model": {"file": "model.pt2"}, "data": data,
           "train": {"task": task, "steps": STEPS, "batch_size": BATCH, "evaluate": {"every": f"{REPORT_EVERY} steps"},
                     "optimizer": {"name": "adamw", "lr": {"loguniform": LOW_RATES.get(name, RATES)}}},
           "tune": {"num_samples": 3, "fusion": 3, "scaling": scaling}}
    path = folder / f"job{scaling}.yaml"
    path.write_text(json.dumps(job))
    return path


def check(job):
    done = subprocess.run([HYDRO, "check", job, "--format", "json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.stdout.startswith("{") else {"refusals": [{"what": done.stderr}]}


def learn(job):
    """The trials' mean training loss over the first and the last five steps; what is wrong, if anything is."""
    folder = job.with_suffix(".study")
    done = subprocess.run([HYDRO, "tune", job, "--progress", "none", "-o", folder], capture_output=True, text=True, check=False)
    if done.returncode:
        return "", done.stderr
    losses = {}
    with open(folder / "metrics.csv", encoding="utf-8") as file:
        for report in csv.DictReader(file):
            if (report["kind"], report["metric"]) == ("surrogate", "train_loss"):
                losses.setdefault(report["trial"], []).append(float(report["value"]))
    trials = list(losses.values())
    assert [len(values) for values in trials] == [STEPS // REPORT_EVERY] * 3, losses
    first, last = (sum(values[place] for values in trials) / 3 for place in (0, -1))
    return f"{first:.2f} to {last:.2f}", "" if last < first else f"the loss did not fall: {losses}"


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
    """The model's line of the table, and what is wrong with it."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        seconds, inputs, error = export(model, folder)
        losses, found = {}, {}
        for scaling in (4, 8):
            if not error:
                job = write_job(name, folder, inputs, scaling)
                found = check(job)
                error = found["refusals"][0]["what"] if found["refusals"] else ""
            if not error:
                losses[scaling], error = learn(job)
        if error:
            return f"| {name} | {' '.join(error.splitlines()[:1])} |" + " |" * 8, error
        nodes, ops = graph_of(folder)
        full = sum(elements(p["shape"]) for p in found["parameters"])
        small = sum(elements(p["surrogate_shape"]) for p in found["parameters"])
        return (f"| {name} | {nodes} | {ops} | {full:,} | {small:,} | {full / small:.1f} | {seconds:.1f} | {losses[4]} | "
                f"{losses[8]} | {held(found['widths'])} |"), ""


HEAD = """# Models

Made by `bench/models.py`. Each is exported from its own package without a changed line and shrunk at `scaling: 4` and 8;
both graphs are run once, and every node has the shape that was predicted for it. Then three trials stacked along one
trial axis train for 40 steps of 8 samples (Fashion-MNIST, the text of the GPL), and the best of them at full width. Images
are 64 x 64 (VisionTransformer and Swin of transformers 32 x 32), texts 64 tokens; models of transformers are small
configurations.

Nodes and ops are those of the exported training graph; parameters are those that train; seconds are those of one export
from process start, with other work on the machine. Learning rates are 3e-4 to 1e-3, of ViT-B/16 and EfficientNet, which
want warm-up, 5e-5 to 2e-4. *loss* is the trials' mean training loss over the first five steps and over the last five. The last
column names what keeps a width (how many classes), without what always stays: inputs, outputs, kernels, the rows of tables.

| model | nodes | ops | parameters | at S = 8 | ratio | export s | loss, S = 4 | loss, S = 8 | kept |
|---|---|---|---|---|---|---|---|---|---|
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="MODEL", choices=MODELS, default=list(MODELS))
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "docs/models.md")
    options = parser.parse_args()
    rows, wrong = [], []
    for name in options.only:
        line, error = row(name, MODELS[name])
        rows.append(line)
        wrong += [f"{name}: {error}"] if error else []
        print(error or line, file=sys.stderr, flush=True)
    _, title, rest = options.output.read_text().partition("\n## ") if options.output.exists() else ("", "", "")
    options.output.write_text(HEAD + "\n".join(rows) + "\n" + title + rest)
    if wrong:
        sys.exit(f"{len(wrong)} of {len(rows)} models failed")


if __name__ == "__main__":
    main()
