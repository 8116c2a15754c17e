"""Every kind of law is found, and equals the constructor's own numbers."""

import math
import unittest

import torchvision

from support import export_model, refusal

from hydro.initialization import Builder
from hydro.seeds import Seeds


def made(maker, **options):
    return export_model("user_laws:own", kwargs={"maker": maker}, **options)


def recorded(make):
    """(model, laws by name) as one build records them; the statistics over more builds are
    tested elsewhere.
    """
    with Seeds() as seeds:
        build = Builder(make, seeds).build()
    return build.model, {
        n: [law.as_json(a, b) for a, b, law in pieces] for n, pieces in build.laws.items()
    }


class RecordedLaws(unittest.TestCase):
    def check(self, law, kind, **numbers):
        self.assertEqual((law["law"], law["source"]), (kind, "recorded"))
        for key, value in numbers.items():
            self.assertAlmostEqual(law[key], value, delta=1e-12 * abs(value), msg=key)

    def test_resnet18_has_its_constructors_laws(self):
        exported = export_model(
            "torchvision.models:resnet18", "float32[*,3,28,28]", kwargs={"num_classes": 10}
        )
        model = torchvision.models.resnet18(num_classes=10)
        for name, parameter in model.named_parameters():
            self.check_convolution_net(exported.law(name), name, parameter, fan_in_of_head=512)
        self.check(exported.law("conv1.weight"), "normal", mean=0, std=math.sqrt(2 / (64 * 49)))
        self.check(
            exported.law("fc.weight"),
            "uniform",
            low=-1 / math.sqrt(512),
            high=1 / math.sqrt(512),
        )

    def test_wide_resnet50_2_has_its_constructors_laws(self):
        model, pieces = recorded(lambda: torchvision.models.wide_resnet50_2(num_classes=10))
        for name, parameter in model.named_parameters():
            (piece,) = pieces[name]
            self.check_convolution_net(piece, name, parameter, fan_in_of_head=2048)

    def test_vgg11_bn_has_its_constructors_laws(self):
        model, laws = recorded(lambda: torchvision.models.vgg11_bn(num_classes=10))
        self.assertEqual(len(laws), 8 * 4 + 6)
        for name, parameter in model.named_parameters():
            (law,) = laws[name]
            if parameter.dim() == 4:
                self.check(law, "normal", mean=0, std=math.sqrt(2 / (parameter.shape[0] * 9)))
            elif parameter.dim() == 2:
                self.check(law, "normal", mean=0, std=0.01)
            else:
                gain = parameter.dim() == 1 and name.endswith("weight")
                self.check(law, "constant", value=1.0 if gain else 0.0)

    def check_convolution_net(self, law, name, parameter, fan_in_of_head):
        self.assertEqual(law["rows"], [0, parameter.shape[0]])
        if parameter.dim() == 4:
            out, _, height, width = parameter.shape
            self.check(law, "normal", mean=0, std=math.sqrt(2 / (out * height * width)))
        elif name.startswith("fc."):
            bound = 1 / math.sqrt(fan_in_of_head)
            self.check(law, "uniform", low=-bound, high=bound)
        else:
            self.check(law, "constant", value=1.0 if name.endswith("weight") else 0.0)

    def test_linear_layers_are_uniform_within_the_root_of_their_fan_in(self):
        exported = export_model("user_models:mlp", kwargs={"width": 16})
        for name, fan_in in (("0.weight", 4), ("0.bias", 4), ("2.weight", 16), ("3.bias", 16)):
            bound = 1 / math.sqrt(fan_in)
            self.check(exported.law(name), "uniform", low=-bound, high=bound)

    def test_the_padding_row_of_an_embedding_is_zero(self):
        exported = export_model("user_laws:Embedded", "int64[*,6]")
        padding, rest = exported.laws("table.weight")
        self.assertEqual((padding["rows"], rest["rows"]), ([0, 1], [1, 10]))
        self.check(padding, "constant", value=0)
        self.check(rest, "normal", mean=0, std=1)

    def test_fills_of_torch(self):
        rows = {
            "kaiming": ("normal", {"mean": 0, "std": math.sqrt(2 / 20)}),
            "xavier": ("uniform", {"low": -math.sqrt(6 / 50), "high": math.sqrt(6 / 50)}),
            "constant": ("constant", {"value": 0.25}),
            "logit_scale": ("constant", {"value": 2.5}),
            "own_generator": ("normal", {"mean": 0, "std": 1}),
        }
        for maker, (kind, numbers) in rows.items():
            with self.subTest(maker):
                self.check(made(maker).law("w"), kind, **numbers)

    def test_truncated_normal_keeps_its_parent_and_its_cuts(self):
        rows = {
            "trunc_normal": {"mean": 0, "std": 0.5, "low": -0.5, "high": 0.7},
            "trunc_normal_shifted": {"mean": 1.0, "std": 0.02, "low": -2, "high": 2},
            "trunc_normal_scaled": {"mean": 0, "std": 0.1, "low": -0.2, "high": 0.2},
        }
        for maker, numbers in rows.items():
            with self.subTest(maker):
                self.check(made(maker).law("w"), "truncated_normal", **numbers)

    def test_arithmetic_with_plain_numbers_carries_the_law(self):
        rows = {
            "scaled_randn": ("normal", {"mean": 0, "std": 0.02}),
            "shifted_rand": ("uniform", {"low": -1, "high": 1}),
            "divided": ("normal", {"mean": 1, "std": 0.125}),
        }
        for maker, (kind, numbers) in rows.items():
            with self.subTest(maker):
                self.check(made(maker).law("w"), kind, **numbers)

    def test_copies_and_layouts_carry_the_law(self):
        for maker in ("cloned", "transposed", "channels_last"):
            with self.subTest(maker):
                self.check(made(maker).law("w"), "normal", mean=0, std=1)

    def test_laws_differ_by_rows(self):
        gates = made("gates").laws("w")
        self.assertEqual([g["rows"] for g in gates], [[0, 8], [8, 16], [16, 32]])
        self.check(gates[1], "constant", value=1)
        zero, rest = made("zero_row").laws("w")
        self.assertEqual((zero["rows"], rest["rows"]), ([0, 1], [1, 20]))

    def test_a_seed_inside_the_callable_is_ignored(self):
        law = export_model("user_laws:seeded").law("w")
        self.assertEqual((law["law"], law["source"]), ("normal", "fitted"))
        self.assertAlmostEqual(law["std"], 1, delta=0.03)


class FittedLaws(unittest.TestCase):
    def test_numpy_draws_are_fitted_to_three_digits(self):
        law = made("numpy_normal").law("w")
        self.assertEqual((law["law"], law["source"], law["mean"]), ("normal", "fitted", 0))
        self.assertAlmostEqual(law["std"], 0.3, delta=0.005)
        self.assertEqual(law["std"], float(f"{law['std']:.3g}"))
        law = made("numpy_uniform").law("w")
        self.assertEqual((law["law"], law["low"], law["high"]), ("uniform", 0, 0.1))

    def test_values_changed_behind_pytorchs_back_are_fitted(self):
        law = made("written_anew").law("w")
        self.assertEqual((law["law"], law["source"]), ("normal", "fitted"))
        self.assertAlmostEqual(law["std"], 3, delta=0.15)

    def test_equal_values_are_constants(self):
        law = made("computed_constant").law("w")
        self.assertEqual((law["law"], law["value"]), ("constant", 2))
        self.assertEqual(
            [(p["rows"], p["value"]) for p in made("listed").laws("w")],
            [([0, 1], 1), ([1, 2], 2)],
        )

    def test_a_fitted_law_warns(self):
        (warning,) = made("numpy_normal").manifest["warnings"]
        self.assertIn("`w`", warning)

    def test_layers_that_are_copies_of_one_another_warn(self):
        warnings = export_model("user_laws:Cloned").manifest["warnings"]
        self.assertIn("`second.weight` starts equal to `first.weight`", warnings[0])


class NoLaw(unittest.TestCase):
    REASONS = {
        "orthogonal": "linalg_qr",
        "numpy_orthogonal": "length of its rows",
        "uneven_columns": "spread at one place",
        "lognormal": "neither as a normal nor as a uniform",
        "clamped": "clamped",
        "columns": "columns",
        "eye": "same pattern",
        "uninitialized": "torch.empty",
        "few": "too few",
        "not_finite": "not finite",
    }

    def test_each_is_refused_by_name_and_reason(self):
        for maker, reason in self.REASONS.items():
            with self.subTest(maker):
                error = refusal("user_laws:own", kwargs={"maker": maker})
                self.assertEqual(error.id, "H0208")
                self.assertIn("`w`", error.what)
                self.assertIn(reason, error.why)

    def test_a_law_that_changes_from_build_to_build_is_refused(self):
        error = refusal("user_laws:Changing")
        self.assertEqual(error.id, "H0208")
        self.assertIn("differs from build to build", error.why)

    def test_standard_initialization_replaces_it_and_says_so(self):
        exported = made("orthogonal", initialization="standard")
        law = exported.law("w")
        self.assertEqual(
            (law["law"], law["source"], law["low"], law["high"]),
            ("uniform", "standard", -0.125, 0.125),
        )
        self.assertIn("linalg_qr", exported.manifest["unrecorded"]["w"])
        self.assertIn("`w`", exported.manifest["warnings"][0])
        self.assertEqual(exported.law("head.weight")["source"], "recorded")

    def test_loaded_weights_are_refused(self):
        for maker in ("file", "numpy_seed", "behind_its_back"):
            for initialization in ("recorded", "standard"):
                with self.subTest(maker, initialization=initialization):
                    error = refusal(
                        "user_laws:own",
                        kwargs={"maker": maker},
                        initialization=initialization,
                    )
                    self.assertEqual(error.id, "H0207")
                    self.assertIn("`w`", error.what)


if __name__ == "__main__":
    unittest.main()
