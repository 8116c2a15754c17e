#!/usr/bin/env python3
"""The quickstart job for several seeds against the same work by hand in plain PyTorch, in one run.

    bench/quickstart_vs_pytorch.py [--seeds 1 2 3]

For each seed: `hydro tune examples/quickstart.yaml --set tune.seed=N` from process start to weights on disk, then
bench/by_hand.py on the very same 20 configurations and the same targets. Prints val_accuracy of the delivered models,
both makespans and their ratio; the medians last.
"""
import argparse
import csv
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"


def hydro(seed, folder):
    start = time.time()
    subprocess.run([ROOT / "build/release/hydro", "tune", ROOT / "examples/quickstart.yaml", "--set",
                    f"tune.seed={seed}", "--progress", "none", "-o", folder], check=True,
                   stdout=subprocess.DEVNULL)
    seconds = time.time() - start
    return seconds, json.loads((folder / "result.json").read_text())


def by_hand(trials, targets, folder):
    start = time.time()
    done = subprocess.run([ROOT / ".venv/bin/python", ROOT / "bench/by_hand.py", trials, "--targets", *map(str, targets),
                           "--weights", folder / "by_hand.safetensors"], check=True, capture_output=True, text=True,
                          env=dict(os.environ, LD_PRELOAD=TCMALLOC))
    return time.time() - start, json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    args = parser.parse_args()
    rows = []
    print("seed  hydro_val_acc     targets  hydro_s  by_hand_s  ratio  by_hand_val_acc", flush=True)
    for seed in args.seeds:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hydro-bench-"))
        seconds, result = hydro(seed, folder / "study")
        targets = [target["trial"] for target in result["targets"]]
        with open(folder / "study/trials.csv") as f:
            assert len(list(csv.DictReader(f))) == 20
        hand_seconds, hand = by_hand(folder / "study/trials.csv", targets, folder)
        rows.append((result["target"]["value"], seconds, hand_seconds))
        print(f"{seed:4d}  {rows[-1][0]:13.4f}  {str(targets):>10}  {seconds:7.1f}  {hand_seconds:9.1f}  "
              f"{seconds / hand_seconds:5.3f}  {hand['val_accuracy']:.4f}   "
              f"phases {json.dumps(result['phases_s'])}  by hand {hand['surrogates_s']}+{hand['target_s']}", flush=True)
        shutil.rmtree(folder)
    accuracies, ours, theirs = zip(*rows)
    print(f"median val_accuracy {statistics.median(accuracies):.4f}, least {min(accuracies):.4f}; "
          f"median makespan ratio {statistics.median(o / t for o, t in zip(ours, theirs)):.3f}")


if __name__ == "__main__":
    main()
