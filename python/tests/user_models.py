"""Models as users write them, for the exporter's tests. A mark such as `# mark: branch` is a
line that a refusal names.
"""

import signal

import torch
from torch import nn

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
