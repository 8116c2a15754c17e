"""Texts as pieces of a sentencepiece model: training one, language models on it, and what is refused."""

import math
import os

import torch
from safetensors.torch import load_file

from pieces import Pieces
from user_models import Piecewise
from workplace import HERE, Case, rows, small_job

BLOCK = 16
LICENSE = HERE.parents[1] / "LICENSE"
ADAMW = {"name": "adamw", "lr": {"loguniform": [1e-3, 1e-2]}}


class Tokenizers(Case):
    def setUp(self):
        super().setUp()
        self.text = LICENSE.read_text() + "\tsmall print: \u6f22\u5b57, na\u00efve  caf\u00e9\n"
        (self.folder / "words.txt").write_text(self.text, encoding="utf-8")

    def tokenize(self, *options, text="words.txt", output="tokens.model"):
        return self.hydro("tokenize", text, "-o", output, *options)

    def trained(self, vocabulary=400):
        done = self.tokenize("--vocabulary", vocabulary)
        self.assertEqual((done.code, done.err), (0, ""), done)
        return done, Pieces(self.folder / "tokens.model")

    def split(self, **keys):
        return {"format": "text", "path": "words.txt", "tokenizer": "tokens.model", "block": BLOCK} | keys

    def job(self, **data):
        train = {"task": "language_model", "epochs": 8, "batch_size": 16, "optimizer": ADAMW}
        job = small_job("piecewise", train=train)
        job["data"] = {"train": self.split(), "val_share": 0.2} | data
        return job

    def refuse(self, job, identity, *words):
        done, folder = self.tune(job)
        self.assert_refused(done, identity, *words)
        self.assertFalse(folder.exists(), "a refused job left a folder")


class Training(Tokenizers):
    def test_the_model_gives_the_text_back_byte_by_byte(self):
        done, pieces = self.trained()
        self.assertEqual(len(pieces.names), 400)
        tokens = pieces.text(self.text)
        self.assertEqual(pieces.decode(tokens), self.text.encode())
        size = len(self.text.encode())
        self.assertIn(f"400 pieces; {size} bytes are {len(tokens)} tokens, {size / len(tokens):.2f} bytes a token", done.out)

    def test_is_the_same_again(self):
        self.trained()
        first = (self.folder / "tokens.model").read_bytes()
        (self.folder / "tokens.model").unlink()
        self.trained()
        self.assertEqual(first, (self.folder / "tokens.model").read_bytes())

    def test_a_vocabulary_that_the_text_does_not_support(self):
        done = self.tokenize("--vocabulary", 50000)
        self.assert_refused(done, "H0426", "words.txt", "50000 pieces", "--vocabulary")
        most = int(done.err.split("write --vocabulary ")[1].split()[0])
        self.assertFalse((self.folder / "tokens.model").exists())
        self.trained(most)

    def test_a_vocabulary_too_small_for_the_bytes(self):
        self.assert_refused(self.tokenize("--vocabulary", 200), "H0426", "too few")
        self.assert_refused(self.tokenize("--vocabulary", 0), "H0901", "--vocabulary")

    def test_texts_that_are_missing_or_empty_or_no_utf8(self):
        (self.folder / "empty.txt").touch()
        (self.folder / "latin.txt").write_bytes("eins\nzwölf\n".encode("latin-1"))
        self.assert_refused(self.tokenize(text="none.txt"), "H0401", "none.txt")
        self.assert_refused(self.tokenize(text="empty.txt"), "H0405", "empty.txt")
        self.assert_refused(self.tokenize(text="latin.txt"), "H0425", "latin.txt:2", "byte 7", "tokenizer: bytes")
        self.assertFalse((self.folder / "tokens.model").exists())

    def test_outputs_that_exist_or_have_no_folder(self):
        (self.folder / "tokens.model").write_text("mine")
        self.assert_refused(self.tokenize("--vocabulary", 400), "H0427", "tokens.model")
        self.assertEqual((self.folder / "tokens.model").read_text(), "mine")
        done = self.tokenize("--vocabulary", 400, output="nowhere/tokens.model")
        self.assert_refused(done, "H0603", "nowhere", code=5)
        self.assertEqual(sorted(os.listdir(self.folder)), ["tokens.model", "words.txt"])


class LanguageModels(Tokenizers):
    def test_the_delivered_weights_give_the_reported_values_on_the_texts_tail_in_torch_alone(self):
        _, pieces = self.trained()
        folder = self.tuned(self.job())
        tokens = pieces.text(self.text)
        count = (len(tokens) - 1) // BLOCK
        tail = tokens[(count - round(0.2 * count)) * BLOCK : count * BLOCK + 1]
        model = Piecewise()
        model.load_state_dict(load_file(folder / "best" / "model.safetensors"), strict=True)
        with torch.no_grad():
            scores = model(torch.tensor(tail[:-1]).view(-1, BLOCK)).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(scores, torch.tensor(tail[1:])).item()
        self.assertAlmostEqual(self.result(folder)["target"]["value"], loss, delta=1e-5 * loss)
        self.assertLess(loss, math.log(400) * 0.95, "nothing was learnt")
        last = {
            row["metric"]: float(row["value"])
            for row in rows(folder / "metrics.csv")
            if row["kind"] == "target" and row["epoch"] == "8"
        }
        bits = loss * (len(tail) - 1) / math.log(2) / len(pieces.decode(tail[1:]))
        self.assertAlmostEqual(last["val_bits_per_byte"], bits, delta=1e-4)
        self.assertAlmostEqual(last["val_perplexity"], math.exp(loss), delta=1e-4 * math.exp(loss))

    def test_the_kept_job_names_the_tokenizer_and_its_fingerprint(self):
        self.trained()
        kept = (self.tuned(self.job()) / "job.yaml").read_text()
        path = self.folder / "tokens.model"
        self.assertIn(f'tokenizer: "{path}"', kept)
        self.assertRegex(kept, f"(?m)^# [0-9a-f]{{16}} {path}$")

    def test_a_tokenizer_that_is_missing_or_something_else(self):
        self.refuse(self.job(), "H0401", "tokens.model", "job.yaml:")
        (self.folder / "tokens.model").write_text('{"version": "1.0"}')
        self.refuse(self.job(), "H0424", "tokens.model", "hydro tokenize")

    def test_a_text_that_is_empty_or_no_utf8(self):
        self.trained()
        (self.folder / "words.txt").write_bytes(b"zw\xf6lf\n" * 200)
        self.refuse(self.job(), "H0425", "words.txt:1", "byte 2")
        (self.folder / "words.txt").write_bytes(b"")
        self.refuse(self.job(), "H0405", "words.txt")

    def test_pieces_beyond_the_embedding_table(self):
        self.trained(450)
        self.refuse(self.job(), "H0406", "words.txt", "[0, 400)", "embedding table", "--vocabulary 400")

    def test_splits_of_different_tokens(self):
        self.trained()
        val = {"format": "text", "path": "words.txt", "block": BLOCK}
        job = self.job(val=val)
        del job["data"]["val_share"]
        self.refuse(job, "H0109", "`data.val`", "tokens.model", "job.yaml:")
