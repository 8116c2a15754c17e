"""The models of the .pt2 fixtures: small, each with operations that some reader or pass must
get right.
"""

import torch
import torch.nn.functional as F
import torchvision
from torch import nn


def mlp():
    return nn.Sequential(
        nn.Linear(784, 64),
        nn.ReLU(inplace=True),
        nn.Dropout(0.1),
        nn.Linear(64, 64),
        nn.ReLU(inplace=True),
        nn.Dropout(0.1),
        nn.Linear(64, 10),
    )


def bn1d():
    return nn.Sequential(nn.Linear(20, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 4))


class Cnn(nn.Module):
    """Convolution, batch norm, max pool and a linear readout on 1x28x28."""

    def __init__(self, width=16, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(2 * width)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(2 * width * 7 * 7, classes)

    def forward(self, x):
        x = self.pool(F.relu(self.bn1(self.conv1(x))))
        x = self.pool(F.relu(self.bn2(self.conv2(x))))
        return self.fc(x.flatten(1))


def resnet_tiny():
    return torchvision.models.ResNet(
        torchvision.models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=10
    )


class Depthwise(nn.Module):
    """Depthwise, pointwise and grouped convolutions."""

    def __init__(self, width=16):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.depthwise = nn.Conv2d(width, width, 3, padding=1, groups=width)
        self.pointwise = nn.Conv2d(width, 2 * width, 1)
        self.grouped = nn.Conv2d(2 * width, 2 * width, 3, padding=1, groups=4)
        self.norm = nn.BatchNorm2d(2 * width)
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = F.relu(self.pointwise(self.depthwise(x)))
        x = F.relu(self.norm(self.grouped(x)))
        return self.head(x.mean((2, 3)))


class Pools(nn.Module):
    """Average pools, a mean over height and width, two flattens, view, functional linear and
    convolution.
    """

    def __init__(self, width=8):
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(width, 3, 3, 3) * 0.1)
        self.shift = nn.Parameter(torch.zeros(width))
        self.weight = nn.Parameter(torch.empty(12, 4 * width).uniform_(-0.2, 0.2))
        self.fc = nn.Linear(12 + width, 10)

    def forward(self, x):
        x = F.conv2d(x, self.kernel, self.shift, padding=1)
        x = F.avg_pool2d(torch.relu(x), 2)
        small = F.adaptive_avg_pool2d(x, 2).flatten(2).flatten(1)
        mean = x.mean(dim=[2, 3], keepdim=True)
        a = F.linear(small, self.weight)
        return self.fc(torch.cat([a, mean.view(x.shape[0], -1)], dim=1))


class Padding(nn.Module):
    """The padding modes of a convolution."""

    def __init__(self, width=8):
        super().__init__()
        self.same = nn.Conv2d(3, width, 3, padding="same")
        self.valid = nn.Conv2d(width, width, 3, padding="valid")
        self.reflect = nn.Conv2d(width, width, 3, padding=1, padding_mode="reflect")
        self.replicate = nn.Conv2d(width, width, 3, padding=1, padding_mode="replicate")
        self.circular = nn.Conv2d(width, width, 3, padding=1, padding_mode="circular")
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.valid(self.same(x)).relu()
        x = self.circular(self.replicate(self.reflect(x)).relu()).relu()
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Slices(nn.Module):
    """In-place writes to slices, a masked fill, and a relu_ whose input is viewed later."""

    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Linear(12, width)
        self.second = nn.Linear(width, width)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.first(x)
        x[:, 0] = x[:, 1] * 2
        x[:, 2:4] = 0.5
        x.masked_fill_(x > 3, 3.0)
        halves = x[:, 8:]
        x.relu_()
        y = self.second(x)
        y += x
        y[:, :8].add_(halves)
        return self.head(y.relu_())

class Blocks(nn.Module):
    """Attention under a causal mask and a rotary table: what no parameter and no data reach, a
    block under no_grad among it.
    """

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.embed = nn.Embedding(20, width)
        self.packed = nn.Linear(width, 3 * width)
        self.heads = heads
        size = width // heads
        frequency = 100.0 ** (-torch.arange(0, size, 2) / size)
        self.register_buffer("frequency", frequency, persistent=False)

    @torch.no_grad()
    def table(self, length):
        angle = torch.arange(length)[:, None] * self.frequency[None, :]
        return angle.cos(), angle.sin()

    def forward(self, tokens):
        x = self.embed(tokens)
        batch, length, width = x.shape
        split = self.packed(x).view(batch, length, self.heads, -1).transpose(1, 2)
        q, k, v = split.chunk(3, dim=-1)
        cosine, sine = self.table(length)
        turned = [torch.cat([h[..., ::2] * cosine - h[..., 1::2] * sine,
                             h[..., 1::2] * cosine + h[..., ::2] * sine], -1) for h in (q, k)]
        mask = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
        x = F.scaled_dot_product_attention(turned[0], turned[1], v, mask)
        x = x.transpose(1, 2).reshape(batch, length, width)
        return x @ self.embed.weight.T

class Bytewise(nn.Module):
    """Scores the next byte by the last one, without an embedding."""

    def __init__(self, width=32, vocabulary=256):
        super().__init__()
        self.first = nn.Linear(1, width)
        self.second = nn.Linear(width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        x = ids.unsqueeze(-1).float() / 128 - 1
        return self.head(F.relu(self.second(F.relu(self.first(x)))))
