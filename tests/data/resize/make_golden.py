"""Writes golden.safetensors: small images and what torchvision's resize makes of them.

Run from the repository root: .venv/bin/python tests/data/resize/make_golden.py
Case i: `in_i` uint8 [C, H, W]; `out_i` float32 [C, h, w], values in [0, 1].
"""

import pathlib

import torch
from safetensors.torch import save_file
from torchvision.transforms.v2.functional import InterpolationMode, resize

CASES = [
    ((3, 7, 5), (4, 3)),
    ((1, 4, 4), (9, 6)),
    ((1, 12, 9), (5, 20)),
    ((3, 8, 8), (8, 8)),
    ((1, 28, 28), (1, 3)),
]

generator = torch.Generator().manual_seed(0)
tensors = {}
for i, (shape, size) in enumerate(CASES):
    image = torch.randint(0, 256, shape, generator=generator, dtype=torch.uint8)
    tensors[f"in_{i}"] = image
    scaled = image.to(torch.float32) / 255
    tensors[f"out_{i}"] = resize(
        scaled, list(size), InterpolationMode.BILINEAR, antialias=True
    ).contiguous()
save_file(tensors, pathlib.Path(__file__).parent / "golden.safetensors")
