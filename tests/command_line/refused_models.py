"""Models that no graph can hold, as users write them; the tests copy this file beside a job as ./model.py."""

import torch
from torch import nn


class Plain(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Linear(784, width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(torch.relu(self.body(x.flatten(1))))


class Item(Plain):
    def forward(self, x):
        return super().forward(x / x.max().item())  # the refused line


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.sign()

    @staticmethod
    def backward(context, gradient):
        return gradient


class CustomAutograd(Plain):
    def forward(self, x):
        return super().forward(Straight.apply(x))  # the refused line


class Scripted(Plain):  # the refused line
    def __init__(self):
        super().__init__()
        self.body = torch.jit.script(nn.Linear(784, 32))


class Quantised(Plain):  # the refused line
    def __init__(self):
        super().__init__()
        levels = torch.quantize_per_tensor(torch.randn(784), 0.1, 0, torch.qint8)
        self.register_buffer("levels", levels)

    def forward(self, x):
        return super().forward(x.flatten(1) * self.levels.dequantize())


class DynamicallyQuantised(Plain):  # the refused line
    """As post-training quantisation leaves a model."""

    def __init__(self):
        super().__init__()
        self.body = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(784, 32)))


class Sparse(Plain):  # the refused line
    def __init__(self):
        super().__init__()
        self.mixing = nn.Parameter(torch.eye(784).to_sparse())

    def forward(self, x):
        return super().forward(torch.sparse.mm(self.mixing, x.flatten(1).t()).t())


class Complex(Plain):
    def forward(self, x):
        return super().forward(torch.fft.fft2(x).abs())  # the refused line


class ExpertsChosenByTheData(Plain):
    """A mixture of experts: each sample goes to the expert with the best score."""

    def __init__(self, experts=4):
        super().__init__()
        self.router = nn.Linear(784, experts)
        self.experts = nn.ModuleList(nn.Linear(784, 784) for _ in range(experts))

    def forward(self, x):
        x = x.flatten(1)
        best = self.router(x).argmax(-1)
        mixed = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            chosen = torch.where(best == number)[0]  # the refused line
            mixed = mixed.index_add(0, chosen, expert(x[chosen]))
        return super().forward(mixed)


class FixedBatch(Plain):
    def forward(self, x):
        return super().forward(x.view(32, -1))  # the refused line


class Blind(Plain):
    """Its output is the same whatever it is shown."""

    def forward(self, x):  # the refused line
        return self.head(torch.relu(self.body.bias)).expand(10, 10)


class TwoOutputs(Plain):
    def forward(self, x):
        scores = super().forward(x)
        return {"scores": scores, "energy": scores.logsumexp(-1)}


class HandMade(Plain):
    """Starts as an orthogonal matrix, which no law of single numbers gives."""

    def __init__(self):
        super().__init__()
        nn.init.orthogonal_(self.body.weight)  # the refused line


class Wired(Plain):  # the refused line
    """Its sizes are those of the input and the classes: nothing of it is a width."""

    def __init__(self):
        super().__init__(784)
        self.body = nn.Linear(784, 784)

    def forward(self, x):
        x = x.flatten(1)
        return self.head(x + torch.relu(self.body(x)))
