"""A run folder that takes no more bytes: what is said, and what can still be read."""

import resource
import subprocess
import unittest

from workplace import BINARY, PATIENCE, Case, Outcome, small_job

LIMIT = 200_000  # bytes that one file may have: the study's log of events grows past it


class FullDisk(Case):
    def tune_within(self, limit, job):
        self.write_job(job)
        done = subprocess.run(
            [BINARY, "tune", "job.yaml", "-o", "run"],
            cwd=self.folder,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return Outcome(done)

    def test_the_error_says_what_is_kept_and_show_reads_it(self):
        done = self.tune_within(LIMIT, small_job(train={"epochs": 2, "batch_size": 16}, tune={"num_samples": 60}))
        self.assert_refused(done, "H0611", "study.db", code=5)
        self.assertRegex(done.err, r"(?m)^   kept: every event .*`hydro show run`")
        shown = self.hydro("show", "run")
        self.assertEqual(shown.code, 0, shown)
        self.assertIn("small: interrupted", shown.out)
        table = self.hydro("show", "run", "--format", "csv").out.splitlines()
        self.assertGreater(len(table), 2)
        self.assertTrue(table[0].startswith("id,state,"), table[0])


if __name__ == "__main__":
    unittest.main()
