"""What a job file may not say: each refusal with its place, before anything is made."""

import json

from workplace import Case, small_job


class RefusedJobs(Case):
    def refuse(self, identity, *words, text=None, job=None, settings=()):
        self.write_job(text if text is not None else job if job is not None else small_job())
        options = [option for setting in settings for option in ("--set", setting)]
        done = self.hydro("tune", "job.yaml", *options)
        self.assert_refused(done, identity, *words)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["job.yaml"], "something was left")
        return done

    def with_lr(self, distribution):
        return small_job(train={"optimizer": {"name": "sgd", "lr": distribution}})

    def test_an_unknown_key_is_shown_with_its_place_and_a_suggestion(self):
        text = json.dumps(small_job(tune={"scalng": 8}), indent=1)
        line = next(n for n, row in enumerate(text.splitlines(), 1) if "scalng" in row)
        self.refuse("H0103", f"job.yaml:{line}:3", "scalng", "did you mean `scaling`?", text=text)

    def test_a_misspelt_section_is_named_before_the_one_that_is_missing(self):
        text = json.dumps(small_job()).replace('"data"', '"dta"')
        self.refuse("H0103", "dta", "did you mean `data`?", text=text)

    def test_a_key_given_twice(self):
        self.refuse("H0104", "job.yaml:2:1", text="name: x\nname: y\n")

    def test_a_byte_order_mark(self):
        self.write_job("")
        (self.folder / "job.yaml").write_bytes(b"\xef\xbb\xbfname: x\n")
        self.assert_refused(self.hydro("tune", "job.yaml"), "H0107")

    def test_bytes_that_are_no_text(self):
        (self.folder / "job.yaml").write_bytes(b"name: \xff\xfe\n")
        done = self.hydro("tune", "job.yaml")
        self.assert_refused(done, "H0107")
        self.assertNotRegex(done.err, "[\udc80-\udcff]", "the message holds the bytes that it refuses")

    def test_control_codes_are_refused_and_not_printed(self):
        done = self.refuse("H0107", text="name: a\x1b[31mred\n")
        self.assertNotIn("\x1b", done.err)

    def test_ten_thousand_levels(self):
        self.refuse("H0108", text="name: " + "[" * 10_000 + "]" * 10_000)

    def test_a_hundred_megabytes(self):
        with open(self.folder / "job.yaml", "wb") as file:
            file.truncate(100_000_000)
        self.assert_refused(self.hydro("tune", "job.yaml"), "H0101")

    def test_an_alias_bomb(self):
        text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        for one, other in zip("abcdef", "bcdefg"):
            text += f"{other}: &{other} [{', '.join(['*' + one] * 10)}]\n"
        self.refuse("H0108", text=text)

    def test_a_file_that_is_no_yaml(self):
        self.refuse("H0102", "job.yaml:", text="name: [x\n")

    def test_a_missing_job_file_with_the_systems_reason(self):
        done = self.hydro("tune", "nowhere.yaml")
        self.assert_refused(done, "H0100", "nowhere.yaml", "No such file")

    def test_a_folder_as_job_file(self):
        self.assert_refused(self.hydro("tune", str(self.folder)), "H0100")

    def test_an_inverted_range(self):
        self.refuse("H0701", "lr", job=self.with_lr({"uniform": [1, 0.1]}))

    def test_an_empty_range(self):
        self.refuse("H0701", "lr", job=self.with_lr({"uniform": [0.1, 0.1]}))

    def test_a_logarithm_of_zero(self):
        self.refuse("H0702", "lr", job=self.with_lr({"loguniform": [0, 1]}))

    def test_a_bound_that_is_no_number(self):
        self.refuse("H0703", "lr", text=json.dumps(self.with_lr({"uniform": ["X", 1]})).replace('"X"', ".nan"))

    def test_a_number_in_quotes(self):
        for identity, lr in (
            ("H0110", {"loguniform": ["1e-4", 1]}),
            ("H0105", {"choice": [0.1, "1e-4"]}),
            ("H0105", "1e-4"),
        ):
            with self.subTest(lr):
                self.refuse(identity, "job.yaml:", "remove the quotes and write 1e-4", job=self.with_lr(lr))

    def test_an_option_given_twice(self):
        self.refuse("H0705", "lr", job=self.with_lr({"choice": [0.1, 0.1]}))

    def test_a_grid_search_over_a_range(self):
        job = small_job(tune={"search": "grid", "num_samples": None})
        self.refuse("H0706", "lr", job=job)

    def test_searched_decay_of_sgd_does_not_transfer(self):
        optimizer = {"name": "sgd", "lr": 0.1, "weight_decay": {"loguniform": [1e-4, 1e-1]}}
        self.refuse("H0120", "weight_decay", "target_search", job=small_job(train={"optimizer": optimizer}))

    def test_searched_label_smoothing_does_not_transfer(self):
        job = small_job(train={"label_smoothing": {"uniform": [0, 0.2]}})
        self.refuse("H0120", "label_smoothing", "target_search", job=job)

    def test_l2_inside_adam_does_not_transfer(self):
        optimizer = {"name": "adam", "lr": 0.1, "weight_decay": 0.1}
        self.refuse("H0121", "adamw", job=small_job(train={"optimizer": optimizer}))

    def test_a_metric_that_no_trial_reports(self):
        self.refuse("H0122", "val_los", "val_loss", settings=["tune.metric=val_los"])

    def test_both_epochs_and_steps(self):
        self.refuse("H0109", job=small_job(train={"steps": 10}))

    def test_features_of_later_versions(self):
        for setting in (
            "tune.eager_transfer=0.5",
            "tune.time_budget=15 min",
            "resources.devices=[cuda:0]",
            "tune.target_search={lr: 1}",
        ):
            with self.subTest(setting):
                self.refuse("H0130", settings=[setting])

    def test_settings_of_the_command_line_that_do_not_apply(self):
        for setting, identity in (
            ("tune.num_samples", "H0112"),
            ("tune.numsamples=3", "H0103"),
            ("tune.num_samples=x", "H0105"),
            ("tune.num_samples=[", "H0102"),
            ("tune.num_samples.x=3", None),
        ):
            with self.subTest(setting):
                self.write_job(small_job())
                done = self.hydro("tune", "job.yaml", "--set", setting)
                self.assertEqual(done.code, 2, done)
                self.assertRegex(done.err, rf"error\[{identity or 'H01'}")
                self.assertIn("--set", done.err)

    def test_a_name_that_leaves_the_runs_folder(self):
        for name in ("../x", "..", ""):
            with self.subTest(name):
                self.refuse("H0105", job=small_job(name=name))

    def test_a_warning_for_a_mode_that_contradicts_the_metric_does_not_stop(self):
        self.write_job(small_job())
        done = self.hydro("check", "job.yaml", "--set", "tune.mode=min")
        self.assertEqual(done.code, 0, done)
        self.assertIn("mode", done.out + done.err)


class RefusedCommandLines(Case):
    def test_no_verb(self):
        self.assert_refused(self.hydro(), "H0901")

    def test_an_unknown_verb_is_named_with_the_nearest(self):
        self.assert_refused(self.hydro("tun", "job.yaml"), "H0901", "`tun`", "tune")

    def test_verbs_of_later_versions_say_so(self):
        for verb in ("resume", "serve", "report"):
            with self.subTest(verb):
                self.assert_refused(self.hydro(verb, "x"), "H0130", verb)

    def test_an_unknown_option_is_named(self):
        self.assert_refused(self.hydro("tune", "job.yaml", "--frob"), "H0901", "--frob")

    def test_a_missing_argument_is_named(self):
        self.assert_refused(self.hydro("tune"), "H0901", "job")

    def test_an_unknown_format(self):
        self.assert_refused(self.hydro("show", ".", "--format", "xml"), "H0901", "xml")

    def test_a_folder_without_a_study(self):
        self.assert_refused(self.hydro("show", "."), "H0617")
        self.assert_refused(self.hydro("show", "nowhere"), "H0617", "nowhere")

    def test_output_below_a_file_or_a_system_folder(self):
        path = self.write_job(small_job())
        for folder in (path, path / "x", "/proc/hydro"):
            with self.subTest(folder):
                done = self.hydro("tune", "job.yaml", "-o", folder)
                self.assert_refused(done, "H0616", str(folder), code=5)

    def test_runs_that_is_a_file(self):
        self.write_job(small_job())
        (self.folder / "runs").write_text("")
        self.assert_refused(self.hydro("tune", "job.yaml"), "H0616", "runs", code=5)

    def test_help_of_every_verb_has_an_example(self):
        for verb in ("export", "check", "tune", "show", "doctor", "explain"):
            with self.subTest(verb):
                done = self.hydro(verb, "--help")
                self.assertEqual(done.code, 0, done)
                self.assertIn("Example: hydro " + verb, done.out)
