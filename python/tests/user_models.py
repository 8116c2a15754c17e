"""Models as users write them, for the exporter's tests. A mark such as `# mark: branch` is a
line that a refusal names.
"""

import copy
import os
import random
import signal
import tempfile
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch import manual_seed as seed_everything

A_MODEL = nn.Linear(4, 2)
NUMBER = 3


class Net(nn.Module):
    """Four features to two classes; subclasses change one thing."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.fc(x).relu())


def mlp(width=16, depth=1, activation=None):
    layers = [nn.Linear(4, width)]
    for _ in range(depth):
        layers += [activation or nn.ReLU(), nn.Linear(width, width)]
    return nn.Sequential(*layers, nn.Linear(width, 2))


class Config:
    def __init__(self, width):
        self.width = width


def configured(config):
    return mlp(config.width)


def broken_config():
    raise ValueError("no such configuration")  # mark: broken_config


# ---- initialisation ----


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


# ---- state ----


class Stateful(nn.Module):
    """Every kind of entry: trained, frozen, tied, buffers of both kinds, an unused
    parameter.
    """

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4, bias=False)
        self.outer = nn.Linear(4, 4, bias=False)
        self.outer.weight = self.inner.weight
        self.frozen = nn.Parameter(torch.arange(4.0), requires_grad=False)
        self.unused = nn.Parameter(torch.zeros(3))
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0, 4.0]))
        self.register_buffer("mask", torch.tensor([True, False, True, True]), persistent=False)

    def forward(self, x):
        return self.outer(self.inner(x) * self.scale + self.frozen).masked_fill(self.mask, 0.0)


class Overlapping(Net):
    def __init__(self):
        super().__init__()
        memory = torch.zeros(12)
        self.a = nn.Parameter(memory[:8])
        self.b = nn.Parameter(memory[4:])


class ExtraState(Net):  # mark: extra_state
    def get_extra_state(self):
        return {"step": 1}


class Lazy(Net):
    def __init__(self):
        super().__init__()
        self.fc = nn.LazyLinear(8)


class Complex(Net):
    def __init__(self):
        super().__init__()
        self.phase = nn.Parameter(torch.zeros(3, dtype=torch.complex64))


def on_meta():
    with torch.device("meta"):
        return Net()


def frozen():
    return Net().requires_grad_(False)


class Fourier(Net):
    def forward(self, x):
        return super().forward(torch.fft.fft(x).real)  # mark: fourier


class Quantised(Net):
    def __init__(self):
        super().__init__()
        values = torch.quantize_per_tensor(torch.randn(4), 0.1, 0, torch.qint8)
        self.register_buffer("levels", values)


class Sparse(Net):
    def __init__(self):
        super().__init__()
        self.register_buffer("graph", torch.eye(4).to_sparse())


# ---- forward ----


class Branch(Net):
    def forward(self, x):
        if x.sum() > 0:  # mark: branch
            return self.head(self.fc(x))
        return self.head(-self.fc(x))


class Item(Net):
    def forward(self, x):
        return super().forward(x) * x.max().item()  # mark: item


class Selected(Net):
    def forward(self, x):
        return super().forward(x) + x[x > 0].sum()  # mark: selected


class WhileLoop(Net):
    def forward(self, x):
        while x.norm() > 1:  # mark: while
            x = x / 2
        return super().forward(x)


class Nonzero(Net):
    def forward(self, x):
        kept = x[x > 0]  # a size that depends on the data
        if kept.shape[0] > 3:  # mark: nonzero
            x = x + 1
        return super().forward(x)


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class CustomAutograd(Net):
    def forward(self, x):
        return super().forward(Round.apply(x))  # mark: custom_autograd


round_straight = Round.apply


class KeptAutograd(Net):
    """The usual idiom: `apply` is kept under another name when the module is imported."""

    def forward(self, x):
        return super().forward(round_straight(x))  # mark: kept_autograd


class FixedBatch(Net):
    def forward(self, x):
        return super().forward(x.reshape(5, 4))  # mark: fixed_batch


class AssertedBatch(Net):
    def forward(self, x):
        assert x.shape[0] == 5  # mark: asserted_batch
        return super().forward(x)


class NumpyForward(Net):
    def forward(self, x):
        return super().forward(torch.from_numpy(x.detach().numpy() * 2))  # mark: numpy


@torch.library.custom_op("user::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x):
    return torch.empty_like(x)


class CustomOperator(Net):
    def forward(self, x):
        return super().forward(doubled(x))  # mark: custom_operator


class Conditional(Net):
    def forward(self, x):
        branch = super().forward
        return torch.cond(x.sum() > 0, branch, branch, (x,))  # mark: conditional


class Raising(Net):
    def forward(self, x):
        raise RuntimeError("out of coffee")  # mark: raising


class NoOutput(Net):
    def forward(self, x):
        self.fc(x)


class PythonChance(Net):
    def forward(self, x):  # mark: python_chance
        return super().forward(x) * (0.5 if random.random() < 0.5 else 1.0)


class NumpyChance(Net):
    def forward(self, x):  # mark: numpy_chance
        return super().forward(x) * float(np.random.rand())


class Opaque:
    def __init__(self, value):
        self.value = value


class OpaqueOutput(Net):
    def forward(self, x):  # mark: opaque_output
        return Opaque(super().forward(x))


class Scripted(Net):
    def __init__(self):
        super().__init__()
        self.fc = torch.jit.script(nn.Linear(4, 8))


@torch.jit.script
def _twice(x):
    return x * 2


class ScriptFunctionHeld(Net):  # mark: script_function
    def __init__(self):
        super().__init__()
        self.twice = _twice


class ScriptFunctionCalled(Net):
    def forward(self, x):
        return super().forward(_twice(x))  # mark: script_called


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, ids, mask=None, *, scale=1.0, as_dict=False):
        h = self.table(ids) * scale
        if mask is not None:
            h = h * mask.unsqueeze(-1)
        logits = self.head(h.mean(1))
        return {"logits": logits, "hidden": (h, h.mean())} if as_dict else (logits, h)


class Result(NamedTuple):
    logits: torch.Tensor
    state: None
    loss: torch.Tensor


class NamedOutput(Net):
    def forward(self, x):
        logits = super().forward(x)
        return Result(logits, None, logits.mean())


class TimeFirst(nn.Module):
    """The batch is axis 1."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(x).mean(0)


class Dropping(Net):
    """Python looks at self.training."""

    def forward(self, x):
        return super().forward(F.dropout(x, 0.5, self.training) if self.training else x * 1)


class Noisy(Net):
    def __init__(self):
        super().__init__()
        print("hello from the user's model")


# ---- callables ----


def raising():
    return torch.zeros(3) + torch.zeros(4)  # mark: callable_raises


def no_module():  # mark: no_module
    return {"weights": 1}


def leaving():
    raise SystemExit("bye")  # mark: leaving


def stops_itself():
    signal.raise_signal(signal.SIGTERM)


class namespace:
    Net = Net
