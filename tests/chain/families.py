"""Model families with a width argument: every width is ceil(n / shrink), so that the exported wide model, shrunk by
Hydro, must equal the narrow one built here."""
import math

import torch
from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet


def narrow(n, shrink):
    return math.ceil(n / shrink)


def mlp(shrink=1):
    """Widths that 2, 4 and 8 do not divide."""
    a, b = narrow(100, shrink), narrow(60, shrink)
    return nn.Sequential(nn.Linear(20, a), nn.ReLU(), nn.Dropout(0.0), nn.Linear(a, b), nn.ReLU(inplace=True),
                         nn.Linear(b, 10))


class Narrow(ResNet):
    """torchvision's ResNet with `planes` instead of 64 in the stem."""

    def __init__(self, block, layers, planes, **kwargs):
        super().__init__(block, [1, 1, 1, 1], num_classes=10, **kwargs)
        self.inplanes = planes
        self.conv1 = nn.Conv2d(3, planes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        for i, count in enumerate(layers):
            setattr(self, f"layer{i + 1}", self._make_layer(block, planes << i, count, stride=1 if i == 0 else 2))
        self.fc = nn.Linear((planes << (len(layers) - 1)) * block.expansion, 10)


def resnet18(shrink=1):
    return Narrow(BasicBlock, [2, 2, 2, 2], narrow(64, shrink))


def resnet18_dropout():
    model = resnet18()
    model.fc = nn.Sequential(nn.Dropout(0.2), model.fc)
    return model


def wide_bottleneck(shrink=1):
    return Narrow(Bottleneck, [1, 2, 1, 1], narrow(32, shrink), width_per_group=128)


def resnext(shrink=1):
    """Fixed groups: the channels of one group shrink."""
    return Narrow(Bottleneck, [1, 1, 1, 1], narrow(64, shrink), groups=4, width_per_group=32)


def vgg(batch_norm, shrink=1):
    layers, channels = [], 3
    for width in (64, "M", 128, "M", 200, 200, "M"):
        if width == "M":
            layers.append(nn.MaxPool2d(2, 2))
            continue
        layers.append(nn.Conv2d(channels, narrow(width, shrink), 3, padding=1))
        channels = narrow(width, shrink)
        layers += [nn.BatchNorm2d(channels)] if batch_norm else []
        layers.append(nn.ReLU(inplace=True))
    hidden = narrow(512, shrink)
    head = [nn.AdaptiveAvgPool2d((3, 3)), nn.Flatten(), nn.Linear(channels * 9, hidden), nn.ReLU(True), nn.Dropout(0.0),
            nn.Linear(hidden, hidden), nn.ReLU(True), nn.Linear(hidden, 10)]
    return nn.Sequential(*layers, *head)


class Depthwise(nn.Module):
    """Separable convolutions, one with two outputs a channel, mean over the image, two flattens."""

    def __init__(self, shrink):
        super().__init__()
        a, b = narrow(48, shrink), narrow(100, shrink)
        self.stem = nn.Conv2d(3, a, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(a)
        self.deep = nn.Conv2d(a, a, 3, padding=1, groups=a)
        self.point = nn.Conv2d(a, b, 1)
        self.second = nn.Conv2d(b, 2 * b, 3, stride=2, padding=1, groups=b, bias=False)
        self.head = nn.Linear(2 * b, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.stem(x)))
        x = torch.relu(self.deep(x)) + x
        x = torch.relu(self.point(x))
        x = nn.functional.avg_pool2d(torch.relu(self.second(x)), 2)
        return self.head(torch.flatten(x.mean((2, 3), keepdim=True), 1).view(x.size(0), -1))


def depthwise(shrink=1):
    return Depthwise(shrink)


def plain_mlp(features, width):
    return nn.Sequential(nn.Flatten(), nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, 10))


def noisy_mlp():
    """Batch norm and dropout after every hidden layer."""
    layers, features = [], 32
    for width in (256, 128):
        layers += [nn.Linear(features, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.2)]
        features = width
    return nn.Sequential(*layers, nn.Linear(features, 10))


class OwnLinear(nn.Linear):
    """A subclass whose forward does more than its base's."""

    def forward(self, x):
        return super().forward(torch.relu(x.mean((2, 3))))


class Functional(nn.Module):
    """Bare parameters used by functional calls, two flattens, a view, a mean over height and width."""

    def __init__(self):
        super().__init__()
        self.kernel = nn.Parameter(nn.init.kaiming_uniform_(torch.empty(48, 3, 3, 3), a=1))
        self.gain = nn.Parameter(torch.ones(48, 1, 1))
        self.mix = nn.Parameter(nn.init.kaiming_uniform_(torch.empty(64, 48 * 64), a=1))
        self.shift = nn.Parameter(torch.zeros(64))
        self.head = OwnLinear(64, 10)

    def forward(self, x):
        x = torch.relu(nn.functional.conv2d(x, self.kernel, padding=1) * self.gain)
        x = nn.functional.linear(torch.flatten(torch.flatten(x, 2), 1), self.mix, self.shift)
        return self.head(x.view(x.size(0), 64, 1, 1))


FAMILIES = {"mlp": (mlp, {}, [20]), "resnet18": (resnet18, {}, [3, 28, 28]),
            "wide_bottleneck": (wide_bottleneck, {}, [3, 32, 32]), "resnext": (resnext, {}, [3, 32, 32]),
            "vgg": (vgg, {"batch_norm": False}, [3, 32, 32]), "vgg_bn": (vgg, {"batch_norm": True}, [3, 32, 32]),
            "depthwise": (depthwise, {}, [3, 16, 16])}
# Their images are 32 x 32.
TORCHVISION = {"resnet18": {"num_classes": 10}, "resnet34": {"num_classes": 10}, "resnet50": {"num_classes": 10},
               "wide_resnet50_2": {"num_classes": 1000}, "vgg11": {"num_classes": 100}, "vgg11_bn": {"num_classes": 100},
               "vgg13_bn": {"num_classes": 100}, "mobilenet_v2": {"num_classes": 10},
               "squeezenet1_1": {"num_classes": 10}, "swin_t": {"num_classes": 10},
               "vit_b_16": {"num_classes": 10, "image_size": 32}}
# Exported at full width only: what is checked is how their surrogates train.
WHOLE = {"mlp32": (plain_mlp, {"features": 32, "width": 1024}, [32]),
         "mlp784": (plain_mlp, {"features": 784, "width": 512}, [1, 28, 28]),
         "functional": (Functional, {}, [3, 8, 8]),
         "noisy_mlp": (noisy_mlp, {}, [32]),
         "resnet18_dropout": (resnet18_dropout, {}, [3, 28, 28])}
