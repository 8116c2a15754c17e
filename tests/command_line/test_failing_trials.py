"""Trials and targets that diverge: alone, reported, never best."""

import json

from safetensors.numpy import load_file

from workplace import Case, rows, small_job

HUGE = 1e40  # a learning rate after which no weight is finite


def job_with(rates, **sections):
    """A grid over learning rates, so that trial k has rates[k]."""
    train = {"optimizer": {"name": "sgd", "lr": {"choice": rates}}} | sections.pop("train", {})
    tune = {"search": "grid", "num_samples": None} | sections.pop("tune", {})
    return small_job(train=train, tune=tune, **sections)


def by_rate(folder):
    return {float(row["lr"]): row for row in rows(folder / "trials.csv")}


class FailingTrials(Case):
    def assert_only_the_huge_one_failed(self, folder, alone):
        trials = by_rate(folder)
        self.assertEqual(trials[HUGE]["state"], "failed")
        self.assertIn("not finite", trials[HUGE]["reason"])
        for rate, row in by_rate(alone).items():
            self.assertEqual((row["state"], trials[rate]["state"]), ("finished", "finished"))
            self.assertAlmostEqual(float(row["value"]), float(trials[rate]["value"]), delta=0.02)
        result = self.result(folder)
        self.assertEqual((result["state"], result["trials"]["failed"]), ("finished", 1))
        self.assertNotEqual(result["best_trial"]["config"]["lr"], HUGE)

    def test_a_diverging_trial_fails_alone(self):
        alone = self.tuned(job_with([0.05, 0.1]), folder="alone")
        with_huge = self.tuned(job_with([0.05, 0.1, HUGE]), folder="with")
        self.assert_only_the_huge_one_failed(with_huge, alone)
        same = [by_rate(folder)[0.05]["value"] for folder in (alone, with_huge)]
        self.assertEqual(same[0], same[1])
        best = "best/model.safetensors"
        self.assertEqual((alone / best).read_bytes(), (with_huge / best).read_bytes())

    def test_a_diverging_trial_fails_alone_in_a_stacked_container(self):
        alone = self.tuned(job_with([0.05, 0.1], tune={"fusion": 2}), folder="alone")
        with_huge = self.tuned(job_with([0.05, 0.1, HUGE], tune={"fusion": 3}), folder="with")
        self.assert_only_the_huge_one_failed(with_huge, alone)

    def test_the_summary_counts_failures_and_names_their_cause(self):
        done, folder = self.tune(job_with([0.05, HUGE]))
        self.assertEqual(done.code, 0, done)
        self.assertIn("1 failed", done.out)
        self.assertIn("not finite", done.out)
        shown = self.hydro("show", folder)
        self.assertIn("not finite", shown.out)

    def test_when_every_trial_diverges_the_exit_code_is_4_and_nothing_is_delivered(self):
        done, folder = self.tune(job_with([HUGE, 2 * HUGE]))
        self.assert_refused(done, "H0640", "not finite", "learning rate", code=4)
        self.assertFalse((folder / "best").exists())
        result = self.result(folder)
        self.assertEqual(result["state"], "failed")
        self.assertEqual((result["best_trial"], result["target"], result["targets"]), (None, None, []))
        self.assertEqual([row["state"] for row in rows(folder / "trials.csv")], ["failed", "failed"])
        self.assertEqual(self.hydro("show", folder).code, 0)

    def test_a_trial_that_diverges_in_its_last_step_is_never_best(self):
        job = job_with([HUGE], train={"epochs": None, "steps": 1})
        done, folder = self.tune(job)
        self.assertEqual(done.code, 4, done)
        self.assertEqual([row["state"] for row in rows(folder / "trials.csv")], ["failed"])

    def test_delivered_weights_are_finite(self):
        folder = self.tuned(job_with([0.05, HUGE], train={"epochs": None, "steps": 1}))
        weights = load_file(folder / "best" / "model.safetensors")
        for name, tensor in weights.items():
            self.assertTrue(bool((abs(tensor) < float("inf")).all()), name)

    def test_no_number_in_the_results_is_spelt_nan(self):
        done, folder = self.tune(job_with([HUGE, 2 * HUGE]))
        text = (folder / "result.json").read_text()
        json.loads(text, parse_constant=self.fail)
        self.assertNotRegex((folder / "trials.csv").read_text().lower(), r"\bnan\b|\binf\b")
        self.assertEqual(done.code, 4)


class FailingTargets(Case):
    """`standard` keeps the surrogate's rate at full width: some rate is fine when narrow and too much when wide."""

    RATES = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]

    def test_a_diverging_target_gives_way_to_the_next_best(self):
        job = job_with(
            self.RATES,
            train={"batch_size": 16, "optimizer": {"name": "sgd", "lr": {"choice": self.RATES}, "momentum": 0.9}},
            tune={"parametrization": "standard", "scaling": 16, "metric": "train_loss", "mode": "max"},
        )
        done, folder = self.tune(job)
        result = self.result(folder)
        states = [target["state"] for target in result["targets"]]
        self.assertLessEqual(len(states), 4)
        self.assertEqual(states[:-1], ["failed"] * (len(states) - 1))
        self.assertTrue(states and states[0] == "failed", "no target diverged: the rates no longer provoke it")
        self.assertEqual(done.code, 0 if states[-1] == "finished" else 4, done)
        self.assertEqual((folder / "best" / "model.safetensors").exists(), states[-1] == "finished")
        self.assertEqual((folder / "best").exists(), states[-1] == "finished")


