"""Whole studies of the real program with `search: {name: optuna}`: the suggestions are those of Optuna itself with the same
seed and the values that the trials reported, and they stay the same when the adapter's process is killed on the way.

    optuna_study.py HYDRO HOME      HOME: the virtual environment of search.py, made if it is not there
"""
import csv
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile

from search import ROOT, enter_environment

TRIALS, STARTUP, SEED = 8, 3, 5   # three random trials, then the sampler's model
LOW, HIGH = 1e-4, 0.5
ADAPTER = b"hydro.optuna_searcher"


def write_idx(file, shape, values):
    """Bytes as an IDX file."""
    file.write_bytes(struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape) + bytes(values))


def write_split(folder, name, count):
    """Images of ten kinds that a small net can tell apart."""
    rng = random.Random(name)
    labels = [i % 10 for i in range(count)]
    pixels = [max(0, min(255, 100 + 80 * ((x * (label + 1)) % 7 < 3) + rng.randrange(-60, 60)))
              for label in labels for x in range(28 * 28)]
    write_idx(folder / f"{name}-images", (count, 28, 28), pixels)
    write_idx(folder / f"{name}-labels", (count,), labels)


def write_job(folder):
    job = {"name": "optuna",
           "model": {"file": str(ROOT / "tests" / "data" / "cnn.pt2")},
           "data": {name: {"format": "idx", "images": f"{name}-images", "labels": f"{name}-labels"}
                    for name in ("train", "val")},
           "train": {"task": "classification", "epochs": 2, "batch_size": 20,
                     "optimizer": {"name": "sgd", "lr": {"loguniform": [LOW, HIGH]}, "momentum": {"uniform": [0, 0.95]}}},
           "tune": {"search": {"name": "optuna", "sampler": "TPESampler", "n_startup_trials": STARTUP},
                    "num_samples": TRIALS, "seed": SEED, "scaling": 2, "coordinate_check": "off",
                    "max_concurrent_trials": 1}}
    (folder / "job.yaml").write_text(json.dumps(job))


def adapters_of(program):
    """Process ids of the program's children that run the adapter."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == program and ADAPTER in (stat.parent / "cmdline").read_bytes():
                found.append(int(stat.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            pass   # it ended meanwhile
    return found


def tune(program, folder, environment, out, kill_at=None):
    """Events by type. `kill_at`: so many trials were suggested when the adapter is killed."""
    process = subprocess.Popen([program, "tune", "job.yaml", "-o", out, "--progress", "json"], cwd=folder,
                               env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    events, suggested = [], 0
    for line in process.stdout:
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        events.append(event.get("type"))
        suggested += event.get("type") == "trial_suggested"
        if kill_at is not None and suggested == kill_at:
            victims = adapters_of(process.pid)
            assert len(victims) == 1, f"{len(victims)} adapters run"
            os.kill(victims[0], signal.SIGKILL)
            kill_at = None
    errors = process.stderr.read()
    assert process.wait() == 0, errors
    with open(folder / out / "trials.csv", newline="") as file:
        return events, list(csv.DictReader(file))


def configurations(trials):
    return [(row["lr"], row["momentum"]) for row in trials]


def check_against_optuna(trials):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize",
                                sampler=optuna.samplers.TPESampler(seed=SEED, n_startup_trials=STARTUP))
    for row in trials:
        trial = study.ask()
        mine = {"lr": trial.suggest_float("train.optimizer.lr", LOW, HIGH, log=True),
                "momentum": trial.suggest_float("train.optimizer.momentum", 0, 0.95)}
        for name, value in mine.items():
            assert abs(value - float(row[name])) <= 1e-9 * abs(value), f"trial {row['id']}: {name} {row[name]}, not {value}"
        if row["state"] == "failed":
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, float(row["value"]))


def main(program, home):
    enter_environment(pathlib.Path(home))
    with tempfile.TemporaryDirectory(prefix="hydro-oracle-") as temporary:
        folder = pathlib.Path(temporary)
        installation = folder / "installation"   # our packages, and an interpreter that has Optuna
        installation.mkdir()
        (installation / "python").symlink_to(ROOT / "python")
        (installation / ".venv").symlink_to(pathlib.Path(home).resolve())
        environment = {**os.environ, "HYDRO_HOME": str(installation)}
        write_split(folder, "train", 200)
        write_split(folder, "val", 100)
        write_job(folder)
        program = str(pathlib.Path(program).resolve())
        events, whole = tune(program, folder, environment, "whole")
        assert events.count("suggestion_asked") == TRIALS and "searcher_failed" not in events
        assert len({row["lr"] for row in whole}) == TRIALS
        check_against_optuna(whole)
        print(f"{TRIALS} suggestions equal Optuna's own")
        for kill_at in (2, 5):   # while it draws at random, and while its model decides
            events, killed = tune(program, folder, environment, f"killed-{kill_at}", kill_at)
            assert events.count("searcher_failed") == 1, events
            assert configurations(killed) == configurations(whole), (killed, whole)
            print(f"killed after {kill_at} suggestions: one restart, the same {TRIALS} suggestions")


if __name__ == "__main__":
    main(*sys.argv[1:])
