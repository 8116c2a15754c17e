"""The same job gives the same numbers, whatever runs beside what."""

import re
import shutil

from safetensors.torch import load_file

from workplace import Case, rows, small_job

TRIALS = {"num_samples": 4, "scaling": 4, "coordinate_check": "off"}


def without_seconds(folder):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows(folder / "trials.csv")]


class SameAgain(Case):
    def setUp(self):
        super().setUp()
        self.job = small_job("cnn", tune=TRIALS, resources={"cores": 2})

    def assert_same(self, one, other):
        self.assertEqual(without_seconds(one), without_seconds(other))
        self.assertEqual((one / "metrics.csv").read_text(), (other / "metrics.csv").read_text())
        weights = "best/model.safetensors"
        self.assertEqual((one / weights).read_bytes(), (other / weights).read_bytes())

    def test_the_same_job_twice_gives_the_same_files(self):
        self.assert_same(self.tuned(self.job, folder="one"), self.tuned(self.job, folder="other"))

    def test_one_trial_at_a_time_gives_the_same_files(self):
        one = self.tuned(self.job, folder="one")
        other = self.tuned(self.job, "--set", "tune.max_concurrent_trials=1", folder="other")
        self.assert_same(one, other)

    def test_stacked_trials_give_nearly_the_same_values(self):
        alone = self.tuned(self.job, folder="alone")
        stacked = self.tuned(self.job, "--set", "tune.fusion=3", folder="stacked")
        for one, other in zip(rows(alone / "metrics.csv"), rows(stacked / "metrics.csv"), strict=False):
            if one["kind"] == "surrogate":
                self.assertEqual([one[k] for k in ("trial", "step", "metric")], [other[k] for k in ("trial", "step", "metric")])
                close = 0.02 if "accuracy" in one["metric"] or "top5" in one["metric"] else 0.01 * float(one["value"])
                self.assertAlmostEqual(float(one["value"]), float(other["value"]), delta=close)

    def test_stacked_trials_are_stacked(self):
        done, folder = self.tune(self.job, "--set", "tune.fusion=3", "--progress", "json", folder="stacked")
        self.assertEqual(done.code, 0, done)
        planned = re.findall(r'"trials":(\[[0-9,]+\])', done.out)
        self.assertEqual(sorted(text.count(",") + 1 for text in planned), [2, 2], done.out)  # evenly, not 3 and 1
        self.assertEqual(len(rows(folder / "trials.csv")), 4)

    def test_another_seed_gives_other_trials(self):
        one = self.tuned(self.job, folder="one")
        other = self.tuned(self.job, "--set", "tune.seed=2", folder="other")
        self.assertNotEqual([row["lr"] for row in rows(one / "trials.csv")], [row["lr"] for row in rows(other / "trials.csv")])

    def test_the_resolved_job_gives_the_same_numbers(self):
        one = self.tuned(self.job, folder="one")
        shutil.copy(one / "job.yaml", self.folder / "again.yaml")
        done = self.hydro("tune", "again.yaml", "-o", "again")
        self.assertEqual(done.code, 0, done)
        self.assert_same(one, self.folder / "again")


class FullSizeSearch(Case):
    """S = 1: the best trial's own weights are delivered, without a second training."""

    def test_the_best_trial_itself_is_delivered(self):
        job = small_job("cnn", tune=TRIALS | {"scaling": 1})
        folder = self.tuned(job)
        result = self.result(folder)
        best = max(rows(folder / "trials.csv"), key=lambda row: (float(row["value"]), -int(row["id"])))
        self.assertEqual(result["target"]["trial"], int(best["id"]))
        self.assertEqual(result["target"]["value"], float(best["value"]))
        self.assertEqual({row["kind"] for row in rows(folder / "metrics.csv")}, {"surrogate"})
        self.assertEqual(load_file(folder / "best" / "model.safetensors")["first.weight"].shape, (16, 1, 3, 3))

    def test_stacking_delivers_the_same_trial(self):
        job = small_job("cnn", tune=TRIALS | {"scaling": 1})
        alone = self.tuned(job, folder="alone")
        stacked = self.tuned(job, "--set", "tune.fusion=4", folder="stacked")
        one = load_file(alone / "best" / "model.safetensors")
        other = load_file(stacked / "best" / "model.safetensors")
        self.assertEqual(self.result(alone)["target"]["trial"], self.result(stacked)["target"]["trial"])
        for name, tensor in one.items():
            largest = max(tensor.abs().max().item(), 1e-3)
            self.assertLessEqual((tensor - other[name]).abs().max().item(), 0.02 * largest, name)
