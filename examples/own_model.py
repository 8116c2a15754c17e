"""A small convolutional network, as a user might write it: nothing here knows of Hydro."""

from torch import nn


def build(channels: int, classes: int) -> nn.Module:
    """Two convolutions, each followed by batch norm and pooling, then a linear layer."""
    return nn.Sequential(
        nn.Conv2d(1, channels, 3, padding=1, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1, bias=False),
        nn.BatchNorm2d(2 * channels),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * channels, classes),
    )
