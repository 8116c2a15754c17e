#!/usr/bin/env python3
"""Does a learning rate found on a surrogate hold at full width? Writes docs/transfer.md.

    bench/transfer.py [--first-seeds 11 21] [-o docs/transfer.md]

Needs .venv and build/release/bench/transfer_bench (cmake --preset release -D HYDRO_BENCH=ON, then
cmake --build build/release --target transfer_bench). One thread.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/transfer_bench"
HEAD = """# Does a learning rate hold at full width?

Made by `bench/transfer.py`. An MLP 784-512-512-10 is trained on Fashion-MNIST for 200 steps of 64 images, at eight
learning rates, each 2.5 times the one before; a cell is the loss on 2,000 held-out images, the mean of three seeds.
*distance* is the largest |L_S / L_1 - 1| at the rates up to the first where the target (S = 1) is within 2 % of its least
loss, *to the best* the same up to its very least loss, *best* the place of that. Behind the first such rate the curve is
flat or nearly unstable: where the least loss lies there, by the luck of the seeds, *to the best* is large with the right
table too. `standard` and each wrong rule move the whole curve: *hidden SGD x S* is the hidden rate as the original
paper states it, *hidden Adam unscaled* leaves Adam's as it is.
"""


def archive_into(folder):
    path = pathlib.Path(folder) / "mlp.pt2"
    target = f"{ROOT}/tests/chain/families.py:plain_mlp"
    subprocess.run([sys.executable, "-m", "hydro.export", target, "--kwargs", '{"features": 784, "width": 512}',
                    "--input", "float32[*,1,28,28]", "-o", path], check=True, cwd=ROOT / "python")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-seeds", type=int, nargs="+", default=[11, 21])
    parser.add_argument("-o", "--output", default=ROOT / "docs/transfer.md", type=pathlib.Path)
    options = parser.parse_args()
    if not BENCH.exists():
        sys.exit(f"{BENCH} is not there: see the head of this file")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        archive = archive_into(folder)
        curves = [subprocess.run([BENCH, archive, str(seed)], check=True, text=True, stdout=subprocess.PIPE).stdout
                  for seed in options.first_seeds]
    options.output.write_text(HEAD + "".join(curves), encoding="utf-8")
    print(f"{options.output} written after {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
