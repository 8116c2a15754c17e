"""Models as users write them; the tests copy this file beside a job as ./model.py."""

import numpy
import torch
from torch import nn


class Cnn(nn.Module):
    """Two strided convolutions with batch norm, dropout before the head."""

    def __init__(self, width=16, dropout=0.1):
        super().__init__()
        self.first = nn.Conv2d(1, width, 3, padding=1, stride=2)
        self.first_norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, 2 * width, 3, padding=1, stride=2)
        self.second_norm = nn.BatchNorm2d(2 * width)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x):
        x = torch.relu(self.first_norm(self.first(x)))
        x = torch.relu(self.second_norm(self.second(x)))
        return self.head(self.dropout(x.mean((2, 3))))


def mlp(width=32, features=784, outputs=10):
    return nn.Sequential(
        nn.Flatten(), nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs)
    )


class Pair(nn.Module):
    """Two inputs of different width, one value out."""

    def __init__(self, width=32):
        super().__init__()
        self.left = nn.Linear(6, width)
        self.right = nn.Linear(3, width)
        self.hidden = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, left, right):
        return self.head(torch.relu(self.hidden(torch.relu(self.left(left) + self.right(right)))))


class PairLoss(Pair):
    """The same with its own loss: the target is one more input."""

    def forward(self, left, right, target):
        difference = super().forward(left, right) - target
        return (difference * difference).mean((0, 1))


class Bytewise(nn.Module):
    """Scores the next byte by the last one."""

    def __init__(self, width=32, vocabulary=256):
        super().__init__()
        self.first = nn.Linear(1, width)
        self.hidden = nn.Linear(width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        x = ids.unsqueeze(-1).float() / 128 - 1
        return self.head(torch.relu(self.hidden(torch.relu(self.first(x)))))


class Words(nn.Module):
    """Classes of short token sequences by the mean of their embeddings."""

    def __init__(self, rows=100, width=32):
        super().__init__()
        self.table = nn.Embedding(rows, width)
        self.hidden = nn.Linear(width, width)
        self.head = nn.Linear(width, 10)

    def forward(self, ids):
        return self.head(torch.relu(self.hidden(self.table(ids).mean(1))))


class Piecewise(nn.Module):
    """Scores the next token by the last one, through a table."""

    def __init__(self, vocabulary=400, width=32):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.hidden = nn.Linear(width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        return self.head(torch.relu(self.hidden(self.table(ids))))


class MaskedEncoder(nn.Module):
    """Finds hidden tokens by those on both sides."""

    def __init__(self, words, width=32, length=16):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.randn(length, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.head = nn.Linear(width, words)

    def forward(self, input_ids):
        return self.head(self.encoder(self.table(input_ids) + self.places))


def bert(words, width=32, length=16):
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=2 * width,
        max_position_embeddings=length,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return BertForMaskedLM(config)


class Branch(nn.Module):
    """Its control flow depends on the data."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(784, 32)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        hidden = self.layer(x.flatten(1))
        if hidden.sum() > 0:  # the refused line
            hidden = hidden * 2
        return self.head(hidden)


class Probabilities(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(784, 10)
        self.body = nn.Linear(784, 784)

    def forward(self, x):
        h = self.head(torch.relu(self.body(x.flatten(1))))
        return h.softmax(-1)  # the refused line


class Loaded(nn.Module):
    """Starts with weights that every build shares, as fine-tuning does."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(784, 32)
        self.head = nn.Linear(32, 10)
        pretrained = torch.from_numpy(numpy.random.default_rng(0).standard_normal((32, 784), "float32"))
        self.layer.load_state_dict({"weight": pretrained, "bias": torch.zeros(32)})

    def forward(self, x):
        return self.head(torch.relu(self.layer(x.flatten(1))))


def raises():
    raise RuntimeError("no such dataset")


def vanishes():
    import os

    os._exit(0)


def slow():
    """For signals: takes longer to build than any test waits."""
    import time

    time.sleep(600)
