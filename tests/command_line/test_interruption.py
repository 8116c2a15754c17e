"""Signals, kills and closed outputs: what had ended is kept, nothing half done is left."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from workplace import BINARY, HERE, PATIENCE, Case, events, rows, small_job

ENDLESS = 100_000  # epochs: far beyond any test's patience
TRAINING = {"epochs": ENDLESS, "evaluate": {"every": "1 epoch"}}


class Started:
    """A program in the background; its standard output is read line by line."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen(
            [BINARY, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, text):
        for line in self.process.stdout:
            if text in line:
                return line
        raise AssertionError(f"no `{text}`: {self.process.stderr.read()}")

    def send(self, number):
        self.process.send_signal(number)

    def end(self):
        """Exit code, and what it still said on standard error."""
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors

    def kill(self):
        self.process.kill()
        self.process.communicate()


class Interruption(Case):
    def start(self, job, *options):
        self.write_job(job)
        started = Started(self.folder, "tune", "job.yaml", "-o", "run", "--progress", "json", *options)
        self.addCleanup(started.kill)
        return started, self.folder / "run"

    def assert_stopped_and_readable(self, code, errors, folder):
        self.assertEqual(code, 75, errors)
        self.assertIn("error[H0642]", errors)
        self.assertRegex(errors, r"(?m)^   kept: .*study\.db")
        self.assertRegex(errors, r"(?m)^   do: \S")
        self.assertFalse((folder / "best").exists(), "an interrupted study left best/")
        self.assertEqual(self.result(folder)["state"], "interrupted")
        shown = self.hydro("show", folder)
        self.assertEqual(shown.code, 0, shown)
        self.assertIn("interrupted", shown.out)
        states = {row["state"] for row in rows(folder / "trials.csv")}
        self.assertLessEqual(states, {"finished", "failed", "interrupted", "waiting"})
        self.assertNotIn("running", shown.out)

    def stop_during_surrogates(self, number):
        started, folder = self.start(small_job(train=TRAINING))
        started.wait_for('"type":"reported"')
        started.send(number)
        code, errors = started.end()
        self.assert_stopped_and_readable(code, errors, folder)
        reported = [row for row in rows(folder / "metrics.csv") if row["metric"] == "val_accuracy"]
        self.assertEqual(len(reported), sum(kind == "reported" for kind in events(folder)))

    def test_an_interrupt_during_the_search_stops_resumably(self):
        self.stop_during_surrogates(signal.SIGINT)

    def test_a_termination_does_the_same(self):
        self.stop_during_surrogates(signal.SIGTERM)

    def test_an_interrupt_during_the_target_keeps_the_trials(self):
        # The surrogates end after a step each; the full-size model is wide, so that its training is still going on.
        job = small_job(train={"epochs": None, "steps": 2000, "evaluate": {"every": "100 steps"}}, tune={"num_samples": 1})
        started, folder = self.start(job)
        started.wait_for('"type":"target_started"')
        started.send(signal.SIGINT)
        code, errors = started.end()
        self.assert_stopped_and_readable(code, errors, folder)
        self.assertEqual([row["state"] for row in rows(folder / "trials.csv")], ["finished"])
        self.assertEqual(self.result(folder)["targets"][0]["state"], "interrupted")
        self.assertIsNone(self.result(folder)["target"])

    def test_an_interrupt_during_the_export_leaves_nothing(self):
        shutil.copy(HERE / "user_models.py", self.folder / "model.py")
        with open(self.folder / "model.py", "a", encoding="utf-8") as file:
            file.write("\n\ndef marked():\n    open('started', 'w').close()\n    return slow()\n")
        job = small_job(archive=None) | {"model": {"export": "./model.py:marked", "input": "float32[*, 1, 28, 28]"}}
        started, folder = self.start(job)
        while not (self.folder / "started").exists():
            self.assertIsNone(started.process.poll(), "ended before the export began")
            time.sleep(0.05)
        started.send(signal.SIGINT)
        code, errors = started.end()
        self.assertEqual(code, 75, errors)
        self.assertRegex(errors, r"error\[H0\d+\]")
        self.assertFalse(folder.exists())
        survivors = subprocess.run(["pgrep", "-f", str(folder)], capture_output=True, text=True, check=False).stdout
        self.assertEqual(survivors, "", "the exporter outlived its caller")

    def test_a_second_signal_ends_at_once(self):
        started, _ = self.start(small_job(train=TRAINING))
        started.wait_for('"type":"reported"')
        started.send(signal.SIGINT)
        started.send(signal.SIGTERM)
        code, _ = started.end()
        self.assertEqual(code, 75)

    def test_reports_survive_a_kill(self):
        started, folder = self.start(small_job(train=TRAINING))
        acknowledged = [json.loads(started.wait_for('"type":"reported"')) for _ in range(3)]
        started.kill()
        shown = self.hydro("show", folder, "--format", "csv")
        self.assertEqual(shown.code, 0, shown)
        self.assertGreaterEqual(sum(kind == "reported" for kind in events(folder)), len(acknowledged))
        text = self.hydro("show", folder)
        self.assertEqual(text.code, 0, text)
        self.assertIn("interrupted", text.out.splitlines()[0], "a dead study passes for a running one")
        self.assertFalse((folder / "best").exists())

    def test_a_killed_study_is_not_overwritten(self):
        started, folder = self.start(small_job(train=TRAINING))
        started.wait_for('"type":"reported"')
        started.kill()
        before = events(folder)
        again = self.hydro("tune", "job.yaml", "-o", "run")
        self.assert_refused(again, "H0615", "`run` holds a study of this same job: interrupted", "cannot be continued")
        self.assertEqual(events(folder)[: len(before)], before)

    def test_show_reads_while_the_study_runs(self):
        started, folder = self.start(small_job(train=TRAINING))
        started.wait_for('"type":"reported"')
        text = self.hydro("show", folder)
        self.assertEqual(text.code, 0, text)
        self.assertIn("running", text.out)
        self.assertRegex(text.out, r"(?m)^  \.\.\.  1 waiting$")
        result = self.hydro("show", folder, "--format", "json")
        self.assertEqual(json.loads(result.out)["state"], "running")
        table = self.hydro("show", folder, "--format", "csv")
        self.assertTrue(table.out.startswith("id,state,reason,lr,value,epochs,seconds\n"), table)

    def test_a_second_study_in_the_same_folder_is_refused_while_the_first_runs(self):
        started, _ = self.start(small_job(train=TRAINING))
        started.wait_for('"type":"reported"')
        done = self.hydro("tune", "job.yaml", "-o", "run")
        self.assertEqual(done.code, 2, done)
        self.assertRegex(done.err, r"error\[H061[45]\]")
        self.assertIsNone(started.process.poll(), "the running study was disturbed")

    def test_a_reader_that_leaves_does_not_end_the_study(self):
        for form in ("plain", "json", "bar"):
            with self.subTest(form):
                self.write_job(small_job(name=form))
                command = f"{BINARY} tune job.yaml -o {form} --progress {form} | head -n 1 > /dev/null; exit ${{PIPESTATUS[0]}}"
                done = subprocess.run(
                    ["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue((self.folder / form / "best" / "model.safetensors").exists())

    def test_a_full_standard_output_does_not_end_the_study(self):
        self.write_job(small_job())
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [BINARY, "tune", "job.yaml", "-o", "run"],
                cwd=self.folder,
                stdout=full,
                stderr=full,
                timeout=PATIENCE,
                check=False,
            )
        self.assertEqual(done.returncode, 0)
        self.assertTrue((self.folder / "run" / "result.json").exists())

    def test_a_closed_terminal_does_not_end_the_study(self):
        started, folder = self.start(small_job(train={"epochs": 30}))
        started.wait_for('"type":"reported"')
        started.send(signal.SIGHUP)
        code, errors = started.end()
        self.assertEqual(code, 0, errors)
        self.assertTrue((folder / "best" / "model.safetensors").exists())


class FullDisk(Case):
    """A file system of one megabyte, where mounting is permitted."""

    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(self.disk)], capture_output=True, check=False
        )
        if mounted.returncode != 0:
            self.skipTest("mounting is not permitted here")
        self.addCleanup(subprocess.run, ["umount", str(self.disk)], check=True)

    def test_a_full_disk_ends_with_the_storage_code_and_says_so(self):
        with open(self.disk / "ballast", "wb") as ballast:
            ballast.write(bytes(900_000))
        self.write_job(small_job(train={"epochs": 200}))
        done = self.hydro("tune", "job.yaml", "-o", self.disk / "run", "--progress", "none")
        self.assertEqual(done.code, 5, done)
        self.assertRegex(done.err, r"error\[H06\d\d\]")
        self.assertRegex(done.err, r"(?m)^   why: .*(No space|full)")
        self.assertFalse((self.disk / "run" / "best" / "model.safetensors").exists())

    def test_a_read_only_folder_is_refused_before_training(self):
        subprocess.run(["mount", "-o", "remount,ro", str(self.disk)], check=True)
        self.write_job(small_job())
        done = self.hydro("tune", "job.yaml", "-o", self.disk / "run")
        self.assert_refused(done, "H0616", "Read-only", code=5)


if os.geteuid() != 0:
    FullDisk = unittest.skip("only root may mount")(FullDisk)
