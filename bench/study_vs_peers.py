"""What a search costs besides training, as rates in one run: our study (searcher, scheduler, apply, decide), and beside it
Ray Tune and Optuna with objectives that cost nothing.

    study_vs_peers.py STUDY_BENCH VENV [RUNS]      RUNS: of each of ours, the fastest counts; 5

VENV is made on the first run from tools/requirements-ray.txt and tools/requirements-searchers.txt. All run on one core but
for Ray, whose trials are processes of their own. Prints a table for docs/scheduling.md.
"""
import os
import pathlib
import re
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
REQUIREMENTS = [ROOT / "tools" / f"requirements-{name}.txt" for name in ("ray", "searchers")]
SCENARIOS = ("fifo", "rising", "asha", "promotion", "median")
FEW, MANY = 5_000, 50_000
REPORTS = 10
RAY_TRIALS, OPTUNA_TRIALS = 300, 5_000
MOST_BYTES, MOST_GROWTH, LEAST_RATE = 1024, 1.2, 2_000


def enter(folder):
    """Runs this script again with the interpreter of its own venv."""
    python = pathlib.Path(folder).resolve() / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() == python.parent.parent:
        return
    if not (python.parent / "ray").exists():
        venv.create(folder, with_pip=True, clear=True)
        wanted = [word for file in REQUIREMENTS for word in ("-r", file)]
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
    os.execv(python, [str(python), *sys.argv])


def ours(program, scenario, trials):
    """Trials a second, microseconds an event, bytes a trial."""
    cores = sorted(os.sched_getaffinity(0))
    line = subprocess.run([program, scenario, str(trials)], check=True, capture_output=True, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores[-1:])).stdout
    return [float(re.search(rf"([\d.]+) {unit}", line).group(1)) for unit in ("trials/s", "us/event", "bytes/trial")]


def print_ours(program, runs):
    print(f"| scenario | {FEW} trials | | | {MANY} trials | | | cost of an event |")
    print("|---|---|---|---|---|---|---|---|")
    good = True
    for scenario in SCENARIOS:
        measured = {FEW: [], MANY: []}
        for _ in range(runs):   # in turns, so that a slow moment of the machine meets both
            for trials, rows in measured.items():
                rows.append(ours(program, scenario, trials))
        cells, costs = [], []
        for trials, rows in measured.items():
            rate, cost, size = max(row[0] for row in rows), min(row[1] for row in rows), min(row[2] for row in rows)
            cells.append(f"{rate:.0f} trials/s | {cost:.2f} us | {size:.0f} bytes/trial")
            costs.append(cost)
            good = good and rate >= LEAST_RATE and (trials == FEW or size < MOST_BYTES)
        growth = costs[1] / costs[0]
        good = good and growth <= MOST_GROWTH
        print(f"| `{scenario}` | {cells[0]} | {cells[1]} | x {growth:.2f} |", flush=True)
    return good


def rate_of_ray():
    os.environ["RAY_AIR_NEW_OUTPUT"] = "0"
    os.environ["TUNE_DISABLE_AUTO_CALLBACK_LOGGERS"] = "1"
    import ray
    from ray import tune

    def objective(config):
        for step in range(REPORTS):
            tune.report({"val_accuracy": config["lr"] + step})

    ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    tuner = tune.Tuner(objective, param_space={"lr": tune.loguniform(1e-4, 1.0)},
                       tune_config=tune.TuneConfig(num_samples=RAY_TRIALS, metric="val_accuracy", mode="max",
                                                   reuse_actors=True),
                       run_config=tune.RunConfig(verbose=0))
    begin = time.monotonic()
    results = tuner.fit()
    seconds = time.monotonic() - begin
    assert len(results) == RAY_TRIALS and not results.errors
    ray.shutdown()
    return f"Ray Tune {ray.__version__}, random search", RAY_TRIALS, seconds


def rate_of_optuna(sampler):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial):
        lr = trial.suggest_float("lr", 1e-4, 1.0, log=True)
        for step in range(REPORTS):
            trial.report(lr + step, step)
        return lr

    study = optuna.create_study(direction="maximize", sampler=getattr(optuna.samplers, sampler)(seed=1))
    begin = time.monotonic()
    study.optimize(objective, n_trials=OPTUNA_TRIALS)
    seconds = time.monotonic() - begin
    return f"Optuna {optuna.__version__}, {sampler}", OPTUNA_TRIALS, seconds


def main(program, folder, runs="5"):
    enter(folder)
    good = print_ours(program, int(runs))
    print("\n| beside it, no training either | trials | reports a trial | trials/s |\n|---|---|---|---|")
    for name, trials, seconds in (rate_of_ray(), rate_of_optuna("RandomSampler"), rate_of_optuna("TPESampler")):
        print(f"| {name} | {trials} | {REPORTS} | {trials / seconds:.0f} |", flush=True)
    if not good:
        sys.exit(f"over a limit: {LEAST_RATE} trials/s, {MOST_BYTES} bytes an ended trial at {MANY} trials, "
                 f"x {MOST_GROWTH} an event")


if __name__ == "__main__":
    main(*sys.argv[1:])
