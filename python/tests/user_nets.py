"""Whole nets as users write them: language models, recurrent nets, nets over time, regions
without gradients, several outputs.
"""

import torch
import torch.nn.functional as F
from torch import nn

WORDS = 11


class LstmLanguageModel(nn.Module):
    def __init__(self, width=8, layers=2, tied=False, batch_first=True, kind="LSTM"):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width, padding_idx=0)
        self.rnn = getattr(nn, kind)(width, width, layers, batch_first=batch_first)
        self.head = nn.Linear(width, WORDS)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.rnn(self.embedding(tokens))[0])


class UsualStarts(LstmLanguageModel):
    """Forget gates start open, everything else as papers on language models have it."""

    def __init__(self, width=8):
        super().__init__(width, layers=1)
        nn.init.xavier_normal_(self.rnn.weight_ih_l0)
        nn.init.xavier_uniform_(self.rnn.weight_hh_l0)
        for name in ("bias_ih_l0", "bias_hh_l0"):
            nn.init.zeros_(getattr(self.rnn, name))
        self.rnn.bias_ih_l0.data[width : 2 * width] = 1.0
        self.embedding.weight.data.uniform_(-0.1, 0.1)


class GatesOneByOne(LstmLanguageModel):
    def __init__(self, width=8):
        super().__init__(width, layers=1)
        for k, std in enumerate((0.1, 0.2, 0.3, 0.4)):
            nn.init.normal_(self.rnn.weight_ih_l0[k * width : (k + 1) * width], std=std)


class OrthogonalGates(LstmLanguageModel):
    def __init__(self):
        super().__init__(layers=1)
        nn.init.orthogonal_(self.rnn.weight_hh_l0)  # mark: orthogonal


class OrthogonalConvolution(nn.Sequential):
    """A start of one's own: every output channel a basis vector times a gain."""

    def __init__(self):
        super().__init__(nn.Conv1d(4, 4, 3, padding=1), nn.Flatten(), nn.Linear(4 * 6, 2))
        self[0].weight.data = hand_made(self[0].weight)


def hand_made(weight):
    drawn = torch.randn_like(weight)
    return drawn / drawn.flatten(1).norm(dim=1).view(-1, 1, 1)  # mark: hand_made


class EncoderLanguageModel(nn.Module):
    def __init__(self, width=8, heads=2, norm_first=False):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width)
        self.positions = nn.Parameter(torch.randn(6, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, batch_first=True, norm_first=norm_first
        )
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, WORDS)

    def forward(self, tokens):
        steps = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(steps)
        h = self.embedding(tokens) + self.positions[:steps]
        return self.head(self.encoder(h, mask=mask, is_causal=True))


class ConvolutionsOverTime(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Embedding(WORDS, 8, padding_idx=3),
            Turned(),
            nn.Conv1d(8, 16, 3, groups=4, padding=1),
            nn.GroupNorm(4, 16),
            nn.GELU(),
            nn.ConvTranspose1d(16, 8, 2, stride=2),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Linear(8, 3),
        )


class Turned(nn.Module):
    def forward(self, x):
        return x.transpose(1, 2)


class UpAndDown(nn.Module):
    """Convolutions down and transposed ones up, joined by channels."""

    def __init__(self, width=4):
        super().__init__()
        self.down = nn.Conv2d(3, width, 3, 2, 1)
        self.norm = nn.GroupNorm(2, width)
        self.up = nn.ConvTranspose2d(width, width, 2, 2)
        self.out = nn.Conv2d(width + 3, 2, 1)

    def forward(self, x):
        h = self.up(F.silu(self.norm(self.down(x))))
        return self.out(torch.cat([h, x], 1)).mean((2, 3))


class Normalised(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.LogSoftmax(dim=-1))


# ---- regions ----


class Rotary(nn.Module):
    """A table of angles computed without gradients, as rotary positions are."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer(
            "frequencies", torch.tensor([1.0, 0.5, 0.2, 0.1]), persistent=False
        )

    @torch.no_grad()
    def angles(self, x):
        with torch.autocast("cpu", enabled=False):
            steps = torch.arange(x.shape[1], dtype=torch.float32)
            return torch.outer(steps, self.frequencies).cos()

    def forward(self, x):
        return self.fc(x) * self.angles(x)  # mark: angles


class StopsGradient(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x)
        with torch.no_grad():
            target = h.tanh() * 2
        return h - target


class ScalesWithoutGradient(StopsGradient):
    def forward(self, x):
        h = self.fc(x)
        with torch.no_grad():
            h.mul_(2)  # mark: in_place_without_gradient
        return h


class KeepsAverage(StopsGradient):
    """A buffer that follows the data, without gradients."""

    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(4))

    def forward(self, x):
        h = self.fc(x)
        with torch.no_grad():
            self.average.mul_(0.9).add_(h.mean(0), alpha=0.1)
        return h - self.average


class InLowerPrecision(StopsGradient):
    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.fc(x)  # mark: autocast


class GradientInside(StopsGradient):
    def forward(self, x):
        h = self.fc(x)
        with torch.no_grad():
            h = h * 2
            with torch.enable_grad():
                y = self.fc(h)
        return y * 2


# ---- outputs ----


class AuxiliaryHead(nn.Module):
    """Two outputs in training, one in evaluation."""

    def __init__(self):
        super().__init__()
        self.body, self.head, self.other = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 2)

    def forward(self, x):
        h = self.body(x)
        return (self.head(h), self.other(h)) if self.training else self.head(h)


class OtherOutputs(AuxiliaryHead):
    def forward(self, x):
        h = self.body(x)
        return {"loss": h.mean()} if self.training else {"scores": self.head(h)}


class ConstantOutput(AuxiliaryHead):
    def forward(self, x):
        return self.head.bias.expand(x.shape[0], 2)


class OneConstantOutput(AuxiliaryHead):
    def forward(self, x):
        out = x.new_zeros(x.shape[0], 2)
        out[:, 0] = self.head(self.body(x))[:, 0]
        return {"table": self.head.weight * 2, "logits": out}
