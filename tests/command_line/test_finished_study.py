"""What one finished study leaves; the study is run once and only read here."""

import csv
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import torch
from safetensors.torch import load_file

import workplace
from user_models import Cnn
from workplace import MEAN, STD, fashion, fashion_split, hydro, merged, rows, shared, small_job

PHASES = ["prepare", "profile", "surrogates", "defuse", "target", "overlap", "idle"]
METRICS = {"train_loss", "val_loss", "val_accuracy", "val_top5"}


def evaluate(model, weights, split, count, channels=1):
    """Shares of right answers, first and among five, and mean loss, by torch alone."""
    model.load_state_dict(load_file(weights), strict=True)
    model.eval()
    images, labels = fashion(split, count)
    x = (torch.from_numpy(images.copy()).float() / 255 - MEAN) / STD
    y = torch.from_numpy(labels)
    with torch.no_grad():
        scores = torch.cat([model(part.expand(-1, channels, -1, -1)) for part in x.split(100)])
    five = (scores.topk(5).indices == y[:, None]).any(1).float().mean().item()
    return (scores.argmax(1) == y).sum().item(), five, torch.nn.functional.cross_entropy(scores, y).item()


class FinishedStudy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="hydro-test-")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name)
        job = merged(
            small_job(archive=None),
            {
                "data": {
                    "train": fashion_split("train", 500),
                    "val": fashion_split("t10k", 500),
                    "test": fashion_split("t10k", 300),
                },
                "train": {"epochs": 2, "batch_size": {"choice": [16, 32]}},
                "tune": {"num_samples": 4, "coordinate_check": "warn"},
            },
        )
        job["name"] = "cnn"
        job["model"] = {"export": "./model.py:Cnn", "kwargs": {"width": 16}, "input": "float32[*, 1, 28, 28]"}
        (cls.folder / "job.yaml").write_text(json.dumps(job))
        (cls.folder / "model.py").write_text((shared().path / "model.py").read_text())
        cls.tuned = hydro("tune", "job.yaml", folder=cls.folder)
        if cls.tuned.code != 0:
            raise AssertionError(cls.tuned)
        cls.study = cls.folder / "runs" / "cnn"
        cls.result = json.loads((cls.study / "result.json").read_text())
        cls.trials = rows(cls.study / "trials.csv")
        cls.metrics = rows(cls.study / "metrics.csv")

    def show(self, *options, folder=None):
        done = hydro("show", folder or self.study, *options, folder=self.folder)
        self.assertEqual(done.code, 0, done)
        return done.out

    def test_the_run_folder_holds_what_the_interface_names(self):
        files = {str(path.relative_to(self.study)) for path in self.study.rglob("*") if path.is_file()}
        wanted = {"result.json", "best/config.yaml", "best/model.safetensors", "trials.csv", "metrics.csv"}
        self.assertLessEqual(wanted | {"job.yaml", "model.pt2", "study.db", "log.txt"}, files)
        self.assertEqual([name for name in files if ".tmp" in name or name.endswith(("-wal", "-shm"))], [])

    def test_latest_points_to_the_newest_run(self):
        latest = self.folder / "runs" / "latest"
        self.assertTrue(latest.is_symlink())
        self.assertEqual(latest.resolve(), self.study.resolve())

    def test_trials_csv_has_a_row_a_trial_and_the_agreed_columns(self):
        self.assertEqual(
            list(self.trials[0]), ["id", "state", "reason", "batch_size", "lr", "value", "epochs", "seconds"]
        )
        self.assertEqual([row["id"] for row in self.trials], ["0", "1", "2", "3"])
        for row in self.trials:
            self.assertEqual((row["state"], row["reason"], float(row["epochs"])), ("finished", "", 2.0))
            self.assertIn(row["batch_size"], ("16", "32"))
            self.assertTrue(0.01 <= float(row["lr"]) <= 0.5, row)

    def test_metrics_csv_has_every_metric_of_every_epoch(self):
        self.assertEqual(list(self.metrics[0]), ["trial", "kind", "step", "epoch", "metric", "value"])
        surrogate = {(row["trial"], row["epoch"], row["metric"]) for row in self.metrics if row["kind"] == "surrogate"}
        self.assertEqual(surrogate, {(str(t), e, m) for t in range(4) for e in "12" for m in METRICS})
        target = {(row["trial"], row["epoch"], row["metric"]) for row in self.metrics if row["kind"] == "target"}
        best = str(self.result["target"]["trial"])
        self.assertLessEqual({(best, e, m) for e in "12" for m in METRICS}, target)

    def test_a_trials_value_is_its_last_report(self):
        for trial in self.trials:
            last = [
                row["value"]
                for row in self.metrics
                if (row["trial"], row["kind"], row["metric"]) == (trial["id"], "surrogate", "val_accuracy")
            ][-1]
            self.assertEqual(float(trial["value"]), float(last))

    def test_result_json_has_the_agreed_fields(self):
        result = self.result
        self.assertEqual(
            (result["format"], result["study"], result["state"], result["metric"], result["mode"]),
            (1, "cnn", "finished", "val_accuracy", "max"),
        )
        self.assertEqual(set(result["best_trial"]), {"id", "config", "value", "scaling"})
        self.assertEqual(set(result["best_trial"]["config"]), {"batch_size", "lr"})
        self.assertEqual(set(result["target"]), {"trial", "value", "epochs", "weights", "test"})
        self.assertEqual(result["target"]["weights"], "best/model.safetensors")
        self.assertLessEqual(
            {"total": 4, "finished": 4, "stopped": 0, "failed": 0}.items(), result["trials"].items()
        )

    def test_the_best_trial_has_the_best_value_and_became_the_target(self):
        best = max(self.trials, key=lambda row: (float(row["value"]), -int(row["id"])))
        self.assertEqual(self.result["best_trial"]["id"], int(best["id"]))
        self.assertEqual(self.result["best_trial"]["value"], float(best["value"]))
        self.assertEqual(self.result["best_trial"]["config"]["lr"], float(best["lr"]))
        self.assertEqual(self.result["target"]["trial"], int(best["id"]))
        self.assertEqual([row["trial"] for row in self.result["targets"]], [int(best["id"])])

    def test_the_makespan_is_the_sum_of_its_phases(self):
        phases = self.result["phases_s"]
        self.assertEqual(list(phases), PHASES)
        names = ("prepare", "profile", "surrogates", "defuse", "target", "idle")
        self.assertAlmostEqual(self.result["makespan_s"], sum(phases[n] for n in names) - phases["overlap"], delta=0.01)
        self.assertTrue(all(seconds >= 0 for seconds in phases.values()), phases)
        self.assertGreater(phases["prepare"], phases["idle"])  # the export counts

    def test_the_delivered_weights_give_the_reported_value_in_torch_alone(self):
        right, five, loss = evaluate(Cnn(16), self.study / "best" / "model.safetensors", "t10k", 500)
        self.assertLessEqual(abs(right - 500 * self.result["target"]["value"]), 1)
        last = {row["metric"]: float(row["value"]) for row in self.metrics if row["kind"] == "target"}
        self.assertAlmostEqual(last["val_top5"], five, delta=1.01 / 500)
        self.assertAlmostEqual(last["val_loss"], loss, delta=1e-3 * loss)

    def test_the_test_split_is_reported_for_the_target_only(self):
        right, _, _ = evaluate(Cnn(16), self.study / "best" / "model.safetensors", "t10k", 300)
        self.assertLessEqual(abs(right - 300 * self.result["target"]["test"]), 1)
        self.assertEqual([r for r in self.metrics if r["kind"] == "surrogate" and r["metric"].startswith("test_")], [])

    def test_the_best_configuration_is_a_job_with_nothing_to_choose(self):
        data = json.dumps({"data": json.loads((self.folder / "job.yaml").read_text())["data"]})
        text = (self.study / "best" / "config.yaml").read_text()
        self.assertNotRegex(text, r"choice|uniform")
        for key, value in self.result["best_trial"]["config"].items():
            self.assertIn(f"{key}: {value}", text)
        (self.study / "again.yaml").write_text(text + "data: " + json.dumps(json.loads(data)["data"]) + "\n")
        self.addCleanup((self.study / "again.yaml").unlink)
        done = hydro("check", self.study / "again.yaml", "--format", "json", folder=self.folder)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(json.loads(done.out)["space"], [])

    def test_the_resolved_job_runs_again_from_elsewhere(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            text = (self.study / "job.yaml").read_text()
            (Path(elsewhere) / "job.yaml").write_text(text)
            done = hydro("check", "job.yaml", "--set", "tune.num_samples=1", "--format", "json", folder=elsewhere)
            self.assertEqual(done.code, 0, done)
            self.assertNotRegex(text, r"\./model\.py")

    def test_an_output_folder_with_a_study_is_refused_and_left_alone(self):
        before = {path: path.stat().st_mtime_ns for path in self.study.rglob("*") if path.is_file()}
        done = hydro("tune", "job.yaml", "-o", "runs/cnn", folder=self.folder)
        self.assertEqual(done.code, 2, done)
        self.assertIn("error[H0615]", done.err)
        self.assertIn("`runs/cnn` holds a study of this same job: finished", done.err)
        self.assertRegex(done.err, r"(?m)^   do: `hydro show runs/cnn` prints its results; to run again give a new")
        after = {path: path.stat().st_mtime_ns for path in self.study.rglob("*") if path.is_file()}
        self.assertEqual(before, after)

    def test_progress_says_each_thing_once(self):
        for text in (self.tuned.out, self.tuned.err):
            lines = [line for line in text.splitlines() if line.strip()]
            self.assertEqual(len(lines), len(set(lines)), text)
        self.assertEqual(set(self.tuned.out.splitlines()) & set(self.tuned.err.splitlines()), set())

    def test_the_summary_names_best_target_makespan_and_weights(self):
        summary = self.tuned.out[self.tuned.out.index("study      cnn") :]
        best = self.result["best_trial"]
        self.assertRegex(summary, rf"(?m)^best +trial {best['id']}: .*lr {best['config']['lr']:.4g}")
        self.assertRegex(summary, r"(?m)^target +val_accuracy")
        self.assertRegex(summary, r"(?m)^makespan +[0-9.]+ s: prepare .*surrogates .*target")
        self.assertRegex(summary, r"(?m)^weights +runs/cnn/best/model.safetensors$")

    def test_show_prints_the_summary_and_every_trial(self):
        text = self.show()
        self.assertIn("cnn: finished", text)
        for row in self.trials:
            self.assertRegex(text, rf"(?m)^ +{row['id']}  finished .*{float(row['value']):.4g}")

    def test_show_follows_the_link_to_the_latest_run(self):
        self.assertIn("cnn: finished", self.show(folder="runs/latest"))

    def test_show_as_json_is_the_result_file_and_the_trials(self):
        shown = json.loads(self.show("--format", "json"))
        table = shown.pop("trial_table")
        self.assertEqual(shown, self.result)
        self.assertEqual([list(row) for row in table], [list(self.trials[0])] * 4)
        self.assertEqual([row["value"] for row in table], [float(row["value"]) for row in self.trials])

    def test_show_sorts_and_filters_in_every_form(self):
        by_value = sorted(self.trials, key=lambda row: -float(row["value"]))
        best = [row["id"] for row in by_value if float(row["value"]) > float(by_value[-1]["value"])]
        chosen = ("--filter", f"val_accuracy>{by_value[-1]['value']}", "--sort", "-value")
        table = list(csv.DictReader(self.show(*chosen, "--format", "csv").splitlines()))
        self.assertEqual([row["id"] for row in table], best)
        told = json.loads(self.show(*chosen, "--format", "json"))["trial_table"]
        self.assertEqual([str(row["id"]) for row in told], best)
        text = re.findall(r"(?m)^ +(\d+)  finished ", self.show(*chosen))
        self.assertEqual(text, best)
        both = self.show("--filter", "id>0", "--filter", "id<3", "--sort", "id", "--reverse", "--format", "csv")
        self.assertEqual([row["id"] for row in csv.DictReader(both.splitlines())], ["2", "1"])

    def test_show_refuses_a_misspelt_column_and_suggests_one(self):
        for option in (("--sort", "vale"), ("--filter", "vale>0.5")):
            done = hydro("show", self.study, *option, folder=self.folder)
            self.assertEqual((done.code, done.out), (2, ""), done)
            self.assertIn("no column `vale`", done.err)
            self.assertIn("did you mean `value`?", done.err)

    def test_show_as_csv_is_the_trials_file(self):
        self.assertEqual(self.show("--format", "csv"), (self.study / "trials.csv").read_text())

    def test_show_names_the_files_that_are_lost(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            copy = Path(elsewhere) / "run"
            shutil.copytree(self.study, copy)
            (copy / "job.yaml").unlink()
            (copy / "best" / "model.safetensors").unlink()
            lost = ["job.yaml", "best/model.safetensors"]
            self.assertIn(f"\nlost       {', '.join(lost)}: ", self.show(folder=copy))
            self.assertEqual(json.loads(self.show("--format", "json", folder=copy))["lost"], lost)

    def test_show_changes_no_file(self):
        before = {path.name: path.read_bytes() for path in self.study.iterdir() if path.is_file()}
        self.show()
        self.assertEqual({path.name: path.read_bytes() for path in self.study.iterdir() if path.is_file()}, before)

    def test_the_log_holds_every_event(self):
        log = (self.study / "log.txt").read_text()
        for kind in workplace.events(self.study):
            self.assertIn(f'"type":"{kind}"', log)


if __name__ == "__main__":
    unittest.main()
