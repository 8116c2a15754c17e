"""Trained weights in the models' own classes: do they give the logits that Hydro gives?

    same_logits.py FOLDER

FOLDER/NAME.safetensors are weights as delivered, loaded with strict=True; NAME.logits.safetensors has a batch `x` and
Hydro's logits on it in single and in double precision. Fails when one is farther than 1e-3 (single) or 1e-9 (double) of
the largest.
"""
import pathlib
import sys

import torch
import torchvision
from safetensors.torch import load_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from families import TORCHVISION  # noqa: E402
from make_archives import output_of  # noqa: E402
from networks import NETWORKS  # noqa: E402


def build(name):
    if name.startswith("tv-"):
        name = name.removeprefix("tv-")
        return getattr(torchvision.models, name)(**TORCHVISION[name])
    make, kwargs, _ = NETWORKS[name]
    return make(**kwargs)


def distances(folder, name):
    """In single and in double precision, over the largest logit."""
    model = build(name).eval()
    model.load_state_dict(load_file(folder / f"{name}.safetensors"), strict=True)
    kept = load_file(folder / f"{name}.logits.safetensors")
    found = []
    for key, dtype in (("single", torch.float32), ("double", torch.float64)):
        x = kept["x"].to(dtype) if kept["x"].is_floating_point() else kept["x"]
        with torch.no_grad():
            wanted = output_of(model.to(dtype), x)
        assert kept[key].shape == wanted.shape, f"{name}: {kept[key].shape} for {wanted.shape}"
        found.append(((kept[key] - wanted).abs().max() / wanted.abs().max()).item())
    return found


def main(folder):
    failed = False
    names = sorted(path.name.removesuffix(".logits.safetensors") for path in folder.glob("*.logits.safetensors"))
    for name in names:
        single, double = distances(folder, name)
        print(f"{name}: {single:.1e} {double:.1e}")
        failed |= not (single <= 1e-3 and double <= 1e-9)
    return failed or not names


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
