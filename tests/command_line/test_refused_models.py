"""Models that cannot be exported or shrunk: the user's own file and line, and what to do."""

import shutil
import zipfile

import torch

from workplace import BINARY, HERE, Case, shared, small_job

IMAGE = "float32[*, 1, 28, 28]"
SOURCE = (HERE / "user_models.py").read_text(encoding="utf-8").splitlines()


def line_of(name):
    """The number of the line that `class name` marks as refused."""
    start = SOURCE.index(f"class {name}(nn.Module):")
    return next(n + 1 for n in range(start, len(SOURCE)) if "# the refused line" in SOURCE[n])


class RefusedModels(Case):
    def job_of(self, callable, input=IMAGE):
        shutil.copy(HERE / "user_models.py", self.folder / "model.py")
        return small_job(archive=None) | {"model": {"export": f"./model.py:{callable}", "input": input}}

    def refuse(self, callable, identity, *words, input=IMAGE, code=2):
        done, folder = self.tune(self.job_of(callable, input))
        self.assert_refused(done, identity, *words, code=code)
        self.assertFalse(folder.exists(), "a refused study left its folder")
        return done

    def test_data_dependent_control_flow(self):
        self.refuse("Branch", "H0212", f"model.py:{line_of('Branch')}")

    def test_a_softmax_at_the_end(self):
        self.refuse("Probabilities", "H0255", "softmax", f"model.py:{line_of('Probabilities')}")

    def test_loaded_weights_with_the_parameter(self):
        self.refuse("Loaded", "H0207", "layer.weight")

    def test_a_callable_that_raises(self):
        self.refuse("raises", "H0204", "no such dataset", "model.py:")

    def test_a_callable_that_is_not_there(self):
        self.refuse("nowhere", "H0203", "nowhere", "job.yaml:4:13", "   why: it is not in ")

    def test_a_file_that_is_not_there(self):
        job = small_job(archive=None) | {"model": {"export": "./absent.py:build", "input": IMAGE}}
        done, _ = self.tune(job)
        self.assert_refused(done, "H0202", "absent.py", "job.yaml:4:13")

    def test_a_module_that_is_not_there(self):
        job = small_job(archive=None) | {"model": {"export": "absent.models:build", "input": IMAGE}}
        self.assert_refused(self.tune(job)[0], "H0202", "`absent`", "job.yaml:4:13")

    def test_a_file_without_its_ending(self):
        shutil.copy(HERE / "user_models.py", self.folder / "model.py")
        job = small_job(archive=None) | {"model": {"export": "./model:mlp", "input": IMAGE}}
        self.assert_refused(self.tune(job)[0], "H0105", "./file.py:callable", "job.yaml:4:13")

    def test_a_missing_file_without_a_dot_before_it(self):
        shutil.copy(HERE / "user_models.py", self.folder / "model.py")
        job = small_job(archive=None) | {"model": {"export": "models.py:mlp", "input": IMAGE}}
        self.assert_refused(self.tune(job)[0], "H0202", "models.py", "did you mean `model.py`?", "job.yaml:4:13")

    def test_an_input_that_does_not_fit_forward(self):
        self.refuse("mlp", "H0211", input="float32[*, 3, 28, 28]")

    def test_a_model_that_shrinks_too_little_with_a_table(self):
        self.write_job(small_job(tune={"min_width": 32}))
        done = self.hydro("tune", "job.yaml")
        self.assert_refused(done, "H0302", "weight")

    def test_a_role_that_matches_nothing(self):
        job = small_job() | {"model": {"file": str(shared().archive("mlp")), "roles": {"nowhere.weight": "output"}}}
        self.assert_refused(self.tune(job)[0], "H0303", "nowhere.weight")

    def test_an_interpreter_that_does_not_exist(self):
        job = self.job_of("mlp")
        job["model"]["python"] = "/nowhere/python"
        self.assert_refused(self.tune(job)[0], "H0803", "/nowhere/python", "job.yaml:6:13", code=3)

    def test_an_interpreter_without_torch(self):
        job = self.job_of("mlp")
        job["model"]["python"] = "/usr/bin/python3"
        self.assert_refused(self.tune(job)[0], "H0801", code=3)

    def test_a_program_that_is_no_interpreter(self):
        job = self.job_of("mlp")
        job["model"]["python"] = "/bin/false"
        done, _ = self.tune(job)
        self.assertIn(done.code, (2, 3), done)
        self.assertRegex(done.err, r"(?m)^   do: \S", done)

    def test_a_copied_program_without_its_exporter(self):
        copy = self.folder / "hydro"
        copy.symlink_to(BINARY)  # /proc/self/exe follows the link: still found
        self.write_job(self.job_of("mlp"))
        done = self.hydro("tune", "job.yaml", environment={"HYDRO_HOME": str(self.folder / "nowhere")})
        self.assert_refused(done, "H0802", code=3)

    def test_user_code_that_ends_the_interpreter_is_no_success(self):
        shutil.copy(HERE / "user_models.py", self.folder / "model.py")
        done = self.hydro("export", "./model.py:vanishes", "--input", IMAGE)
        self.assert_refused(done, "H0260")
        self.assertNotIn("wrote", done.out)

    def test_an_export_that_cannot_be_written(self):
        shutil.copy(HERE / "user_models.py", self.folder / "model.py")
        done = self.hydro("export", "./model.py:mlp", "--input", IMAGE, "-o", "/proc/mlp.pt2")
        self.assert_refused(done, "H0219", code=5)

    def test_an_export_into_a_missing_folder_runs_nothing(self):
        (self.folder / "model.py").write_text("open('executed', 'w')\n", encoding="utf-8")
        for output in ("none/mlp.pt2", "."):
            done = self.hydro("export", "./model.py:mlp", "--input", IMAGE, "-o", output)
            self.assert_refused(done, "H0219", "folder", code=5)
        self.assertFalse((self.folder / "executed").exists(), "the export began")


class RefusedArchives(Case):
    """`model.file` reads what `hydro export` writes and nothing else, and runs nothing."""

    def refuse(self, path, identity, *words):
        done, folder = self.tune(small_job() | {"model": {"file": str(path)}})
        self.assert_refused(done, identity, *words)
        self.assertFalse(folder.exists(), "a refused archive left its folder")
        self.assertFalse((self.folder / "executed").exists(), "code of the archive ran")
        return done

    def rewritten(self, change):
        """The small archive with its entries passed through `change(name, bytes)`; None drops an entry."""
        path = self.folder / "changed.pt2"
        with zipfile.ZipFile(shared().archive("mlp")) as old, zipfile.ZipFile(path, "w") as new:
            for entry in old.infolist():
                content = change(entry.filename, old.read(entry))
                if content is not None:
                    new.writestr(entry.filename, content)
        return path

    def hostile(self):
        marker = str(self.folder / "executed")

        class Hostile:
            def __reduce__(self):
                return (open, (marker, "w"))

        return Hostile()

    def test_a_pickle_is_refused_unread(self):
        path = self.folder / "model.pt2"
        import pickle

        path.write_bytes(pickle.dumps(self.hostile()))
        self.refuse(path, "H0231", "hydro export")

    def test_a_file_of_torch_save_is_refused_unread(self):
        path = self.folder / "model.pth"
        torch.save({"weights": self.hostile()}, path)
        self.refuse(path, "H0231", "hydro export")

    def test_torchscript_is_refused(self):
        path = self.folder / "model.pt"
        torch.jit.script(torch.nn.Linear(2, 2)).save(str(path))
        self.refuse(path, "H0232", "hydro export")

    def test_an_archive_of_torch_export_alone(self):
        path = self.folder / "model.pt2"
        torch.export.save(torch.export.export(torch.nn.Linear(2, 2), (torch.zeros(1, 2),)), path)
        self.refuse(path, "H0239", "hydro export")

    def test_a_file_that_is_no_archive(self):
        path = self.folder / "model.pt2"
        path.write_bytes(b"#!/bin/sh\ntouch executed\n" * 100)
        self.refuse(path, "H0230", "hydro export")

    def test_a_refusal_names_the_users_own_file(self):
        path = self.folder / "mine.pt2"
        path.write_bytes(b"no archive")
        self.refuse(path, "H0230", str(path))

    def test_a_missing_archive(self):
        done, _ = self.tune(small_job() | {"model": {"file": "nowhere.pt2"}})
        self.assertEqual(done.code, 2, done)
        self.assertIn("nowhere.pt2", done.err)
        self.assertIn("No such file", done.err)
        self.assertIn("job.yaml:4:11", done.err)

    def test_an_archive_that_was_cut_off(self):
        path = self.folder / "model.pt2"
        content = shared().archive("mlp").read_bytes()
        for size in (0, 4, len(content) // 2, len(content) - 1):
            with self.subTest(size):
                path.write_bytes(content[:size])
                done, _ = self.tune(small_job() | {"model": {"file": str(path)}})
                self.assertEqual(done.code, 2, done)
                self.assertRegex(done.err, r"error\[H02")

    def test_a_zip_bomb(self):
        path = self.folder / "bomb.pt2"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("model/data", bytes(200_000_000))
        self.refuse(path, "H0233")

    def test_names_that_leave_the_archive(self):
        for name in ("../executed", "/executed", "a/../../executed", "a\\executed"):
            with self.subTest(name):
                path = self.folder / "model.pt2"
                with zipfile.ZipFile(path, "w") as archive:
                    archive.writestr(name, b"x")
                self.refuse(path, "H0234")

    def test_more_entries_than_any_model_has(self):
        path = self.folder / "model.pt2"
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(100_001):
                archive.writestr(f"a{number}", b"")
        self.refuse(path, "H0233")

    def test_a_checksum_that_does_not_fit(self):
        content = bytearray(shared().archive("mlp").read_bytes())
        content[len(content) // 2] ^= 1
        path = self.folder / "model.pt2"
        path.write_bytes(content)
        done, _ = self.tune(small_job() | {"model": {"file": str(path)}})
        self.assertEqual(done.code, 2, done)

    def test_pickled_tensors_are_refused_unread(self):
        def change(name, content):
            if name.endswith(("weights_config.json", "constants_config.json")):
                return content.replace(b'"use_pickle": false', b'"use_pickle": true').replace(
                    b'"use_pickle":false', b'"use_pickle":true'
                )
            return content

        self.refuse(self.rewritten(change), "H0236")

    def test_shared_libraries_are_refused(self):
        path = self.rewritten(lambda name, content: content)
        with zipfile.ZipFile(path, "a") as archive:
            first = archive.namelist()[0].split("/")[0]
            archive.writestr(f"{first}/data/aotinductor/model/model.so", b"\x7fELF")
        self.refuse(path, "H0238")

    def test_a_newer_format_is_refused(self):
        def change(name, content):
            return content.replace(b'"format": 1', b'"format": 99').replace(b'"format":1', b'"format":99')

        self.refuse(self.rewritten(change), "H0240")
