#!/usr/bin/env python3
"""The GPT-2 example from process start to delivered weights, its bits per byte beside those of a bigram table.

    bench/gpt2_vs_bigram.py [--text data/tinyshakespeare.txt]

The table predicts each byte from the one before it, with counts of the training part plus one; both are measured on the
text's last tenth, which neither was trained on. About 2 minutes on 2 cores.
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VALIDATION = 0.1  # as in the example


def bigram_bits(text):
    """Bits per byte on the tail of `text`."""
    cut = round(len(text) * (1 - VALIDATION))
    counts = [[1] * 256 for _ in range(256)]
    for before, after in zip(text[:cut], text[1:cut]):
        counts[before][after] += 1
    totals = [sum(row) for row in counts]
    pairs = list(zip(text[cut:], text[cut + 1 :]))
    return sum(-math.log2(counts[a][b] / totals[a]) for a, b in pairs) / len(pairs)


def hydro_result(text):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "build/release/hydro", "tune", ROOT / "examples/gpt2-shakespeare.yaml", "--set",
                        f"data.train.path={text}", "--progress", "none", "-o", f"{folder}/run"], check=True,
                       stdout=subprocess.DEVNULL)
        return json.loads(pathlib.Path(folder, "run/result.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=pathlib.Path, default=ROOT / "data/tinyshakespeare.txt")
    text = parser.parse_args().text.resolve()
    baseline = bigram_bits(text.read_bytes())
    result = hydro_result(text)
    print(f"bigram table  {baseline:.3f} bits per byte")
    print(f"target        {result['target']['value'] / math.log(2):.3f} bits per byte "
          f"(makespan {result['makespan_s']:.0f} s, phases {json.dumps(result['phases_s'])})")


if __name__ == "__main__":
    main()
