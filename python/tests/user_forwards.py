"""Models whose forward the exporter must carry or refuse."""

import random
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from user_models import Net


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
