"""Models of the package transformers, from a config and without a changed line."""

import math
import unittest

from support import export_model, refusal

TEXT = "input_ids=int64[*,12]"
MASK = "attention_mask=int64[*,12]"
GPT2 = {"n_layer": 2, "n_embd": 8, "n_head": 2, "vocab_size": 20, "n_positions": 12}
BERT = {
    "num_hidden_layers": 1,
    "hidden_size": 8,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "vocab_size": 20,
    "max_position_embeddings": 12,
}


def export(model, config, *inputs, forward=None, **kwargs):
    nested = {"config": {"call": f"transformers:{config}", "kwargs": kwargs}}
    return export_model(f"transformers:{model}", *inputs, kwargs=nested, forward=forward or {})


def aten(exported, mode="train"):
    return [t.removeprefix("torch.ops.aten.") for t in exported.targets(mode)]


class Gpt2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exported = export("GPT2LMHeadModel", "GPT2Config", TEXT, **GPT2)

    def test_the_head_is_tied_to_the_embedding(self):
        ties = {e["name"]: e["tie"] for e in self.exported.manifest["state"] if e["tie"]}
        self.assertEqual(ties, {"lm_head.weight": "transformer.wte.weight"})

    def test_the_cache_is_switched_off(self):
        self.assertEqual(self.exported.manifest["outputs"], [{"name": "logits", "index": 0}])
        self.assertEqual(self.exported.manifest["forward"], {"use_cache": False})

    def test_residual_projections_start_smaller(self):
        for name, std in (
            ("transformer.wte.weight", 0.02),
            ("transformer.h.0.attn.c_attn.weight", 0.02),
            ("transformer.h.0.attn.c_proj.weight", 0.02 / math.sqrt(2 * 2)),
            ("transformer.h.1.mlp.c_proj.weight", 0.02 / math.sqrt(2 * 2)),
        ):
            law = self.exported.law(name)
            self.assertEqual(
                (law["law"], law["mean"], law["source"]), ("normal", 0, "recorded")
            )
            self.assertAlmostEqual(law["std"], std, places=12)

    def test_both_attentions(self):
        self.assertEqual(aten(self.exported).count("scaled_dot_product_attention.default"), 2)
        eager = export(
            "GPT2LMHeadModel", "GPT2Config", TEXT, attn_implementation="eager", **GPT2
        )
        self.assertEqual(aten(eager).count("softmax.int"), 2)

    def test_with_labels_it_returns_its_loss(self):
        exported = export("GPT2LMHeadModel", "GPT2Config", TEXT, "labels=int64[*,12]", **GPT2)
        self.assertEqual([o["name"] for o in exported.manifest["outputs"]], ["loss", "logits"])
        self.assertIn("cross_entropy_loss.default", aten(exported))

    def test_a_cache_that_is_asked_for_is_refused_with_the_way_out(self):
        nested = {"config": {"call": "transformers:GPT2Config", "kwargs": GPT2}}
        error = refusal(
            "transformers:GPT2LMHeadModel", TEXT, kwargs=nested, forward={"use_cache": True}
        )
        self.assertEqual(error.id, "H0218")
        self.assertIn("use_cache: false", error.do)


class Others(unittest.TestCase):
    def test_gpt_neo(self):
        exported = export(
            "GPTNeoForCausalLM",
            "GPTNeoConfig",
            TEXT,
            num_layers=2,
            hidden_size=8,
            num_heads=2,
            vocab_size=20,
            max_position_embeddings=12,
            attention_types=[[["global", "local"], 1]],
            window_size=4,
        )
        self.assertEqual(aten(exported).count("softmax.int"), 2)
        self.assertEqual(exported.law("transformer.h.0.mlp.c_proj.weight")["std"], 0.02)

    def test_bert_with_masked_words(self):
        exported = export("BertForMaskedLM", "BertConfig", TEXT, MASK, **BERT)
        ties = {e["name"]: e["tie"] for e in exported.manifest["state"] if e["tie"]}
        self.assertEqual(
            ties["cls.predictions.decoder.weight"], "bert.embeddings.word_embeddings.weight"
        )
        self.assertEqual(
            [i["name"] for i in exported.manifest["inputs"]], ["input_ids", "attention_mask"]
        )

    def test_bert_for_classification(self):
        exported = export(
            "BertForSequenceClassification", "BertConfig", TEXT, MASK, num_labels=3, **BERT
        )
        words = exported.laws("bert.embeddings.word_embeddings.weight")
        self.assertEqual([p["rows"] for p in words], [[0, 1], [1, 20]])
        self.assertEqual([p["law"] for p in words], ["constant", "normal"])

    def test_swin(self):
        exported = export(
            "SwinForImageClassification",
            "SwinConfig",
            "pixel_values=float32[*,3,16,16]",
            image_size=16,
            patch_size=2,
            embed_dim=8,
            depths=[2],
            num_heads=[2],
            window_size=4,
            num_labels=5,
        )
        self.assertIn("rand.default", aten(exported))
        self.assertNotIn("rand.default", aten(exported, "eval"))

    def test_llamas_angles_are_plain_nodes(self):
        exported = export(
            "LlamaForCausalLM",
            "LlamaConfig",
            TEXT,
            num_hidden_layers=1,
            hidden_size=16,
            num_attention_heads=2,
            intermediate_size=16,
            vocab_size=20,
            max_position_embeddings=12,
        )
        self.assertFalse([t for t in exported.targets("train") if "higher_order" in t])
        self.assertIn("cos.default", aten(exported))


if __name__ == "__main__":
    unittest.main()
