"""Recurrent nets, encoders and nets over time export as their users write them."""

import math
import unittest

from support import export_model, marked, refusal


def lstm(**kwargs):
    shape = "int64[*,6]" if kwargs.get("batch_first", True) else "int64[6,*]"
    return export_model("user_nets:LstmLanguageModel", shape, kwargs=kwargs)


def aten(exported, mode="train"):
    return [t.removeprefix("torch.ops.aten.") for t in exported.targets(mode)]


def sizes_of(exported, mode, target):
    """Shapes of the outputs of the one node with that target; the batch is None."""
    graph = exported.graph(mode)
    (node,) = [n for n in graph["nodes"] if n["target"].endswith(target)]
    flat = [o["as_tensor"]["name"] for o in node["outputs"]]
    return [[s.get("as_int") for s in graph["tensor_values"][name]["sizes"]] for name in flat]


class Recurrent(unittest.TestCase):
    def test_an_lstm_is_one_operation(self):
        exported = lstm()
        self.assertEqual(
            aten(exported),
            ["sym_size.int", "embedding.default", "zeros.default", "zeros.default"]
            + ["lstm.input", "linear.default"],
        )
        self.assertEqual(
            sizes_of(exported, "train", "lstm.input"),
            [[None, 6, 8], [2, None, 8], [2, None, 8]],
        )

    def test_the_batch_may_be_second(self):
        exported = lstm(batch_first=False, layers=1)
        self.assertEqual(
            sizes_of(exported, "eval", "lstm.input"), [[6, None, 8], [1, None, 8], [1, None, 8]]
        )

    def test_other_recurrent_layers_are_one_operation_too(self):
        for kind, target in (("GRU", "gru.input"), ("RNN", "rnn_tanh.input")):
            exported = lstm(kind=kind)
            self.assertIn(target, aten(exported))
            self.assertEqual(
                sizes_of(exported, "train", target), [[None, 6, 8], [2, None, 8]], kind
            )

    def test_a_tied_embedding_is_one_parameter_with_its_padding_row(self):
        exported = lstm(tied=True)
        ties = {e["name"]: e["tie"] for e in exported.manifest["state"] if e["tie"]}
        self.assertEqual(ties, {"head.weight": "embedding.weight"})
        self.assertEqual(
            [p["rows"] for p in exported.laws("embedding.weight")], [[0, 1], [1, 11]]
        )
        self.assertNotIn("head.weight", exported.manifest["initialization"])


class StartsOfRecurrentNets(unittest.TestCase):
    def test_pytorchs_own(self):
        exported = lstm()
        bound = 1 / math.sqrt(8)
        for layer in (0, 1):
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                law = exported.law(f"rnn.{name}_l{layer}")
                self.assertEqual(
                    (law["law"], law["low"], law["high"]), ("uniform", -bound, bound)
                )

    def test_xavier_and_an_open_forget_gate(self):
        exported = export_model("user_nets:UsualStarts", "int64[*,6]")
        law = exported.law("rnn.weight_ih_l0")
        self.assertEqual((law["law"], law["source"]), ("normal", "recorded"))
        self.assertAlmostEqual(law["std"], math.sqrt(2 / (32 + 8)))
        self.assertAlmostEqual(exported.law("rnn.weight_hh_l0")["high"], math.sqrt(6 / 40))
        pieces = exported.laws("rnn.bias_ih_l0")
        self.assertEqual([p["rows"] for p in pieces], [[0, 8], [8, 16], [16, 32]])
        self.assertEqual([p["value"] for p in pieces], [0, 1, 0])
        self.assertEqual(exported.law("embedding.weight")["high"], 0.1)

    def test_every_gate_its_own_law(self):
        pieces = export_model("user_nets:GatesOneByOne", "int64[*,6]").laws("rnn.weight_ih_l0")
        self.assertEqual([p["rows"] for p in pieces], [[0, 8], [8, 16], [16, 24], [24, 32]])
        self.assertEqual([p["std"] for p in pieces], [0.1, 0.2, 0.3, 0.4])

    def test_orthogonal_ones_are_refused_by_name_and_line(self):
        error = refusal("user_nets:OrthogonalGates", "int64[*,6]")
        self.assertEqual(
            (error.id, error.where), ("H0208", marked("orthogonal"))
        )
        self.assertIn("`rnn.weight_hh_l0`", error.what)
        self.assertIn("torch.nn.init.orthogonal_", error.why)

    def test_hand_made_ones_are_refused_by_name_and_line(self):
        error = refusal("user_nets:OrthogonalConvolution", "float32[*,4,6]")
        self.assertEqual(
            (error.id, error.where), ("H0208", marked("hand_made"))
        )
        self.assertIn("`0.weight`", error.what)


class Encoders(unittest.TestCase):
    def test_layers_before_and_after_their_norm(self):
        for norm_first in (False, True):
            exported = export_model(
                "user_nets:EncoderLanguageModel",
                "int64[*,6]",
                kwargs={"norm_first": norm_first},
            )
            for mode in ("train", "eval"):
                self.assertEqual(
                    aten(exported, mode).count("scaled_dot_product_attention.default"), 2
                )
            law = exported.law("encoder.layers.1.self_attn.in_proj_weight")
            self.assertEqual((law["law"], law["high"]), ("uniform", math.sqrt(6 / (24 + 8))))
            self.assertEqual(exported.law("positions")["std"], 0.02)

    def test_copied_layers_warn_once(self):
        (warning,) = export_model("user_nets:EncoderLanguageModel", "int64[*,6]").manifest[
            "warnings"
        ]
        self.assertIn("`encoder.layers.1.self_attn.in_proj_weight` starts equal to", warning)
        self.assertIn("and 5 more", warning)


class Convolutions(unittest.TestCase):
    def test_over_time(self):
        exported = export_model("user_nets:ConvolutionsOverTime", "int64[*,6]")
        self.assertEqual(
            aten(exported),
            ["embedding.default", "transpose.int", "conv1d.default", "group_norm.default"]
            + ["gelu.default", "conv_transpose1d.default", "adaptive_avg_pool1d.default"]
            + ["flatten.using_ints", "linear.default"],
        )
        self.assertEqual(
            [p["rows"] for p in exported.laws("0.weight")], [[0, 3], [3, 4], [4, 11]]
        )

    def test_up_and_down(self):
        exported = export_model("user_nets:UpAndDown", "float32[*,3,8,8]")
        self.assertIn("conv_transpose2d.input", aten(exported))
        law = exported.law("up.weight")
        self.assertAlmostEqual(law["high"], 1 / math.sqrt(4 * 2 * 2))

    def test_a_net_may_end_in_log_softmax(self):
        self.assertEqual(aten(export_model("user_nets:Normalised"))[-1], "log_softmax.int")


if __name__ == "__main__":
    unittest.main()
