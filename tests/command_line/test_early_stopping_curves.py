"""Early stopping at work on a ResNet-18: who is stopped changes nothing of the others, and who waits goes on as if
nothing had happened. One study without a scheduler is what all others must repeat, bit for bit."""

import functools
import json
import sqlite3
import tempfile
import unittest
from pathlib import Path

import numpy
from workplace import MEAN, STD, Case, fashion_split, hydro, rows, shared, small_job

TRIALS, EVALUATIONS, EVERY, ETA = 20, 9, 5, 3
RUNGS = [1, 3, 9]


def job(scheduler):
    return {
        "name": "curves",
        "model": {"file": str(shared().archive("resnet18"))},
        "data": {
            "train": fashion_split("train", 2000),
            "val": fashion_split("t10k", 200),
            "transform": ["rgb", {"normalize": {"mean": MEAN, "std": STD}}],
        },
        "train": {
            "task": "classification",
            "steps": EVALUATIONS * EVERY,
            "evaluate": {"every": f"{EVERY} steps"},
            "batch_size": 64,
            "optimizer": {"name": "sgd", "lr": {"loguniform": [0.001, 0.2]}, "momentum": {"uniform": [0.5, 0.95]}},
            "schedule": {"name": "step", "step_size": "40%", "gamma": {"uniform": [0.1, 0.9]}},
        },
        "tune": {
            "metric": "val_loss",  # no two trials have the same, so that no rule meets a tie
            "num_samples": TRIALS,
            "scaling": 8,
            "coordinate_check": "off",
            "target": {"retry": "off"},
            "scheduler": scheduler,
            "pause_memory": "3 MB",  # two states; what waits beside them waits on disk
        },
        "resources": {"cores": 2},
    }


class Study:
    """One finished study's curves and events."""

    def __init__(self, folder, scheduler):
        path = folder / scheduler["name"].replace(" ", "-")
        path = path.with_name(path.name + scheduler.get("type", ""))
        text = json.dumps(job(scheduler))
        (folder / "job.yaml").write_text(text, encoding="utf-8")
        done = hydro("tune", "job.yaml", "-o", path, folder=folder)
        if done.code != 0:
            raise AssertionError(str(done))
        self.path = path
        self.curves = {
            (row["trial"], row["step"], row["metric"]): row["value"]
            for row in rows(path / "metrics.csv")
            if row["kind"] == "surrogate"
        }
        self.trials = {int(row["id"]): row for row in rows(path / "trials.csv")}

    def events(self, *kinds):
        """(type, body) of these events, in order."""
        with sqlite3.connect(f"file:{self.path / 'study.db'}?mode=ro", uri=True) as database:
            found = database.execute("select type, body from event order by seq").fetchall()
        return [(kind, json.loads(body)["body"]) for kind, body in found if kind in kinds]

    def evaluations(self):
        """How many evaluations each trial was trained for."""
        steps = {int(trial): 0 for trial in self.trials}
        for trial, step, _ in self.curves:
            steps[int(trial)] = max(steps[int(trial)], int(step))
        return {trial: step // EVERY for trial, step in steps.items()}


@functools.lru_cache(maxsize=None)
def workplace():
    return tempfile.TemporaryDirectory(prefix="hydro-curves-")


@functools.lru_cache(maxsize=None)
def study(name, kind=None):
    scheduler = {"name": name} | ({"type": kind, "grace_period": 1, "reduction_factor": ETA} if kind else {})
    return Study(Path(workplace().name), scheduler)


def stops_by_hand(reports):
    """Ray's rule over (trial, evaluation, -loss) in order: who stops where."""
    rungs, stopped = {level: [] for level in RUNGS}, {}
    for trial, t, value in reports:
        if t not in rungs:
            continue
        earlier = rungs[t]
        if t < EVALUATIONS and earlier and value < numpy.percentile(earlier, 100 * (1 - 1 / ETA)):
            stopped[trial] = t
        earlier.append(value)
    return stopped


def promotable(rungs, promoted):
    """The paper's rule: from the top rung down, the best of the first n / eta that did not go on yet."""
    for level in reversed(RUNGS[:-1]):
        best = sorted(rungs[level], reverse=True)[: len(rungs[level]) // ETA]
        waiting = [trial for _, trial in best if trial not in promoted[level]]
        if waiting:
            return level, waiting[0]
    return None


class Curves(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        workplace().cleanup()

    def reports(self, of):
        return [self.report(body) for _, body in of.events("reported") if not self.is_target(of, body["command"])]

    def report(self, body):
        report = body["report"]
        return report["trial"], report["step"] // EVERY, -report["metrics"]["val_loss"]

    def is_target(self, of, command):
        targets = {body["container"] for _, body in of.events("target_started")}
        issued = {body["id"]: body["order"]["container"] for _, body in of.events("command_issued")}
        return issued[command] in targets

    def assert_repeats(self, of):
        whole = study("fifo").curves
        self.assertEqual(set(of.curves.items()) - set(whole.items()), set())
        for trial, evaluations in of.evaluations().items():
            told = {int(step) for own, step, _ in of.curves if int(own) == trial}
            self.assertEqual(told, {EVERY * (k + 1) for k in range(evaluations)}, f"trial {trial}")

    def test_without_a_scheduler_all_run_to_the_end(self):
        self.assertEqual(set(study("fifo").evaluations().values()), {EVALUATIONS})

    def test_stopping_changes_nothing_of_any_curve(self):
        of = study("asha", "stopping")
        self.assert_repeats(of)
        self.assertIn(EVALUATIONS, of.evaluations().values())

    def test_stopping_decides_as_the_rule_by_hand(self):
        of = study("asha", "stopping")
        stopped = stops_by_hand(self.reports(of))
        self.assertGreater(len(stopped), TRIALS // 3)
        self.assertEqual(of.evaluations(), {trial: stopped.get(trial, EVALUATIONS) for trial in range(TRIALS)})
        states = {trial: "stopped" if trial in stopped else "finished" for trial in range(TRIALS)}
        self.assertEqual({trial: row["state"] for trial, row in of.trials.items()}, states)

    def test_promotion_changes_nothing_of_any_curve(self):
        of = study("asha", "promotion")
        self.assert_repeats(of)
        self.assertIn(EVALUATIONS, of.evaluations().values())
        self.assertLess(sum(of.evaluations().values()), TRIALS * EVALUATIONS / 2)
        self.assertFalse((of.path / "paused").exists())

    def test_promotion_decides_as_the_rule_by_hand(self):
        of = study("asha", "promotion")
        rungs, promoted = ({level: [] for level in RUNGS}, {level: set() for level in RUNGS})
        for kind, body in of.events("reported", "trial_promoted"):
            if kind == "trial_promoted":
                level, trial = promotable(rungs, promoted)
                self.assertEqual(body["trial"], trial)
                promoted[level].add(trial)
            elif not self.is_target(of, body["command"]):
                trial, t, value = self.report(body)
                if t in rungs:
                    rungs[t].append((value, trial))
        self.assertIsNone(promotable(rungs, promoted))
        ends = {trial: RUNGS[0] for trial in range(TRIALS)}
        for level, above in zip(RUNGS, RUNGS[1:]):
            ends |= {trial: above for trial in promoted[level]}
        self.assertEqual(of.evaluations(), ends)

    def test_a_promoted_trial_can_be_run_again(self):
        of = study("asha", "promotion")
        best = max(of.evaluations(), key=of.evaluations().get)
        done = hydro("replay", of.path, best, folder=of.path.parent)
        self.assertEqual(done.code, 0, done)
        self.assertIn("agree bit for bit", done.out)


class Stacked(Case):
    """Ten trials in two containers, which shrink as trials stop."""

    def curves(self, kind):
        scheduler = {"name": "asha", "type": kind, "grace_period": 1, "reduction_factor": ETA}
        # Small rates: at large ones training multiplies the rounding of a stack by thousands.
        optimizer = {"name": "sgd", "lr": {"loguniform": [0.001, 0.02]}}
        train = {"epochs": EVALUATIONS, "optimizer": optimizer}
        tune = {"num_samples": 10, "fusion": 5, "scheduler": scheduler, "metric": "val_loss", "pause_memory": "0 MB"}
        folder = self.tuned(small_job("cnn", train=train, tune=tune))
        epochs = {row["id"]: float(row["epochs"]) for row in rows(folder / "trials.csv")}
        self.assertEqual(set(epochs.values()), set(RUNGS))
        return folder, epochs

    def assert_survivors_repeat(self, kind):
        folder, epochs = self.curves(kind)
        for trial in (id for id, reached in epochs.items() if reached == EVALUATIONS):
            done = self.hydro("replay", folder, trial)
            self.assertEqual(done.code, 0, done)
            self.assertIn("since it shared a container", done.out)

    def test_survivors_of_shrinking_containers_are_what_they_are_alone(self):
        self.assert_survivors_repeat("stopping")

    def test_promoted_trials_of_containers_are_what_they_are_alone(self):
        self.assert_survivors_repeat("promotion")
