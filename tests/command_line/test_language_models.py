"""Language models on texts: from job file to weights, and what is refused on the way."""

import math

import numpy
import torch
from safetensors.torch import load_file

from user_models import Bytewise
from workplace import Case, rows, small_job

BLOCK = 16
TEXT = b"she sells sea shells by the sea shore\n" * 60  # 2280 bytes: 142 blocks, 7 bytes are left


def blocks_of(text):
    """Inputs and labels [N, T], cut without Hydro."""
    count = (len(text) - 1) // BLOCK
    tokens = numpy.frombuffer(text, numpy.uint8).astype(numpy.int64)
    return tokens[: count * BLOCK].reshape(count, BLOCK), tokens[1 : count * BLOCK + 1].reshape(count, BLOCK)


def loss_of(weights, text):
    model = Bytewise()
    model.load_state_dict(load_file(weights), strict=True)
    inputs, labels = map(torch.from_numpy, blocks_of(text))
    with torch.no_grad():
        return torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), labels.flatten()).item()


class LanguageModels(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "words.txt").write_bytes(TEXT)

    def job(self, data=None, archive="bytewise", task="language_model", **sections):
        split = {"format": "text", "path": "words.txt", "block": BLOCK}
        optimizer = {"name": "adamw", "lr": {"loguniform": [1e-3, 1e-2]}}
        job = small_job(archive, train={"task": task, "epochs": 10, "batch_size": 16, "optimizer": optimizer}, **sections)
        job["data"] = data or {"train": split, "val_share": 0.2}
        return job

    def text(self, **keys):
        return {"format": "text", "path": "words.txt", "block": BLOCK} | keys

    def refuse(self, job, identity, *words):
        done, folder = self.tune(job)
        self.assert_refused(done, identity, *words)
        self.assertFalse(folder.exists(), "a refused job left a folder")

    def test_the_delivered_weights_give_the_reported_values_on_the_texts_tail_in_torch_alone(self):
        folder = self.tuned(self.job())
        result = self.result(folder)
        self.assertEqual((result["metric"], result["mode"]), ("val_loss", "min"))
        blocks = (len(TEXT) - 1) // BLOCK
        tail = TEXT[(blocks - round(0.2 * blocks)) * BLOCK :]
        loss = loss_of(folder / "best" / "model.safetensors", tail)
        self.assertAlmostEqual(result["target"]["value"], loss, delta=1e-5 * loss)
        self.assertLess(loss, math.log(256) / 2)
        last = {
            row["metric"]: float(row["value"])
            for row in rows(folder / "metrics.csv")
            if row["kind"] == "target" and row["epoch"] == "10"
        }
        self.assertAlmostEqual(last["val_perplexity"], math.exp(loss), delta=1e-4 * math.exp(loss))
        self.assertAlmostEqual(last["val_bits_per_byte"], loss / math.log(2), delta=1e-4)

    def test_arrays_of_the_same_blocks_give_the_same_numbers(self):
        inputs, labels = blocks_of(TEXT)
        numpy.save(self.folder / "x.npy", inputs)
        numpy.save(self.folder / "y.npy", labels)
        arrays = {"format": "arrays", "inputs": "x.npy", "target": "y.npy"}
        values = []
        for split in (self.text(), arrays):
            data = {"train": split, "val": split | {"limit": 50}, "test": split | {"limit": 20}}
            folder = self.tuned(self.job(data, tune={"metric": "val_perplexity"}), folder=split["format"])
            values.append(([row["value"] for row in rows(folder / "trials.csv")], self.result(folder)["target"]))
        self.assertEqual(*values)
        self.assertIsNotNone(values[0][1]["test"])

    def test_several_trials_in_one_container_give_the_same_choice(self):
        alone = rows(self.tuned(self.job(), folder="alone") / "trials.csv")
        fused = rows(self.tuned(self.job(tune={"fusion": 2}), folder="fused") / "trials.csv")
        for left, right in zip(alone, fused, strict=True):
            self.assertAlmostEqual(float(left["value"]), float(right["value"]), delta=1e-3)

    def test_a_block_that_the_model_does_not_take(self):
        self.refuse(self.job({"train": self.text(block=64), "val_share": 0.2}), "H0407", "words.txt", "[64]", "[16]")

    def test_a_text_that_is_missing_or_empty_or_short(self):
        (self.folder / "empty.txt").touch()
        (self.folder / "short.txt").write_bytes(TEXT[:BLOCK])
        for path, identity in (("none.txt", "H0401"), ("empty.txt", "H0405"), ("short.txt", "H0405")):
            self.refuse(self.job({"train": self.text(), "val": self.text(path=path)}), identity, path)

    def test_a_byte_beyond_the_vocabulary_with_position_and_value(self):
        (self.folder / "words.txt").write_bytes(TEXT[:99] + b"\xc8" + TEXT[99:])
        self.refuse(self.job(archive="ascii"), "H0406", "words.txt", "99", "200", "128")

    def test_a_text_for_a_classification_and_images_for_a_language_model(self):
        self.refuse(self.job(task="classification"), "H0109", "format: text", "task: classification", "job.yaml:")
        images = {"format": "idx", "images": "a.gz", "labels": "b.gz"}
        self.refuse(self.job({"train": images, "val_share": 0.1}), "H0109", "format: idx", "task: language_model")

    def test_a_model_of_images(self):
        self.refuse(self.job(archive="mlp"), "H0505", "[batch, tokens, vocabulary]")
