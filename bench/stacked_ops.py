#!/usr/bin/env python3
"""Which ops of a model run through vmap, and what they cost: a table for docs/models.md.

    bench/stacked_ops.py [--only GPT-2 vit_b_16] [-o docs/models.md]

For each model of bench/models.py: its training graph at S = 4, forward and backward for three trials at once (batch 8, one
thread), by build/release/bench/stacked_bench (cmake --preset release -D HYDRO_BENCH=ON). The table replaces the one in the
file's section "Ops without a stacked form". About 10 minutes, most of it for exporting.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from models import MODELS, ROOT, export

BENCH = ROOT / "build/release/bench/stacked_bench"
TITLE = "## Ops without a stacked form\n"
HEAD = f"""{TITLE}
Made by `bench/stacked_ops.py`. Most ops have a form of their own for several trials in one container (`fusion: N`); any
other goes through libtorch's vmap, or one trial after the other where vmap cannot do it. The table has those, with how
often each stands in the graph and its share of the time of a step's forward and backward pass: three trials, S = 4, batch
8, one thread. A trial alone in its container, as on CPUs, needs none of this.

| model | both passes, ms | by vmap, all together | op by op |
|---|---|---|---|
"""


def percent(share):
    return f"{100 * float(share):.1f} %"


def row(name, model):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        _, _, error = export(model, folder)
        if error:
            return f"| {name} | refused: {error.splitlines()[0]} | | |"
        done = subprocess.run([BENCH, folder / "model.pt2", "4"], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"| {name} | failed: {(done.stdout or done.stderr).splitlines()[-1]} | | |"
    *ops, (_, milliseconds, _, share) = [line.split("\t") for line in done.stdout.splitlines()]
    ops.sort(key=lambda op: -float(op[3]))
    words = [f"`{op}`{f' x {nodes}' if nodes != '1' else ''}{', one by one' if how != 'vmap' else ''} {percent(part)}"
             for op, how, nodes, part in ops]
    return f"| {name} | {float(milliseconds):.1f} | {percent(share) if ops else ''} | {'; '.join(words)} |"


def with_table(text, table):
    """`text` with the section's old table replaced, or the section at the end."""
    before, title, rest = text.partition(TITLE)
    after = re.split(r"\n(?=## )", rest, maxsplit=1)[1:]
    return (before if title else text + "\n") + table + "".join("\n" + part for part in after)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="MODEL", choices=MODELS, default=list(MODELS))
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "docs/models.md")
    options = parser.parse_args()
    if not BENCH.exists():
        sys.exit(f"{BENCH} is not there: see the head of this file")
    rows = []
    for name in options.only:
        rows.append(row(name, MODELS[name]))
        print(rows[-1], file=sys.stderr, flush=True)
    options.output.write_text(with_table(options.output.read_text(), HEAD + "\n".join(rows) + "\n"))


if __name__ == "__main__":
    main()
