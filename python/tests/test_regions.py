"""Regions without gradients or with autocast off become plain nodes of the graph."""

import unittest

from support import export_model, marked, refusal


def targets(exported, mode="train"):
    return [t.removeprefix("torch.ops.aten.") for t in exported.targets(mode)]


class Regions(unittest.TestCase):
    def test_no_graph_inside_a_graph_is_left(self):
        for name, shape in (("Rotary", "[*,6,4]"), ("StopsGradient", "[*,4]")):
            exported = export_model(f"user_nets:{name}", "float32" + shape)
            for mode in ("train", "eval"):
                self.assertFalse(
                    [t for t in exported.targets(mode) if "higher_order" in t], name
                )

    def test_what_needs_no_gradient_is_not_detached(self):
        exported = export_model("user_nets:Rotary", "float32[*,6,4]")
        self.assertEqual(
            [t for t in targets(exported) if t not in ("linear.default", "mul.Tensor")],
            ["arange.default", "outer.default", "cos.default"],
        )

    def test_nodes_keep_the_users_line(self):
        graph = export_model("user_nets:Rotary", "float32[*,6,4]").graph("train")
        (cosine,) = [n for n in graph["nodes"] if n["target"].endswith("cos.default")]
        file, _, line = marked("angles").rpartition(":")
        self.assertIn(f'File "{file}", line {line}', cosine["metadata"]["stack_trace"])

    def test_a_value_that_trains_is_detached_in_the_train_graph_only(self):
        exported = export_model("user_nets:StopsGradient")
        self.assertEqual(
            targets(exported),
            ["linear.default", "detach.default", "tanh.default", "mul.Tensor", "sub.Tensor"],
        )
        self.assertNotIn("detach.default", targets(exported, "eval"))

    def test_a_buffer_that_follows_the_data_is_changed_in_the_graph(self):
        exported = export_model("user_nets:KeepsAverage")
        self.assertEqual(
            targets(exported),
            [
                "linear.default",
                "detach.default",
                "mul_.Tensor",
                "mean.dim",
                "add_.Tensor",
                "sub.Tensor",
            ],
        )

    def test_gradients_that_are_switched_on_again_flow(self):
        exported = export_model("user_nets:GradientInside")
        self.assertEqual(
            targets(exported),
            ["linear.default", "detach.default", "mul.Tensor", "linear.default", "mul.Tensor"],
        )

    def test_regions_that_mean_more_are_refused(self):
        for name, mark in (
            ("ScalesWithoutGradient", "in_place_without_gradient"),
            ("InLowerPrecision", "autocast"),
        ):
            error = refusal(f"user_nets:{name}")
            self.assertEqual((error.id, error.where), ("H0218", marked(mark)))


if __name__ == "__main__":
    unittest.main()
