"""The laws of whole families equal the numbers of their constructors, parameter by parameter."""

import math
import unittest

import torch
import torchvision
import transformers

import support  # noqa: F401 (the path to hydro)
from hydro.initialization import Builder
from hydro.seeds import Seeds

TRUNCATED = {"law": "truncated_normal", "mean": 0, "std": 0.02, "low": -2, "high": 2}


def normal(std):
    return {"law": "normal", "mean": 0, "std": std}


def uniform(bound):
    return {"law": "uniform", "low": -bound, "high": bound}


def constant(value):
    return {"law": "constant", "value": value}


def of_norm_or_bias(name):
    return constant(1.0 if name.endswith("weight") else 0.0)


class FamilyLaws(unittest.TestCase):
    def check(self, make, expected):
        """`expected` gives the law of a parameter from its name, its layer and itself; laws of
        rows in a list; None where nothing is recorded and the builds decide.
        """
        with Seeds() as seeds:
            build = Builder(make, seeds).build()
        for name, pieces in build.laws.items():
            parameter = build.model.get_parameter(name)
            layer = build.model.get_submodule(name.rpartition(".")[0])
            wanted = expected(name, layer, parameter)
            if wanted is None:
                continue
            wanted = wanted if isinstance(wanted, list) else [wanted]
            found = [law.as_json(a, b) for a, b, law in pieces]
            self.assertEqual(len(found), len(wanted), (name, found))
            for law, numbers in zip(found, wanted, strict=True):
                self.assertEqual(
                    (law["law"], law["source"]), (numbers["law"], "recorded"), name
                )
                for key, value in numbers.items():
                    if key != "law":
                        self.assertAlmostEqual(
                            law[key], value, delta=1e-12 * abs(value), msg=f"{name} {key}"
                        )

    def test_mobilenet_v3(self):
        def expected(name, layer, parameter):
            if isinstance(layer, torch.nn.Conv2d) and parameter.dim() == 4:
                out, _, height, width = parameter.shape
                return normal(math.sqrt(2 / (out * height * width)))
            if isinstance(layer, torch.nn.Linear) and parameter.dim() == 2:
                return normal(0.01)
            return of_norm_or_bias(name if parameter.dim() == 1 else "")

        self.check(lambda: torchvision.models.mobilenet_v3_small(num_classes=10), expected)

    def test_torchvisions_vision_transformer(self):
        def expected(name, layer, parameter):
            if name.startswith("heads") or name == "class_token":
                return constant(0.0)
            if name == "conv_proj.weight":
                fan_in = parameter[0].numel()
                return TRUNCATED | {"std": math.sqrt(1 / fan_in)}
            if name.endswith("pos_embedding"):
                return normal(0.02)
            if "in_proj_weight" in name or ("mlp" in name and parameter.dim() == 2):
                return uniform(math.sqrt(6 / sum(parameter.shape)))
            if "mlp" in name:
                return normal(1e-6)
            if name.endswith("out_proj.weight"):
                return uniform(1 / math.sqrt(parameter.shape[1]))
            return of_norm_or_bias(name)

        self.check(
            lambda: torchvision.models.VisionTransformer(
                image_size=32,
                patch_size=8,
                num_layers=2,
                num_heads=4,
                hidden_dim=16,
                mlp_dim=32,
                num_classes=10,
            ),
            expected,
        )

    def test_torchvisions_swin(self):
        def expected(name, layer, parameter):
            if isinstance(layer, torch.nn.Conv2d):
                return uniform(1 / math.sqrt(layer.weight[0].numel()))
            if name.endswith("relative_position_bias_table") or parameter.dim() == 2:
                return TRUNCATED
            return of_norm_or_bias(name)

        self.check(
            lambda: torchvision.models.SwinTransformer(
                patch_size=[4, 4],
                embed_dim=8,
                depths=[1, 1],
                num_heads=[1, 2],
                window_size=[4, 4],
                num_classes=10,
            ),
            expected,
        )

    def test_lstm(self):
        self.check(
            lambda: torch.nn.LSTM(4, 16, 2),
            lambda name, layer, parameter: uniform(1 / math.sqrt(16)),
        )

    def test_gpt2(self):
        def expected(name, layer, parameter):
            if name.endswith("c_proj.weight"):
                return normal(0.02 / math.sqrt(2 * 3))
            return normal(0.02) if parameter.dim() == 2 else of_norm_or_bias(name)

        config = transformers.GPT2Config(
            n_layer=3, n_embd=8, n_head=2, vocab_size=20, n_positions=12
        )
        self.check(lambda: transformers.GPT2LMHeadModel(config), expected)

    def test_bert(self):
        def expected(name, layer, parameter):
            if name.endswith("word_embeddings.weight"):
                return [constant(0.0), normal(0.02)]  # the padding row
            if name == "cls.predictions.bias":
                return None  # tying pads it by nothing
            return normal(0.02) if parameter.dim() == 2 else of_norm_or_bias(name)

        config = transformers.BertConfig(
            num_hidden_layers=2,
            hidden_size=8,
            num_attention_heads=2,
            intermediate_size=16,
            vocab_size=20,
            max_position_embeddings=12,
        )
        self.check(lambda: transformers.BertForMaskedLM(config), expected)

    def test_transformers_swin(self):
        def expected(name, layer, parameter):
            if name.endswith("relative_position_bias_table"):
                return constant(0.0)
            return normal(0.02) if parameter.dim() > 1 else of_norm_or_bias(name)

        config = transformers.SwinConfig(
            image_size=16, patch_size=2, embed_dim=8, depths=[2], num_heads=[2], window_size=4
        )
        self.check(lambda: transformers.SwinForImageClassification(config), expected)


if __name__ == "__main__":
    unittest.main()
