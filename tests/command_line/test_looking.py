"""The verbs that only look: check, doctor, explain; and the forms of progress."""

import json
import re
import shutil
import subprocess

from workplace import BINARY, HERE, Case, hydro, small_job

WIDTH = {"class", "size", "surrogate", "ratio", "pinned_because"}
PARAMETER = {"name", "role", "shape", "surrogate_shape", "r_in", "r_out", "init", "factors", "multiplier"}
LAW = {"rows", "law", "mean", "std", "low", "high", "value"}
ROLES = {"input", "hidden", "output", "vector", "output_bias", "none"}


class Checking(Case):
    def check(self, job, *options, code=0):
        self.write_job(job)
        done = self.hydro("check", "job.yaml", *options)
        self.assertEqual(done.code, code, done)
        return done

    def report(self, job, *options, code=0):
        return json.loads(self.check(job, "--format", "json", *options, code=code).out)

    def test_the_report_has_the_agreed_keys(self):
        report = self.report(small_job("cnn"))
        self.assertLessEqual({"widths", "parameters", "space", "rungs", "groups", "coordinates", "refusals"}, set(report))
        self.assertEqual(report["refusals"], [])
        for width in report["widths"]:
            self.assertLessEqual(WIDTH, set(width))
        for parameter in report["parameters"]:
            self.assertLessEqual(PARAMETER, set(parameter))
            self.assertIn(parameter["role"], ROLES)
            for law in parameter["init"]:
                self.assertLessEqual(LAW, set(law))
            for optimizer in ("sgd", "adam", "adamw"):
                self.assertLessEqual({"lr", "decay", "eps"}, set(parameter["factors"][optimizer]))

    def test_shapes_roles_and_factors_of_a_small_network(self):
        parameters = {row["name"]: row for row in self.report(small_job("cnn"))["parameters"]}
        first, second, head = (parameters[name + ".weight"] for name in ("first", "second", "head"))
        self.assertEqual([row["role"] for row in (first, second, head)], ["input", "hidden", "output"])
        self.assertEqual((first["shape"], first["surrogate_shape"]), ([16, 1, 3, 3], [4, 1, 3, 3]))
        self.assertEqual((second["shape"], second["surrogate_shape"]), ([32, 16, 3, 3], [8, 4, 3, 3]))
        self.assertEqual((head["shape"], head["surrogate_shape"]), ([10, 32], [10, 8]))
        self.assertEqual((second["r_in"], second["r_out"]), (4, 4))
        self.assertEqual([row["factors"]["sgd"]["lr"] for row in (first, second, head)], [1 / 4, 1, 1 / 4])
        self.assertEqual([row["factors"]["adam"]["lr"] for row in (first, second, head)], [1, 4, 1])
        self.assertEqual(head["multiplier"], 4)
        self.assertEqual(parameters["head.bias"]["role"], "output_bias")

    def test_groups_count_every_trial_once(self):
        job = small_job(train={"batch_size": {"choice": [16, 32]}}, tune={"num_samples": 10, "fusion": 3})
        groups = self.report(job)["groups"]
        self.assertEqual(sorted(group["batch_size"] for group in groups), [16, 32])
        self.assertEqual(sum(group["trials"] for group in groups), 10)

    def test_the_space_names_every_hyperparameter(self):
        self.assertEqual([row["name"] for row in self.report(small_job())["space"]], ["lr"])

    def test_the_text_names_widths_roles_and_factors(self):
        text = self.check(small_job("cnn")).out
        for word in ("first.weight", "hidden", "output", "16", "lr"):
            self.assertIn(word, text)

    def test_a_refusal_is_in_the_report_and_in_the_exit_code(self):
        job = small_job(data={"train": {"format": "arrays", "inputs": "nowhere.npy", "target": "nowhere.npy"}})
        report = self.report(job, code=2)
        self.assertEqual([set(row) for row in report["refusals"]], [{"code", "what", "where", "why", "do"}])
        self.assertEqual(report["refusals"][0]["code"], "H0401")
        self.assertIn("H0401", self.check(job, code=2).out)

    def test_a_refusal_stands_alone(self):
        job = small_job(data={"train": {"format": "arrays", "inputs": "nowhere.npy", "target": "nowhere.npy"}})
        text = self.check(job, code=2).out
        self.assertTrue(text.startswith("error[H0401]"), text)
        for part in ("study", "widths", "parameters", "groups", "search space"):
            self.assertNotIn(part, text)

    def test_what_the_job_leaves_out_is_shown_as_it_will_be_used(self):
        job = small_job(train={"optimizer": {"name": "sgd"}})
        del job["tune"]
        text = self.check(job | {"tune": {}}, "--set", "tune.min_width=8").out
        self.assertIn("\nsearch space: empty", text)
        used = text[text.index("\ndefaults used\n") :]
        for setting in ("optimizer.lr 0.001", "scaling 8", "num_samples 1", "metric val_accuracy", "retry worse"):
            self.assertIn(setting, used)
        self.assertNotIn("min_width", used)

    def test_more_samples_than_configurations_warn(self):
        job = small_job(
            train={"batch_size": {"choice": [16, 32]}, "optimizer": {"name": "sgd", "lr": {"choice": [0.1, 0.2, 0.3]}}},
            tune={"num_samples": 20},
        )
        self.assertIn("warning: 20 samples, only 6 different configurations (job.yaml:", self.check(job).out)
        self.assertNotIn("configurations", self.check(job, "--set", "tune.num_samples=6").out)

    def test_narrow_widths_warn_with_what_to_do(self):
        self.assertRegex(self.check(small_job("cnn")).out, r"narrower than 8.*`tune\.min_width: 8`")

    def test_a_python_file_needs_no_dot_before_it(self):
        shutil.copy(HERE / "user_models.py", self.folder / "model.py")
        job = small_job(archive=None) | {"model": {"export": "model.py:mlp", "input": "float32[*, 1, 28, 28]"}}
        self.assertIn("search space", self.check(job).out)

    def test_the_coordinate_check_judges_layers(self):
        coordinates = self.report(small_job("mlp"), "--coordinates")["coordinates"]
        self.assertTrue(coordinates["passed"], coordinates)
        self.assertTrue(coordinates["layers"])

    def test_the_coordinate_check_says_which_architecture_it_judged(self):
        shutil.copy(HERE / "user_models.py", self.folder / "model.py")
        model = {"export": "model.py:mlp", "kwargs": {"width": {"choice": [32, 64]}}, "input": "float32[*, 1, 28, 28]"}
        text = self.check(small_job(archive=None) | {"model": model}, "--coordinates").out
        self.assertRegex(text, r'judges one of 2 architectures, \{"width": ?32\}; judge another by --set model\.kwargs')
        one = self.check(small_job(archive=None) | {"model": model}, "--coordinates", "--set", "model.kwargs.width=32")
        self.assertNotIn("architectures", one.out)

    def test_check_leaves_nothing(self):
        self.check(small_job())
        self.assertEqual([path.name for path in self.folder.iterdir()], ["job.yaml"])


class Doctor(Case):
    def test_it_names_torch_devices_and_a_verdict(self):
        done = self.hydro("doctor")
        self.assertEqual(done.code, 0, done)
        self.assertRegex(done.out, r"(?m)^torch +2\.11")
        for word in ("torch library", "cpu", "memory", "sqlite", "python", "verdict"):
            self.assertRegex(done.out, rf"(?m)^{word} +\S")

    def test_it_names_the_sentencepiece_that_was_loaded(self):
        self.assertRegex(self.hydro("doctor").out, r"(?m)^sentencepiece +/.*libsentencepiece\.so")

    def test_json_has_the_lines_of_the_text(self):
        done = self.hydro("doctor", "--format", "json")
        self.assertEqual(done.code, 0, done)
        found = json.loads(done.out)
        names = re.findall(r"(?m)^(\S+(?: \S+)*)  ", self.hydro("doctor").out)
        self.assertEqual(list(found), [name.strip().replace(" ", "_") for name in names])
        self.assertEqual(found["verdict"], "ready")
        lost = self.hydro("doctor", "--format", "json", environment={"HYDRO_HOME": "/nowhere"})
        self.assertEqual(lost.code, 3, lost)
        self.assertTrue(json.loads(lost.out)["exporter"].startswith("MISSING"))

    def test_waiting_threads_spin_shortly_unless_the_user_says_otherwise(self):
        self.assertRegex(self.hydro("doctor").out, r"(?m)^waiting threads +GOMP_SPINCOUNT=1000$")
        done = self.hydro("doctor", environment={"OMP_WAIT_POLICY": "active"})
        self.assertRegex(done.out, r"(?m)^waiting threads +OMP_WAIT_POLICY=active$")

    def test_a_missing_exporter_is_an_environment_error(self):
        done = self.hydro("doctor", environment={"HYDRO_HOME": "/nowhere"})
        self.assertEqual(done.code, 3, done)
        self.assertIn("MISSING", done.out)


class Explain(Case):
    def test_every_listed_code_is_explained(self):
        listed = self.hydro("explain", "list")
        self.assertEqual(listed.code, 0, listed)
        codes = re.findall(r"(?m)^(H\d{4})  \S", listed.out)
        self.assertGreater(len(codes), 80)
        self.assertEqual(len(codes), len(set(codes)))

    def test_an_explanation_says_meaning_remedy_and_exit_code(self):
        done = self.hydro("explain", "H0103")
        self.assertEqual(done.code, 0, done)
        self.assertRegex(done.out, r"(?s)^H0103: .+\n\n.+\n\n   do: .+\n   exit code: 2\n$")

    def test_an_unknown_code(self):
        self.assert_refused(self.hydro("explain", "H9999"), "H0902", "H9999")

    def test_a_code_needs_neither_its_letter_nor_its_zeros(self):
        whole = self.hydro("explain", "H0103").out
        for short in ("h0103", "0103", "103"):
            self.assertEqual(self.hydro("explain", short).out, whole)

    def test_a_folder_wants_a_trial_and_a_trial_is_digits(self):
        self.assert_refused(self.hydro("explain", self.folder), "H0901", "which trial")
        for number in ("", "0x1", "-1", "99999999999999999999"):
            self.assert_refused(self.hydro("replay", self.folder, number), "H0901", "no trial number")

    def test_output_that_is_lost_is_a_storage_error(self):
        for arguments in (["explain", "list"], ["explain", "H0103"], ["--help"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 5, arguments)
            self.assertIn("H0603", done.stderr)
            self.assertIn("No space left", done.stderr)


class Progress(Case):
    def test_json_lines_are_json_and_nothing_else(self):
        done, folder = self.tune(small_job(), "--progress", "json")
        self.assertEqual(done.code, 0, done)
        lines = [json.loads(line) for line in done.out.splitlines()]
        self.assertEqual([line["seq"] for line in lines], list(range(1, len(lines) + 1)))
        self.assertEqual((lines[0]["type"], lines[-1]["type"]), ("study_opened", "study_closed"))
        self.assertTrue((folder / "best").exists())

    def test_none_prints_nothing(self):
        done, _ = self.tune(small_job(), "--progress", "none")
        self.assertEqual((done.code, done.out), (0, ""), done)

    def test_quiet_prints_errors_only(self):
        done, _ = self.tune(small_job("cnn"), "-q")
        self.assertEqual((done.code, done.out, done.err), (0, "", ""), done)
        failed, _ = self.tune(small_job(), "-q", "--set", "tune.numsamples=1", folder="other")
        self.assert_refused(failed, "H0103")

    def test_quiet_wins_over_a_named_form(self):
        done, _ = self.tune(small_job(), "-q", "--progress", "plain")
        self.assertEqual((done.code, done.out), (0, ""), done)

    def test_the_bar_is_one_line_redrawn(self):
        done, _ = self.tune(small_job(), "--progress", "bar")
        self.assertEqual(done.code, 0, done)
        drawn = [part for part in done.out.split("\r") if "trials" in part]
        self.assertTrue(drawn)
        self.assertRegex(done.out, r"2/2 trials · best val_accuracy [0-9.]+ \(trial \d\)")

    def test_plain_has_no_control_codes(self):
        done, _ = self.tune(small_job())
        self.assertEqual(done.code, 0, done)
        self.assertNotRegex(done.out + done.err, r"[\x00-\x09\x0b-\x1f]")

    def test_an_archive_needs_no_python_and_none_is_announced(self):
        done, _ = self.tune(small_job())
        self.assertNotIn("runs its Python", done.out)
        self.assertEqual(done.code, 0)

    def test_names_from_files_cannot_drive_the_terminal(self):
        done = hydro("show", "\x1b[31mred", folder=self.folder)
        self.assertNotIn("\x1b", done.err + done.out)
