#!/usr/bin/env python3
"""Does a learning rate found on a surrogate hold at full width? Writes docs/transfer.md.

    bench/transfer.py [--cases mlp gpt gpt-untied resnet] [--first-seeds 11 21] [--text data/tinyshakespeare.txt]

Needs .venv with tools/requirements-test.txt and build/release/bench/transfer_bench (cmake --preset release
-D HYDRO_BENCH=ON, then cmake --build build/release --target transfer_bench). One thread. Each run's table grows row by
row in build/transfer/CASE-SEED.md; the page is made of all tables that are there.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/transfer_bench"
PARTS = ROOT / "build/transfer"
HEAD = """# Does a learning rate hold at full width?

Made by `bench/transfer.py`. A model is trained at full width (S = 1) and on surrogates over a grid of learning rates, with
the right table (`mup`) and with wrong ones; a cell is the loss on held-out data at the end, the mean of the seeds.
*best* is the place of the least loss. It is a poor witness: valleys are flat. What tells tables apart is the curve itself:

- *distance* is the largest |L_S / L_1 - 1| at the rates up to the first where the target is within 2 % of its least loss,
  *to the best* the same up to its very least loss. Behind the first such rate the curve is flat or nearly unstable: where
  the least loss lies there, by the luck of the seeds, *to the best* is large with the right table too.
- *valley moves*, for convolution networks, whose narrow forms are simply worse: by how many octaves the middle of the
  rates whose loss is within .1 of the least lies from the target's. *open*: the grid ends inside the valley.
"""


def gpt2(**more):
    config = {"n_layer": 4, "n_embd": 128, "n_head": 4, "vocab_size": 256, "n_positions": 64, "bos_token_id": 0,
              "eos_token_id": 0, "use_cache": False, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, **more}
    return ("transformers:GPT2LMHeadModel", {"config": {"call": "transformers:GPT2Config", "kwargs": config}},
            "input_ids=int64[*,64]")


MLP = f"{ROOT}/tests/chain/families.py:plain_mlp"
# By name: the bench's case, what it trains, title and words above its tables.
CASES = {
    "mlp": ("mlp", (MLP, {"features": 784, "width": 512}, "float32[*,1,28,28]"), "An MLP 784-512-512-10", """
200 steps of 64 images of Fashion-MNIST, 2,000 others held out; each rate is 2.5 times the one before. `standard` and each
wrong rule move the whole curve: *hidden SGD x S* is the hidden rate as the original paper states it, *hidden Adam
unscaled* leaves Adam's as it is.
"""),
    "gpt": ("gpt", gpt2(), "GPT-2 on bytes", """
GPT-2 of transformers, width 128, 4 layers, its head tied to the embedding, on tinyshakespeare: 200 steps of 32 blocks of
64 bytes, the last tenth of the text held out; each rate is twice the one before.
"""),
    "gpt-untied": ("gpt", gpt2(tie_word_embeddings=False), "GPT-2 on bytes, its head not tied", """
The same with `tie_word_embeddings: false`: the head is a readout, which starts at zero.
"""),
    "resnet": ("resnet", ("torchvision.models:resnet18", {"num_classes": 10}, "float32[*,3,28,28]"), "ResNet-18", """
torchvision's ResNet-18 (width 64) on Fashion-MNIST: 140 steps of 64 images, 2,000 others held out; each rate is twice the
one before.
"""),
}


def archive_of(name):
    target, kwargs, spec = CASES[name][1]
    path = PARTS / f"{name}.pt2"
    subprocess.run([sys.executable, "-m", "hydro.export", target, "--kwargs", json.dumps(kwargs), "--input", spec, "-o",
                    path], check=True, cwd=ROOT / "python")
    return path


def measure(name, seed, text):
    start = time.monotonic()
    command = [BENCH, CASES[name][0], archive_of(name), str(seed), text]
    part = PARTS / f"{name}-{seed}.md"
    with part.open("w", encoding="utf-8") as table:
        subprocess.run(command, check=True, stdout=table)
    print(f"{part} written after {time.monotonic() - start:.0f} s", flush=True)


def page():
    text = HEAD
    for name, (_, _, title, words) in CASES.items():
        parts = sorted(PARTS.glob(f"{name}-[0-9]*.md"))
        if parts:
            text += f"\n## {title}\n{words}" + "".join(part.read_text(encoding="utf-8") for part in parts)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--first-seeds", type=int, nargs="+", default=[11, 21])
    parser.add_argument("--text", type=pathlib.Path, default=ROOT / "data/tinyshakespeare.txt")
    parser.add_argument("-o", "--output", default=ROOT / "docs/transfer.md", type=pathlib.Path)
    options = parser.parse_args()
    if not BENCH.exists():
        sys.exit(f"{BENCH} is not there: see the head of this file")
    PARTS.mkdir(parents=True, exist_ok=True)
    for name in options.cases:
        for seed in options.first_seeds:
            measure(name, seed, options.text.resolve())
    options.output.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
