"""`hydro replay`: one trial again, alone, with the same numbers."""

import json
import re
import sqlite3

import numpy
from workplace import Case, array_split, rows, shared, small_job


class Replaying(Case):
    def replay(self, trial, folder="run"):
        return self.hydro("replay", folder, trial)

    def test_one_trial_a_core_agrees_bit_for_bit(self):
        folder = self.tuned(small_job("cnn", train={"epochs": 2}, tune={"num_samples": 3}, resources={"cores": 2}))
        told = [row for row in rows(folder / "metrics.csv") if row["trial"] == "1" and row["kind"] == "surrogate"]
        self.assertTrue(told)
        done = self.replay(1)
        self.assertEqual(done.code, 0, done)
        self.assertIn(f"trial 1 of small: all {len(told)} numbers up to step 20 agree bit for bit\n", done.out)
        for row in told:
            pattern = rf"(?m)^ *{row['step']}  {row['metric']} .*  same$"
            self.assertRegex(done.out, pattern)

    def test_a_stacked_trial_agrees_within_its_tolerance(self):
        self.tuned(small_job("cnn", train={"epochs": 2}, tune={"num_samples": 3, "fusion": 3}))
        for trial in range(3):
            done = self.replay(trial)
            self.assertEqual(done.code, 0, done)
            self.assertIn("agree within 2 %, since it shared a container", done.out)

    def test_a_trial_that_diverged_does_so_again(self):
        optimizer = {"name": "sgd", "lr": {"choice": [1e30, 0.1]}}
        folder = self.tuned(small_job(train={"optimizer": optimizer}, tune={"search": "grid", "num_samples": None}))
        failed = [row["id"] for row in rows(folder / "trials.csv") if row["state"] == "failed"]
        self.assertEqual(len(failed), 1)
        done = self.replay(failed[0])
        self.assertEqual(done.code, 0, done)

    def test_a_number_that_differs_is_an_error(self):
        folder = self.tuned(small_job())
        self.falsify(folder, trial=1)
        done = self.replay(1)
        self.assert_refused(done, "H0634", "1 of ", "numbers differ", "bit for bit", code=6)
        self.assertEqual(len(re.findall("(?m)differs$", done.out)), 1)

    def falsify(self, folder, trial):
        """Another loss in the stored report, under a checksum that fits."""
        with sqlite3.connect(folder / "study.db") as database:
            query = "select seq, version, time_ns, body from event where type = 'reported' order by seq"
            for seq, version, time_ns, body in database.execute(query).fetchall():
                event = json.loads(body)
                report = event["body"]["report"]
                if report["trial"] == trial:
                    report["metrics"]["val_loss"] += 1
                    text = json.dumps(event)
                    row = (text, checksum(seq, "reported", version, time_ns, text), seq)
                    database.execute("update event set body = ?, crc32c = ? where seq = ?", row)

    def test_data_that_changed_are_refused(self):
        data = {"train": array_split("train"), "val": array_split("val")}
        labels = self.folder / "labels.npy"
        numpy.save(labels, numpy.load(shared().arrays / "val_y.npy"))
        data["val"]["target"] = str(labels)
        self.tuned(small_job(data=data))
        numpy.save(labels, numpy.zeros(200, numpy.int64))
        self.assert_refused(self.replay(0), "H0632", "labels.npy", code=6)

    def test_a_trial_that_is_not_there(self):
        self.tuned(small_job())
        self.assert_refused(self.replay(9), "H0633", "no trial 9", "0 to 1")
        self.assert_refused(self.replay("first"), "H0901")
        self.assert_refused(self.replay(0, folder="elsewhere"), "H0617")


def crc32c(data, before=0):
    crc = before ^ 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def checksum(seq, kind, version, time_ns, body):
    """As hydro/store/study_db.cpp: numbers as 8 bytes, texts after their length."""
    number = lambda value: value.to_bytes(8, "little", signed=True)
    text = lambda value: number(len(value.encode())) + value.encode()
    return crc32c(number(seq) + text(kind) + number(version) + number(time_ns) + text(body))
