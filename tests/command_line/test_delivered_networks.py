"""Networks that read tokens or attend, from their own packages: the delivered weights load in the original class and
give the reported value there."""

import math
import pathlib
import sys

import numpy
import torch
from safetensors.torch import load_file

from test_finished_study import evaluate
from workplace import Case, fashion_split, small_job

CHAIN = pathlib.Path(__file__).resolve().parents[1] / "chain"
sys.path.append(str(CHAIN))
import networks  # noqa: E402

TEXT = b"SHE SELLS SEA SHELLS BY THE SEA SHORE\n" * 60
ADAMW = {"name": "adamw", "lr": {"loguniform": [1e-3, 1e-2]}}


def tail_of_text():
    """Inputs and labels of the last fifth of the blocks, cut without Hydro."""
    count = (len(TEXT) - 1) // networks.TOKENS
    tokens = torch.from_numpy(numpy.frombuffer(TEXT, numpy.uint8).astype(numpy.int64))
    inputs = tokens[: count * networks.TOKENS].view(count, -1)
    labels = tokens[1 : count * networks.TOKENS + 1].view(count, -1)
    held = round(0.2 * count)
    return inputs[-held:], labels[-held:]


def model_of(name):
    build, kwargs, spec = networks.NETWORKS[name]
    field, _, kind = spec.rpartition("=")
    return build(**kwargs), {
        "export": f"{CHAIN / 'networks.py'}:{build.__name__}",
        "kwargs": kwargs,
        "input": {field: kind} if field else kind,
    }


class DeliveredNetworks(Case):
    def language_model(self, name, **train):
        (self.folder / "words.txt").write_bytes(TEXT)
        split = {"format": "text", "path": "words.txt", "block": networks.TOKENS}
        job = small_job(None, train={"task": "language_model", "epochs": 4, "batch_size": 16, "optimizer": ADAMW} | train)
        job["data"] = {"train": split, "val_share": 0.2}
        model, job["model"] = model_of(name)
        folder = self.tuned(job, folder=name)
        model.load_state_dict(load_file(folder / "best" / "model.safetensors"), strict=True)
        inputs, labels = tail_of_text()
        with torch.no_grad():
            result = model.eval()(inputs)
        scores = result if isinstance(result, torch.Tensor) else result.logits
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten()).item()
        self.assertLess(loss, math.log(networks.WORDS), "nothing was learnt")
        return self.result(folder)["target"]["value"], loss

    def test_language_models_give_the_reported_loss_in_their_own_class(self):
        for name in ("gpt2", "gpt2_eager", "gpt_neo", "lstm_tied", "encoder"):
            with self.subTest(name):
                reported, loss = self.language_model(name)
                self.assertAlmostEqual(reported, loss, delta=1e-4 * loss)

    def test_mixed_precision_delivers_weights_of_single_precision(self):
        reported, loss = self.language_model("gpt2", amp="bf16")
        self.assertAlmostEqual(reported, loss, delta=0.01 * loss)
        self.assertNotEqual(reported, loss)

    def test_image_networks_give_the_reported_accuracy_in_their_own_class(self):
        for name in ("vit", "mobilenet_v3"):
            with self.subTest(name):
                job = small_job(None, train={"batch_size": 32, "optimizer": ADAMW})
                model, job["model"] = model_of(name)
                transform = ["rgb", {"normalize": {"mean": 0.286, "std": 0.353}}]
                job["data"] = {"train": fashion_split("train", 500), "val": fashion_split("t10k", 300), "transform": transform}
                folder = self.tuned(job, folder=name)
                right, _, _ = evaluate(model, folder / "best" / "model.safetensors", "t10k", 300, channels=3)
                self.assertLessEqual(abs(right - 300 * self.result(folder)["target"]["value"]), 1)
