"""Trials that stop early: in a real run, from the job file to the table."""

import json

from workplace import Case, rows, small_job

EPOCHS = 4


def stopping_job(scheduler, **tune):
    return small_job(
        train={"epochs": EPOCHS, "optimizer": {"name": "sgd", "lr": {"loguniform": [0.0001, 0.5]}, "momentum": 0.9}},
        tune={"num_samples": 8, "scheduler": scheduler, **tune},
    )


class EarlyStopping(Case):
    def run_job(self, job, folder="run"):
        done, path = self.tune(job, "--progress", "plain", folder=folder)
        self.assertEqual(done.code, 0, done)
        return done, self.result(path), rows(path / "trials.csv"), rows(path / "metrics.csv")

    def epochs_of(self, trials):
        return {row["id"]: float(row["epochs"]) for row in trials}

    def curves(self, metrics):
        """What each trial reported, as written."""
        out = {}
        for row in metrics:
            if row["kind"] == "surrogate":
                out.setdefault(row["trial"], []).append((row["step"], row["metric"], row["value"]))
        return out

    def test_asha_stops_the_losers_at_a_rung_and_says_why(self):
        done, result, trials, _ = self.run_job(stopping_job({"name": "asha", "reduction_factor": 2}))
        stopped = [row for row in trials if row["state"] == "stopped"]
        self.assertEqual(result["trials"]["stopped"], len(stopped))
        self.assertGreater(len(stopped), 0, done)
        self.assertEqual(result["trials"]["finished"] + len(stopped) + result["trials"]["failed"], 8)
        for row in stopped:
            self.assertRegex(row["reason"], r"^rung [12]: [\d.e-]+ under the cut-off [\d.]+, \d+ values?$")
            self.assertIn(float(row["epochs"]), (1, 2))
            self.assertIn(f"trial {row['id']} stopped: rung", done.out)
            told = self.hydro("explain", self.folder / "run", row["id"])
            self.assertIn(f"stopped: {row['reason']}", told.out, told)
        self.assert_refused(self.hydro("explain", self.folder / "run", 8), "H0902", "no trial 8", "count from 0")
        for row in trials:
            if row["state"] == "finished":
                self.assertEqual(float(row["epochs"]), EPOCHS)

    def test_survivors_train_as_if_nothing_had_been_stopped(self):
        _, _, all_trials, whole = self.run_job(stopping_job("fifo"), folder="whole")
        _, _, trials, stopped = self.run_job(stopping_job({"name": "asha", "reduction_factor": 2}))
        expected = self.curves(whole)
        for trial, curve in self.curves(stopped).items():
            self.assertEqual(curve, expected[trial][: len(curve)], f"trial {trial}")
        self.assertLess(sum(self.epochs_of(trials).values()), sum(self.epochs_of(all_trials).values()))

    def test_promoted_trials_go_on_as_if_they_had_never_waited(self):
        _, _, _, whole = self.run_job(stopping_job("fifo"), folder="whole")
        done, result, trials, promoted = self.run_job(
            stopping_job({"name": "asha", "type": "promotion", "reduction_factor": 2})
        )
        expected = self.curves(whole)
        for trial, curve in self.curves(promoted).items():
            self.assertEqual(curve, expected[trial][: len(curve)], f"trial {trial}")
        self.assertIn(" promoted: rung 1: ", done.out)
        self.assertIn(" promoted: rung 2: ", done.out)
        self.assertGreater(result["trials"]["finished"], 0)
        self.assertEqual({row["state"] for row in trials} - {"finished", "stopped", "failed"}, set())

    def test_a_stacked_container_goes_on_with_its_survivors(self):
        done, result, _, _ = self.run_job(stopping_job({"name": "asha", "reduction_factor": 2}, fusion=4))
        self.assertGreater(result["trials"]["stopped"], 0, done)
        self.assertGreater(result["trials"]["finished"], 0, done)

    def test_the_other_schedulers_run_to_the_end(self):
        synchronous = {"name": "hyperband", "type": "synchronous", "reduction_factor": 2}
        for index, scheduler in enumerate((synchronous, "hyperband", "median")):
            with self.subTest(scheduler=scheduler):
                _, result, _, _ = self.run_job(stopping_job(scheduler), folder=f"run-{index}")
                counts = result["trials"]
                self.assertEqual(counts["finished"] + counts["stopped"] + counts["failed"], 8)

    def test_deterministic_runs_stop_the_same_trials(self):
        tables = []
        for folder in ("first", "second"):
            job = stopping_job({"name": "asha", "reduction_factor": 2}, deterministic=True)
            job["resources"] = {"cores": 2}
            _, _, trials, _ = self.run_job(job, folder=folder)
            tables.append([{key: value for key, value in row.items() if key != "seconds"} for row in trials])
        self.assertEqual(tables[0], tables[1])

    def test_a_stop_rule_ends_a_trial(self):
        _, result, trials, _ = self.run_job(stopping_job("fifo", stop=[{"metric": "val_loss", "above": 0.001}]))
        self.assertEqual(result["trials"]["stopped"], 8)
        for row in trials:
            self.assertRegex(row["reason"], r"^stop rule: val_loss .* above 0.001$")
            self.assertEqual(float(row["epochs"]), 1)

    def test_check_foretells_rungs_and_savings(self):
        self.write_job(stopping_job({"name": "asha", "type": "promotion", "reduction_factor": 2}))
        report = json.loads(self.hydro("check", "job.yaml", "--format", "json").out)
        self.assertEqual(
            report["rungs"],
            [{"at": 1, "expected_trials": 8}, {"at": 2, "expected_trials": 4}, {"at": 4, "expected_trials": 2}],
        )
        self.assertEqual(report["evaluations"], {"expected": 8 + 4 + 2 * 2, "all_to_the_end": 32})
        self.assertIn("50 % saved", self.hydro("check", "job.yaml").out)
