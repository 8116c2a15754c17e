"""Models whose initialisation the exporter must record, fit or refuse."""

import copy
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch import manual_seed as seed_everything

from user_models import Net, mlp


class Own(nn.Module):
    """One parameter `w`, made by `make`, beside a readout."""

    def __init__(self, make):
        super().__init__()
        self.w = nn.Parameter(make())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(x) * self.w.sum()


def _filled(shape, fill):
    return lambda: fill(torch.empty(shape))


def _orthogonal():
    return nn.init.orthogonal_(torch.empty(64, 64))


def _gates():
    w = torch.empty(32).uniform_(-0.5, 0.5)
    w[8:16].fill_(1.0)
    return w


def _columns():
    w = torch.randn(40, 30)
    w[:, 0] = 0
    return w


def _from_numpy(draw):
    return lambda: torch.from_numpy(draw().astype("float32"))


def _through_a_file():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.pt")
        torch.save({"w": torch.arange(12.0).reshape(4, 3).sin()}, path)
        target = torch.empty(4, 3)
        target.copy_(torch.load(path)["w"])
        return target


def _behind_its_back():
    w = torch.randn(40, 30)
    w.numpy()[:] = np.random.RandomState(0).randn(40, 30)
    return w


def _behind_its_back_anew():
    w = torch.randn(40, 30)
    w.numpy()[:] *= 3
    return w


MAKERS = {
    "scaled_randn": lambda: torch.randn(20, 30) * 0.02,
    "shifted_rand": lambda: torch.rand(20, 30) * 2 - 1,
    "divided": lambda: torch.randn(20, 30) / 8 + 1,
    "trunc_normal": _filled(
        (20, 30), lambda w: nn.init.trunc_normal_(w, std=0.5, a=-0.5, b=0.7)
    ),
    "trunc_normal_shifted": _filled(
        (20, 30), lambda w: nn.init.trunc_normal_(w, mean=1.0, std=0.02)
    ),
    "trunc_normal_scaled": _filled(
        (20, 30), lambda w: nn.init.trunc_normal_(w, a=-2, b=2).mul_(0.1)
    ),
    "kaiming": _filled((20, 30), lambda w: nn.init.kaiming_normal_(w, mode="fan_out")),
    "xavier": _filled((20, 30), nn.init.xavier_uniform_),
    "gates": _gates,
    "constant": lambda: torch.full((20,), 0.25),
    "logit_scale": lambda: torch.ones([]) * 2.5,
    "computed_constant": lambda: torch.full((20,), 4.0).sqrt(),
    "listed": lambda: torch.tensor([1.0, 2.0]),
    "zero_row": lambda: torch.cat([torch.zeros(1, 30), torch.randn(19, 30)]),
    "cloned": lambda: torch.randn(20, 30).clone().double().float(),
    "transposed": lambda: torch.randn(30, 20).t(),
    "channels_last": lambda: torch.randn(8, 4, 3, 3).to(memory_format=torch.channels_last),
    "own_generator": lambda: torch.randn(20, 30, generator=torch.Generator().manual_seed(3)),
    "numpy_normal": _from_numpy(lambda: np.random.randn(100, 60) * 0.3),
    "numpy_uniform": _from_numpy(lambda: np.random.uniform(0, 0.1, (100, 60))),
    "written_anew": _behind_its_back_anew,
    "orthogonal": _orthogonal,
    "numpy_orthogonal": _from_numpy(lambda: np.linalg.qr(np.random.randn(64, 64))[0]),
    "uneven_columns": _from_numpy(lambda: np.random.randn(100, 60) * np.linspace(0.1, 1, 60)),
    "lognormal": lambda: torch.randn(20, 30).exp(),
    "clamped": lambda: torch.randn(20, 30).clamp_(-1, 1),
    "columns": _columns,
    "eye": lambda: torch.eye(6),
    "uninitialized": lambda: torch.empty(20, 30),
    "few": _from_numpy(lambda: np.random.randn(1, 3)),
    "not_finite": lambda: torch.randn(20, 30) / 0.0,
    "file": _through_a_file,
    "numpy_seed": _from_numpy(lambda: np.random.RandomState(0).randn(20, 30)),
    "behind_its_back": _behind_its_back,
}


def own(maker):
    return Own(MAKERS[maker])


def seeded():
    torch.manual_seed(0)
    seed_everything(1)
    np.random.seed(2)
    return Own(_from_numpy(lambda: np.random.randn(100, 60)))


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4, padding_idx=0)
        self.out = nn.Linear(4, 10)

    def forward(self, tokens):
        return self.out(self.table(tokens))


class Cloned(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = copy.deepcopy(self.first)

    def forward(self, x):
        return self.second(self.first(x).relu())


class Changing(Net):
    """Another law at every build."""

    builds = 0

    def __init__(self):
        super().__init__()
        Changing.builds += 1
        nn.init.uniform_(self.fc.weight, -Changing.builds, Changing.builds)


_WIDTHS = [8]


def growing():
    _WIDTHS.append(_WIDTHS[-1] + 1)
    return mlp(_WIDTHS[-1])


_KEPT = []


def kept():
    if not _KEPT:
        _KEPT.append(mlp())
    return _KEPT[0]
