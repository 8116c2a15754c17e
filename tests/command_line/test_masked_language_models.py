"""Masked language models: the delivered weights give the reported values for the tokens that docs/data.md says are
hidden, in PyTorch alone."""

import math

import numpy
import torch
from safetensors.torch import load_file

from hiding import NO_LABEL, hide
from pieces import Pieces
from user_models import MaskedEncoder, bert
from workplace import HERE, Case, rows, small_job

BLOCK = 16
SHARE = 0.25
LICENSE = HERE.parents[1] / "LICENSE"
ADAMW = {"name": "adamw", "lr": {"loguniform": [1e-3, 1e-2]}}


def blocks_of(tokens):
    count = len(tokens) // BLOCK
    return numpy.array(tokens[: count * BLOCK], numpy.int64).reshape(count, BLOCK)


class MaskedLanguageModels(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "model.py").write_text((HERE / "user_models.py").read_text())
        (self.folder / "words.txt").write_bytes(LICENSE.read_bytes())

    def job(self, build, words, split=None, **train):
        base = {"task": "masked_language_model", "mask": SHARE, "epochs": 3, "batch_size": 32, "optimizer": ADAMW}
        job = small_job(None, train=base | train)
        job["model"] = {
            "export": f"./model.py:{build}",
            "kwargs": {"words": words},
            "input": {"input_ids": f"int64[*, {BLOCK}]"},
        }
        job["data"] = {
            "train": {"format": "text", "path": "words.txt", "block": BLOCK} | (split or {}),
            "val_share": 0.2,
            "seed": 5,
        }
        return job

    def reported(self, folder):
        epoch = max(int(float(row["epoch"])) for row in rows(folder / "metrics.csv") if row["kind"] == "target")
        return {
            row["metric"]: float(row["value"])
            for row in rows(folder / "metrics.csv")
            if row["kind"] == "target" and float(row["epoch"]) == epoch
        }

    def assert_reproduced(self, folder, model, blocks, mask, vocabulary):
        """In the model's own class, with the tokens hidden by Python."""
        model.load_state_dict(load_file(folder / "best" / "model.safetensors"), strict=True)
        tail = blocks[-round(0.2 * len(blocks)) :]
        shown, labels = map(torch.from_numpy, hide(tail, SHARE, mask, vocabulary, seed=5))
        with torch.no_grad():
            out = model.eval()(input_ids=shown)
        scores = getattr(out, "logits", out).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(scores, labels.flatten(), ignore_index=NO_LABEL).item()
        chosen = labels.flatten() != NO_LABEL
        right = (scores.argmax(-1) == labels.flatten())[chosen].float().mean().item()
        last = self.reported(folder)
        self.assertAlmostEqual(self.result(folder)["target"]["value"], loss, delta=1e-4 * loss)
        self.assertAlmostEqual(last["val_loss"], loss, delta=1e-4 * loss)
        self.assertAlmostEqual(last["val_perplexity"], math.exp(loss), delta=1e-3 * math.exp(loss))
        self.assertAlmostEqual(last["val_accuracy"], right, delta=1.5 / chosen.sum().item())
        self.assertNotIn("val_bits_per_byte", last)
        self.assertLess(loss, math.log(vocabulary) * 0.8, "nothing was learnt")
        return loss

    def test_berts_delivered_weights_give_the_reported_values_on_bytes(self):
        folder = self.tuned(self.job("bert", 257))
        self.assertEqual((self.result(folder)["metric"], self.result(folder)["mode"]), ("val_loss", "min"))
        blocks = blocks_of(list(LICENSE.read_bytes()))
        self.assert_reproduced(folder, bert(257), blocks, mask=256, vocabulary=256)

    def test_an_encoders_do_on_the_pieces_of_a_tokenizer(self):
        done = self.hydro("tokenize", "words.txt", "--vocabulary", 400, "-o", "tokens.model")
        self.assertEqual(done.code, 0, done)
        pieces = Pieces(self.folder / "tokens.model")
        folder = self.tuned(self.job("MaskedEncoder", 400, {"tokenizer": "tokens.model"}, epochs=8, batch_size=8))
        blocks = blocks_of(pieces.text(LICENSE.read_text()))
        self.assert_reproduced(folder, MaskedEncoder(400), blocks, mask=1, vocabulary=400)

    def test_a_mask_token_of_ones_own_and_the_default_share(self):
        job = self.job("MaskedEncoder", 128, mask_token=127)
        del job["train"]["mask"]
        folder = self.tuned(job)
        kept = (folder / "job.yaml").read_text()
        self.assertIn("mask: 0.15", kept)
        self.assertIn("mask_token: 127", kept)

    def test_is_the_same_again_and_in_one_container(self):
        job = self.job("MaskedEncoder", 257, epochs=1)
        once, again = (rows(self.tuned(job, folder=name) / "trials.csv") for name in ("once", "again"))
        self.assertEqual([row["value"] for row in once], [row["value"] for row in again])
        job["tune"]["fusion"] = 2
        for left, right in zip(once, rows(self.tuned(job, folder="fused") / "trials.csv"), strict=True):
            self.assertAlmostEqual(float(left["value"]), float(right["value"]), delta=1e-3)

    def refuse(self, job, identity, *words):
        done, folder = self.tune(job)
        self.assert_refused(done, identity, *words)
        self.assertFalse(folder.exists(), "a refused job left a folder")

    def test_a_model_without_a_row_for_the_mask(self):
        self.refuse(self.job("MaskedEncoder", 256), "H0406", "256", "257 rows", "mask_token")

    def test_a_tokenizer_without_a_mask(self):
        done = self.hydro("tokenize", "words.txt", "--vocabulary", 400, "-o", "tokens.model")
        self.assertEqual(done.code, 0, done)
        model = self.folder / "tokens.model"
        model.write_bytes(model.read_bytes().replace(b"[MASK]", b"[HIDE]"))
        split = {"tokenizer": "tokens.model"}
        self.refuse(self.job("MaskedEncoder", 400, split), "H0428", "tokens.model", "mask_token")
        self.assertEqual(self.hydro("check", self.write_job(self.job("MaskedEncoder", 400, split, mask_token=1))).code, 0)

    def test_masks_of_other_tasks_and_shares_that_are_none(self):
        self.refuse(self.job("MaskedEncoder", 257, task="language_model"), "H0109", "`mask`", "job.yaml:")
        for share in (0, 1.5, {"uniform": [0.1, 0.5]}):
            self.refuse(self.job("MaskedEncoder", 257, mask=share), "H0110" if isinstance(share, dict) else "H0105", "mask")

    def test_a_model_that_scores_no_tokens(self):
        job = self.job("Words", 257)
        job["model"]["kwargs"] = {"rows": 257}
        job["model"]["input"] = f"int64[*, {BLOCK}]"
        self.refuse(job, "H0505", "[batch, tokens, vocabulary]")
