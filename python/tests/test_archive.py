"""What an archive holds: graphs, state, inputs, outputs, schemas; docs/model-archive.md."""

import hashlib
import json
import os
import tempfile
import unittest

import torch

from support import HERE, Exported, command, export, export_model


class State(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exported = export_model("user_models:Stateful")

    def test_entries_have_kinds_ties_and_shapes_in_state_dict_order(self):
        found = [(e["name"], e["kind"], e["tie"]) for e in self.exported.manifest["state"]]
        self.assertEqual(
            found,
            [
                ("frozen", "frozen", None),
                ("unused", "parameter", None),
                ("scale", "buffer", None),
                ("inner.weight", "parameter", None),
                ("outer.weight", "parameter", "inner.weight"),
                ("mask", "nonpersistent", None),
            ],
        )
        self.assertEqual(
            [e["shape"] for e in self.exported.manifest["state"]],
            [[4], [3], [4], [4, 4], [4, 4], [4]],
        )

    def test_parameters_are_stripped_and_the_rest_keeps_its_data(self):
        for mode in ("train", "eval"):
            config = json.loads(
                self.exported.entries[f"data/weights/{mode}_weights_config.json"]
            )["config"]
            sizes = {
                name: len(self.exported.entries["data/weights/" + c["path_name"]])
                for name, c in config.items()
            }
            self.assertEqual(
                sizes,
                {"frozen": 16, "unused": 0, "scale": 16, "inner.weight": 0, "outer.weight": 0},
            )
            data = self.exported.entries["data/weights/" + config["frozen"]["path_name"]]
            self.assertEqual(
                torch.frombuffer(bytearray(data), dtype=torch.float32).tolist(), [0, 1, 2, 3]
            )
            constants = json.loads(
                self.exported.entries[f"data/constants/{mode}_constants_config.json"]
            )["config"]
            self.assertEqual(list(constants), ["mask"])

    def test_laws_are_listed_for_holders_only(self):
        self.assertEqual(
            list(self.exported.manifest["initialization"]), ["unused", "inner.weight"]
        )

    def test_nothing_is_pickled(self):
        for name, content in self.exported.entries.items():
            self.assertFalse(name.endswith((".pt", ".pkl")), name)
            if name.endswith("_config.json"):
                self.assertFalse(
                    any(c["use_pickle"] for c in json.loads(content)["config"].values()), name
                )


class Graphs(unittest.TestCase):
    def test_train_and_eval_graphs_differ_where_the_model_does(self):
        exported = export_model("user_forwards:Dropping")
        self.assertIn("torch.ops.aten.dropout.default", exported.targets("train"))
        self.assertNotIn("torch.ops.aten.dropout.default", exported.targets("eval"))

    def test_every_operator_has_its_full_schema(self):
        exported = export_model("user_forwards:Dropping")
        used = {t for mode in ("train", "eval") for t in exported.targets(mode)}
        schemas = exported.manifest["schemas"]
        self.assertEqual({f"torch.ops.{name}" for name in schemas}, used)
        self.assertEqual(
            schemas["aten.linear.default"],
            "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
        )

    def test_the_batch_may_be_any_axis(self):
        exported = export_model("user_forwards:TimeFirst", "float32[7,*,4]")
        self.assertEqual(
            exported.manifest["inputs"],
            [{"name": "x", "dtype": "float32", "shape": [7, None, 4], "batch_axis": 1}],
        )
        first, batch, _ = exported.graph("train")["tensor_values"]["x"]["sizes"]
        self.assertEqual(first, {"as_int": 7})
        self.assertIn("as_expr", batch)

    def test_the_example_batch_is_no_size_of_the_model(self):
        self.assertEqual(export_model("user_models:mlp").manifest["examples"], {"batch": 5})
        self.assertEqual(
            export_model("user_models:mlp", kwargs={"width": 5}).manifest["examples"],
            {"batch": 7},
        )

    def test_what_forward_takes_from_numpy_is_carried_by_the_strict_fallback(self):
        self.assertIn(
            "torch.ops.aten.linear.default",
            export_model("user_forwards:NumpyForward").targets("train"),
        )


class InputsAndOutputs(unittest.TestCase):
    def test_inputs_are_in_the_order_of_forward(self):
        exported = export_model("user_forwards:TwoInputs", "mask=float32[*,8]", "ids=int64[*,8]")
        self.assertEqual([i["name"] for i in exported.manifest["inputs"]], ["ids", "mask"])
        names = [e["as_tensor"]["name"] for e in exported.graph("train")["inputs"]]
        self.assertEqual(names[-2:], ["ids", "mask"])

    def test_forward_constants_are_baked_in(self):
        exported = export_model(
            "user_forwards:TwoInputs", "ids=int64[*,8]", forward={"scale": 0.5, "as_dict": True}
        )
        self.assertEqual(exported.manifest["forward"], {"scale": 0.5, "as_dict": True})
        arguments = [
            n["inputs"][1]["arg"]
            for n in exported.graph("train")["nodes"]
            if n["target"].endswith("mul.Tensor")
        ]
        self.assertIn({"as_float": 0.5}, arguments)

    def outputs(self, target, *inputs, **options):
        return [
            (o["name"], o["index"])
            for o in export_model(target, *inputs, **options).manifest["outputs"]
        ]

    def test_outputs_are_named_by_keys_fields_and_places(self):
        self.assertEqual(self.outputs("user_models:Net"), [("output", 0)])
        self.assertEqual(
            self.outputs("user_forwards:TwoInputs", "int64[*,8]"),
            [("output.0", 0), ("output.1", 1)],
        )
        named = self.outputs("user_forwards:TwoInputs", "int64[*,8]", forward={"as_dict": True})
        self.assertEqual(named, [("logits", 0), ("hidden.0", 1), ("hidden.1", 2)])
        self.assertEqual(self.outputs("user_forwards:NamedOutput"), [("logits", 0), ("loss", 2)])


class Callables(unittest.TestCase):
    def test_nested_calls_build_arguments(self):
        exported = export_model(
            "user_models:configured",
            kwargs={"config": {"call": "user_models:Config", "kwargs": {"width": 6}}},
        )
        self.assertEqual(exported.manifest["state"][0]["shape"], [6, 4])
        nested = {"call": "torch.nn:Tanh"}
        self.assertIn(
            "torch.ops.aten.tanh.default",
            export_model("user_models:mlp", args=[8, 1, nested]).targets("eval"),
        )

    def test_a_file_is_a_target_and_attributes_may_be_paths(self):
        for target in ("./user_models.py:namespace.Net", "user_models:namespace.Net"):
            self.assertEqual(export_model(target).manifest["state"][0]["name"], "fc.weight")

    def test_the_callables_file_is_fingerprinted_first(self):
        file = export_model("user_models:Net").manifest["callable"]["files"][0]
        with open(os.path.join(HERE, "user_models.py"), "rb") as source:
            self.assertEqual(file["sha256"], hashlib.sha256(source.read()).hexdigest())

    def test_versions_are_noted(self):
        versions = export_model("user_models:Net").manifest["versions"]
        self.assertEqual(versions["torch"], torch.__version__.split("+")[0])

    def test_equal_models_give_equal_files(self):
        with tempfile.TemporaryDirectory() as folder:
            contents = []
            for name in ("a.pt2", "b.pt2"):
                path = os.path.join(folder, name)
                export.export_file(export.parse(command("user_models:Net", (), path)))
                with open(path, "rb") as file:
                    contents.append(file.read())
            self.assertEqual(contents[0], contents[1])
            self.assertEqual(sorted(os.listdir(folder)), ["a.pt2", "b.pt2"])

    def test_the_fixtures_of_the_reader_are_archives_of_this_exporter(self):
        folder = os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "data")
        names = [n for n in os.listdir(folder) if n.endswith(".pt2")]
        self.assertGreaterEqual(len(names), 8)
        for name in names:
            exported = Exported(os.path.join(folder, name))
            self.assertEqual(exported.manifest["format"], 1)
            self.assertLess(os.path.getsize(os.path.join(folder, name)), 150_000)


if __name__ == "__main__":
    unittest.main()
