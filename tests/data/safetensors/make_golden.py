"""Checks golden.safetensors, which hydro's writer made, with Python's own reader.

Run from the repository root: .venv/bin/python tests/data/safetensors/make_golden.py [written.safetensors]
With an argument the golden file is first replaced by that file.
"""

import pathlib
import shutil
import sys

import torch
from safetensors import safe_open
from safetensors.torch import load_file

golden = pathlib.Path(__file__).parent / "golden.safetensors"
if len(sys.argv) > 1:
    shutil.copyfile(sys.argv[1], golden)
tensors = load_file(golden)
assert set(tensors) == {"mask", "bias", "steps", "none"}
assert torch.equal(tensors["mask"], torch.tensor([True, False, True]))
assert torch.equal(tensors["bias"], torch.tensor([0.5, -1.5, 2.25]))
assert torch.equal(tensors["steps"], torch.tensor(7))
assert tensors["none"].shape == (0, 4)
with safe_open(golden, "pt") as file:
    assert file.metadata() == {"format": "pt"}
print("golden.safetensors reads back as written")
