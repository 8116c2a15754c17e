"""What the `mup` package gives each tensor of a narrow model when the wide one is its base: the learning rates of
MuSGD, MuAdam and MuAdamW at lr 1, the decay of MuAdamW at decay 1, and the factor in front of the readout.
`mup_factors.json` is its result, kept so that the comparison needs no Python.

    mup_factors.py [FILE]
"""
import json
import pathlib
import sys

import torch
from mup import MuAdam, MuAdamW, MuReadout, MuSGD, set_base_shapes
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from families import FAMILIES  # noqa: E402

MODELS = {"mlp": (4, 8), "vgg_bn": (4, 8), "depthwise": (8,)}   # family: how many times narrower


def with_readout(model):
    """The model with its last linear layer as mup's readout."""
    name = [n for n, m in model.named_modules() if isinstance(m, nn.Linear)][-1]
    parent, _, leaf = name.rpartition(".")
    old = model.get_submodule(name)
    setattr(model.get_submodule(parent), leaf, MuReadout(old.in_features, old.out_features, readout_zero_init=True))
    return model


def built(family, shrink):
    build, kwargs, _ = FAMILIES[family]
    return with_readout(build(**kwargs, shrink=shrink))


def by_tensor(model, optimizer, key):
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return {names[id(parameter)]: group[key] for group in optimizer.param_groups for parameter in group["params"]}


def factors(family, shrink):
    model = built(family, shrink)
    set_base_shapes(model, built(family, 1), delta=built(family, 2))
    readout = [m for m in model.modules() if isinstance(m, MuReadout)][-1]
    ones = {"lr": 1.0, "weight_decay": 1.0}
    return {"multiplier": 1 / readout.width_mult(),
            "sgd": by_tensor(model, MuSGD(model.parameters(), lr=1.0), "lr"),
            "adam": by_tensor(model, MuAdam(model.parameters(), lr=1.0), "lr"),
            "adamw": by_tensor(model, MuAdamW(model.parameters(), lr=1.0), "lr"),
            "adamw_decay": by_tensor(model, MuAdamW(model.parameters(), **ones), "weight_decay")}


def text():
    torch.manual_seed(1)
    found = {f"{family}-{shrink}": factors(family, shrink) for family, all_ in MODELS.items() for shrink in all_}
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "mup_factors.json").write_text(text())
