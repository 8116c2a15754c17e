"""What the command-line tests share: a temporary folder, small data, job files, and running the program in it."""

import copy
import csv
import functools
import gzip
import hashlib
import importlib.metadata
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
BINARY = os.environ.get("HYDRO_BINARY", str(HERE.parents[1] / "build" / "release" / "hydro"))
FASHION = Path("/usr/share/datasets/fashion-mnist")
MEAN, STD = 0.286, 0.353
PATIENCE = 600  # seconds after which a program counts as hanging

IMAGES = 320
EVALUATED = 200


class Outcome:
    """How one run of the program ended."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


def hydro(*arguments, folder, environment=None):
    done = subprocess.run(
        [BINARY, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",  # a byte that is no text stays visible to the tests
        timeout=PATIENCE,
        check=False,
    )
    return Outcome(done)


def fashion(split, count):
    """The first images and labels, read without Hydro: uint8 [N, 1, 28, 28] and int64 [N]."""
    with gzip.open(FASHION / f"{split}-images-idx3-ubyte.gz") as file:
        images = numpy.frombuffer(file.read(16 + count * 784), numpy.uint8, offset=16)
    with gzip.open(FASHION / f"{split}-labels-idx1-ubyte.gz") as file:
        labels = numpy.frombuffer(file.read(8 + count), numpy.uint8, offset=8)
    return images.reshape(count, 1, 28, 28), labels.astype(numpy.int64)


def fashion_split(split, limit):
    return {
        "format": "idx",
        "images": str(FASHION / f"{split}-images-idx3-ubyte.gz"),
        "labels": str(FASHION / f"{split}-labels-idx1-ubyte.gz"),
        "limit": limit,
    }


def fingerprint():
    """Of what an archive depends on: the exporter, the models, torch."""
    digest = hashlib.sha256(importlib.metadata.version("torch").encode())
    for source in [HERE / "user_models.py", *sorted((HERE.parents[1] / "python" / "hydro").glob("*.py"))]:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


class SharedFolder:
    """Arrays, for one process; archives, kept beside the program for all suites and later runs."""

    def __init__(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="hydro-tests-")
        self.path = Path(self._temporary.name)
        shutil.copy(HERE / "user_models.py", self.path / "model.py")
        self._kept = Path(BINARY).parent / "command-line-archives" / fingerprint()

    @functools.cached_property
    def arrays(self):
        for split, name, count in (("train", "train", IMAGES), ("t10k", "val", EVALUATED)):
            images, labels = fashion(split, count)
            numpy.save(self.path / f"{name}_x.npy", images)
            numpy.save(self.path / f"{name}_y.npy", labels)
        return self.path

    @functools.lru_cache(maxsize=None)
    def archive(self, name):
        path = self._kept / f"{name}.pt2"
        if path.exists():
            return path
        target, kwargs, inputs = ARCHIVES[name]
        options = [option for text in inputs for option in ("--input", text)]
        # Suites run at the same time: each writes a folder of its own, and files get their names when they are whole.
        with tempfile.TemporaryDirectory(dir=self._made()) as fresh:
            shutil.copy(HERE / "user_models.py", Path(fresh) / "model.py")
            (Path(fresh) / "model.py").rename(self._kept / "model.py")
            made = Path(fresh) / path.name
            done = hydro("export", target, "--kwargs", json.dumps(kwargs), *options, "-o", made, folder=self._kept)
            if done.code != 0:
                raise AssertionError(f"hydro export of {name} failed: {done}")
            made.rename(path)
        return path

    def _made(self):
        self._kept.mkdir(parents=True, exist_ok=True)
        return self._kept


ARCHIVES = {
    "mlp": ("./model.py:mlp", {"width": 32}, ["float32[*,1,28,28]"]),
    "cnn": ("./model.py:Cnn", {"width": 16}, ["float32[*,1,28,28]"]),
    "pair": ("./model.py:Pair", {}, ["left=float32[*,6]", "right=float32[*,3]"]),
    "pair_loss": ("./model.py:PairLoss", {}, ["left=float32[*,6]", "right=float32[*,3]", "target=float32[*,1]"]),
    "bytewise": ("./model.py:Bytewise", {}, ["ids=int64[*,16]"]),
    "words": ("./model.py:Words", {}, ["ids=int64[*,6]"]),
    "resnet18": ("torchvision.models:resnet18", {"num_classes": 10}, ["float32[*,3,28,28]"]),
    "piecewise": ("./model.py:Piecewise", {}, ["ids=int64[*,16]"]),
    "ascii": ("./model.py:Bytewise", {"vocabulary": 128}, ["ids=int64[*,16]"]),
}


@functools.lru_cache(maxsize=None)
def shared():
    return SharedFolder()


def array_split(name):
    folder = shared().arrays
    return {"format": "arrays", "inputs": str(folder / f"{name}_x.npy"), "target": str(folder / f"{name}_y.npy")}


SECTIONS = {"data", "train", "tune", "resources"}


def merged(base, changes):
    """`changes` over `base`: keys of a section one by one, whatever lies deeper whole; None removes a key."""
    out = copy.deepcopy(base)
    for key, value in changes.items():
        if key in SECTIONS:
            kept = {**out.get(key, {}), **value}
            out[key] = {name: setting for name, setting in kept.items() if setting is not None}
        else:
            out[key] = value
    return out


def small_job(archive="mlp", **sections):
    """A job of a second or so; keyword arguments change single keys of its sections."""
    base = {
        "name": "small",
        "model": {"file": str(shared().archive(archive))} if archive else {},
        "data": {
            "train": array_split("train"),
            "val": array_split("val"),
            "transform": [{"normalize": {"mean": MEAN, "std": STD}}],
        },
        "train": {
            "task": "classification",
            "epochs": 1,
            "batch_size": 32,
            "optimizer": {"name": "sgd", "lr": {"loguniform": [0.01, 0.5]}, "momentum": 0.9},
        },
        "tune": {"num_samples": 2, "scaling": 4, "coordinate_check": "off"},
        "resources": {"cores": 1},
    }
    return merged(base, sections)


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def events(folder):
    """Types of the events that the study's database holds."""
    with sqlite3.connect(f"file:{folder / 'study.db'}?mode=ro", uri=True) as database:
        return [row[0] for row in database.execute("select type from event order by seq")]


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hydro-test-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write_job(self, job, name="job.yaml"):
        path = self.folder / name
        path.write_text(job if isinstance(job, str) else json.dumps(job, indent=1), encoding="utf-8")
        return path

    def hydro(self, *arguments, **options):
        return hydro(*arguments, folder=self.folder, **options)

    def tune(self, job, *options, folder="run"):
        """Tunes into `folder`; the outcome and that folder."""
        self.write_job(job)
        return self.hydro("tune", "job.yaml", "-o", folder, *options), self.folder / folder

    def tuned(self, job, *options, folder="run"):
        done, path = self.tune(job, *options, folder=folder)
        self.assertEqual(done.code, 0, done)
        return path

    def result(self, folder):
        return json.loads((folder / "result.json").read_text(encoding="utf-8"))

    def assert_refused(self, done, identity, *words, code=2):
        """One error of the form: what, where and why, what to do; on stderr, nothing of a crash."""
        self.assertEqual(done.code, code, done)
        self.assertEqual(done.err.count("error["), 1, done)
        self.assertIn(f"error[{identity}]", done.err, done)
        self.assertRegex(done.err, r"(?m)^   do: \S", done)
        for word in words:
            self.assertIn(word, done.err, done)
