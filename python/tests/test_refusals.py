"""Every refusal, with the user's file and line."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from support import HERE, ExportError, command, export, marked, refusal

from hydro import inputs

ROOT = os.path.dirname(HERE)


class Refusals(unittest.TestCase):
    def check(self, id, target, *inputs, where=None, do="", why="", **options):
        with self.subTest(target):
            error = refusal(target, *inputs, **options)
            self.assertEqual(error.id, id, error.as_text())
            self.assertTrue(error.do, error.what)
            self.assertIn(do, error.do)
            self.assertIn(why, error.why)
            if where:
                self.assertEqual(error.where, where)

    def test_targets_that_are_no_callables(self):
        for target in ("resnet18", "model.pth", "weights.safetensors", "model.pt2", ":f"):
            self.check("H0201", target)
        self.check("H0202", "user_model:Net", do="user_models")
        self.check("H0202", "torchvision.modelss:resnet18")
        self.check("H0202", "./user_modelz.py:Net", do="user_models.py")
        self.check("H0203", "user_models:Nett", do="`Net`")
        self.check("H0203", "torchvision.models:resnet19", do="resnet18")

    def test_modules_that_python_cannot_import(self):
        texts = {
            "broken_import": "import no_such_package_anywhere\n",
            "broken_syntax": "def build(:\n",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in texts.items():
                path = os.path.join(folder, f"{name}.py")
                with open(path, "w") as file:
                    file.write(text)
                self.check("H0202", f"{name}:build", folder=folder, where=f"{path}:1")

    def test_callables_that_fail_or_build_no_model(self):
        self.check("H0204", "user_models:raising", where=marked("callable_raises"))
        self.check("H0204", "user_models:leaving", where=marked("leaving"))
        self.check("H0204", "user_models:mlp", kwargs={"widht": 3}, why="widht")
        self.check("H0205", "user_models:no_module", where=marked("no_module"))
        for name in ("A_MODEL", "NUMBER"):
            self.check("H0205", f"user_models:{name}")
        for name in ("growing", "kept"):
            self.check("H0205", f"user_laws:{name}")

    def test_arguments_that_cannot_be_read(self):
        self.check("H0206", "user_models:mlp", kwargs="{width: 3}")
        self.check("H0206", "user_models:mlp", kwargs='{"width": NaN}')
        self.check("H0206", "user_models:mlp", args={"width": 3})
        self.check(
            "H0206",
            "user_models:configured",
            kwargs={"config": {"call": "user_models:Config", "kwarg": {}}},
        )
        broken = {"config": {"call": "user_models:broken_config"}}
        self.check(
            "H0206", "user_models:configured", kwargs=broken, where=marked("broken_config")
        )
        self.check(
            "H0203",
            "user_models:configured",
            kwargs={"config": {"call": "user_models:Confg"}},
            do="`Config`",
        )

    def test_inputs_that_cannot_be_read(self):
        for text in (
            "float32",
            "float32[3,4]",
            "float32[*,*]",
            "float32[*,0]",
            "float32[*,x]",
            "float32[*,\N{SUPERSCRIPT TWO}]",
            "complex64[*,4]",
        ):
            self.check("H0209", "user_models:Net", text)
        self.check("H0209", "user_models:Net", "flaot32[*,4]", do="float32")

    def test_inputs_that_are_too_large(self):
        for sizes in (str(2**62), str(2**63), "9" * 5000, "65536,65536"):
            self.check("H0209", "user_models:Net", f"float32[*,{sizes}]", do="one sample")

    def test_an_example_that_memory_does_not_hold(self):
        spec = inputs.Input("x", "float64", [None, 2**50], f"float64[*,{2**50}]")
        with self.assertRaises(ExportError) as caught:
            inputs.example_tensor(spec, 5)
        self.assertEqual(caught.exception.id, "H0209")
        self.assertIn(spec.text, caught.exception.what)

    def test_inputs_that_do_not_fit_forward(self):
        two = "user_forwards:TwoInputs"
        self.check("H0210", two, "idz=int64[*,8]", do="`ids`")
        self.check("H0210", two, "int64[*,8]", "float32[*,8]")
        self.check("H0210", two, "ids=int64[*,8]", "ids=int64[*,8]")
        self.check("H0210", two, "mask=int64[*,8]", why="`ids`")
        self.check("H0220", two, "ids=int64[*,8]", forward={"ids": 3})
        self.check("H0220", two, "ids=int64[*,8]", forward={"scala": 3})
        self.check("H0220", two, "ids=int64[*,8]", forward={"scale": {"a": 3}})

    def test_a_forward_that_fails_on_the_input(self):
        self.check("H0211", "user_models:Net", "float32[*,5]")
        self.check("H0211", "user_models:Net", "int64[*,4]")
        self.check("H0211", "user_forwards:Raising", where=marked("raising"), why="out of coffee")
        self.check("H0211", "torchvision.models:resnet18", "float32[*,1,32,32]", why="channels")

    def test_control_flow_that_depends_on_data(self):
        for name, mark in (
            ("Branch", "branch"),
            ("WhileLoop", "while"),
            ("Nonzero", "nonzero"),
            ("Item", "item"),
            ("Selected", "selected"),
        ):
            self.check("H0212", f"user_forwards:{name}", where=marked(mark))

    def test_code_that_no_graph_can_hold(self):
        self.check(
            "H0213",
            "user_forwards:CustomAutograd",
            where=marked("custom_autograd"),
            why="backward",
        )
        self.check("H0213", "user_forwards:KeptAutograd", where=marked("kept_autograd"))
        self.check("H0214", "user_forwards:Scripted")
        self.check("H0214", "user_forwards:ScriptFunctionHeld", where=marked("script_function"))
        self.check("H0214", "user_forwards:ScriptFunctionCalled", where=marked("script_called"))
        self.check("H0218", "user_forwards:OpaqueOutput", where=marked("opaque_output"))
        self.check("H0222", "user_forwards:PythonChance", where=marked("python_chance"))
        self.check("H0222", "user_forwards:NumpyChance", where=marked("numpy_chance"))

    def test_operators_that_are_not_pytorchs_own(self):
        self.check("H0226", "user_forwards:CustomOperator", where=marked("custom_operator"))
        self.check("H0226", "user_forwards:Conditional", where=marked("conditional"))

    def test_complex_numbers(self):
        self.check("H0225", "user_models:Fourier", where=marked("fourier"))

    def test_a_batch_that_is_a_constant(self):
        self.check("H0215", "user_forwards:FixedBatch", where=marked("fixed_batch"))
        self.check("H0215", "user_forwards:AssertedBatch", where=marked("asserted_batch"))

    def test_state_that_cannot_be_carried(self):
        self.check("H0216", "user_models:frozen")
        for name in ("Overlapping", "Lazy", "Complex", "on_meta", "Sparse", "Quantised"):
            self.check("H0217", f"user_models:{name}")
        self.check("H0217", "user_models:ExtraState", where=marked("extra_state"))

    def test_a_forward_without_an_output(self):
        self.check("H0221", "user_forwards:NoOutput")


class Catalogue(unittest.TestCase):
    def test_every_id_of_the_exporter_has_a_row(self):
        used = set()
        for name in os.listdir(os.path.join(ROOT, "hydro")):
            if name.endswith(".py"):
                with open(os.path.join(ROOT, "hydro", name)) as file:
                    used |= set(re.findall(r'"(H0\d{3})"', file.read()))
        rows = set()
        for part in ("export", "program"):
            path = os.path.join(ROOT, "..", "hydro", "base", f"catalogue_{part}.cpp")
            with open(path) as file:
                rows |= set(re.findall(r'row\("(H0\d{3})"', file.read()))
        self.assertGreater(len(used), 20)
        self.assertEqual(used - rows, set())


class Program(unittest.TestCase):
    """As the command line starts it: a process, its exit code and its streams."""

    def run_export(self, *words, **options):
        environment = os.environ | {"PYTHONPATH": ROOT}
        program = [sys.executable, "-m", "hydro.export", *words]
        return subprocess.run(
            program, env=environment, capture_output=True, text=True, check=False, **options
        )

    def test_a_refusal_is_one_json_object_on_the_last_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt2")
            done = self.run_export(*command("user_forwards:Branch", (), path), "--json")
            self.assertEqual((done.returncode, done.stdout, os.listdir(folder)), (2, "", []))
        error = json.loads(done.stderr.splitlines()[-1])
        self.assertEqual(sorted(error), ["do", "id", "what", "where", "why"])
        self.assertEqual((error["id"], error["where"]), ("H0212", marked("branch")))

    def test_without_json_it_is_readable_and_shows_the_line(self):
        done = self.run_export(*command("user_models:raising", (), "model.pt2"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("error[H0204]", done.stderr)
        self.assertIn("| return torch.zeros(3) + torch.zeros(4)", done.stderr)
        self.assertIn("   do: ", done.stderr)

    def test_what_the_model_prints_goes_to_stderr(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt2")
            done = self.run_export(*command("user_forwards:Noisy", (), path))
            self.assertEqual(
                (done.returncode, done.stdout, os.listdir(folder)), (0, "", ["model.pt2"])
            )
        self.assertIn("hello from the user's model", done.stderr)

    def test_a_missing_torch_is_an_environment_error(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "torch.py"), "w") as file:
                file.write("raise ImportError('no torch here')\n")
            environment = os.environ | {"PYTHONPATH": os.pathsep.join((folder, ROOT))}
            program = [
                sys.executable,
                "-m",
                "hydro.export",
                *command("user_models:Net", (), "x.pt2"),
                "--json",
            ]
            done = subprocess.run(
                program, env=environment, capture_output=True, text=True, check=False
            )
        self.assertEqual(
            (done.returncode, json.loads(done.stderr.splitlines()[-1])["id"]), (3, "H0801")
        )

    def test_a_stopped_export_says_so_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            words = command("user_models:stops_itself", (), os.path.join(folder, "model.pt2"))
            done = self.run_export(*words, "--json")
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(
            (done.returncode, json.loads(done.stderr.splitlines()[-1])["id"]), (75, "H0227")
        )

    def test_bad_usage(self):
        done = self.run_export("user_models:Net", "--json")
        self.assertEqual(
            (done.returncode, json.loads(done.stderr.splitlines()[-1])["id"]), (2, "H0228")
        )

    def test_an_output_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            places = (
                (folder, "a folder"),
                (os.path.join(folder, "none", "model.pt2"), "no folder"),
                (pipe, "no regular file"),
                ("/proc/model.pt2", "Error"),
            )
            for path, why in places:
                with self.subTest(path):
                    # The target is not there: what is wrong with the output was found before.
                    words = command("no_such_module_anywhere:build", (), path)
                    with self.assertRaises(ExportError) as caught:
                        export.export_file(export.parse(words))
                    error = caught.exception
                    self.assertEqual((error.id, error.exit_code), ("H0219", 5))
                    self.assertIn(why, error.why)
                    self.assertIn("-o", error.do)
            self.assertEqual(os.listdir(folder), ["pipe"])

    def test_an_unknown_failure_is_reported_as_ours(self):
        error = export.unexpected(ZeroDivisionError("division by zero"))
        self.assertEqual((error.id, error.exit_code), ("H0229", 2))


if __name__ == "__main__":
    unittest.main()
