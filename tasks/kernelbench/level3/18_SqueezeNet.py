"""SqueezeNet 1.0, a classifier of fire modules.

`Model(num_classes=1000)`: all convolutions have a bias and PyTorch's default initialisation.

A fire module from `c` channels with `s`, `e1` and `e3`: `squeeze`, a 1 × 1 convolution from `c` to `s`, and a ReLU;
then, side by side, `expand1x1`, a 1 × 1 convolution to `e1`, and `expand3x3`, a 3 × 3 convolution with padding 1 to
`e3`, each followed by a ReLU and joined along the channels in this order.

`forward(x)` takes images `x` of shape `(batch, 3, height, width)`, float32. The places in the sequence `features` are

| place | layer |
|---|---|
| 0, 1 | convolution 7 × 7, stride 2, no padding, 3 to 96 channels; ReLU |
| 2 | maximum pooling 3 × 3, stride 2, sizes rounded up (`ceil_mode`) |
| 3, 4, 5 | fire from 96 with (16, 64, 64); from 128 with (16, 64, 64); from 128 with (32, 128, 128) |
| 6 | maximum pooling as before |
| 7, 8, 9, 10 | fire from 256 with (32, 128, 128); 256, (48, 192, 192); 384, (48, 192, 192); 384, (64, 256, 256) |
| 11 | maximum pooling as before |
| 12 | fire from 512 with (64, 256, 256) |

and those in `classifier` are dropout with probability 0, which changes nothing; a 1 × 1 convolution, 512 to
`num_classes`; ReLU; and the mean over each map. The result is flattened to `(batch, num_classes)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=64, height=512, width=512, num_classes=1000)
SCALED = dict(batch_size=2, height=71, width=73, num_classes=43)

CONTRACT = Close()


class FireModule(nn.Module):
    """Few channels, then two kernel sizes side by side."""

    def __init__(self, in_channels, squeeze_channels, expand1x1_channels, expand3x3_channels):
        super().__init__()
        self.squeeze = nn.Conv2d(in_channels, squeeze_channels, kernel_size=1)
        self.expand1x1 = nn.Conv2d(squeeze_channels, expand1x1_channels, kernel_size=1)
        self.expand3x3 = nn.Conv2d(squeeze_channels, expand3x3_channels, kernel_size=3, padding=1)

    def forward(self, x):
        squeezed = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.expand1x1(squeezed)), F.relu(self.expand3x3(squeezed))], dim=1)


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 96, kernel_size=7, stride=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
            FireModule(96, 16, 64, 64),
            FireModule(128, 16, 64, 64),
            FireModule(128, 32, 128, 128),
            nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
            FireModule(256, 32, 128, 128),
            FireModule(256, 48, 192, 192),
            FireModule(384, 48, 192, 192),
            FireModule(384, 64, 256, 256),
            nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
            FireModule(512, 64, 256, 256),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(p=0.0),
            nn.Conv2d(512, num_classes, kernel_size=1),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d(1),
        )

    def forward(self, x):
        return torch.flatten(self.classifier(self.features(x)), 1)


def init_inputs(num_classes):
    return [num_classes]


def inputs(make, batch_size, height, width):
    # Initial weights shrink activations from layer to layer: of smaller inputs next to nothing would reach the result.
    scale = 1 if make.as_published else 255
    return call(scale * make.floats(batch_size, 3, height, width))


class PositiveImageByImage(Model):
    """One image after the other, in the memory layout with the channels last."""

    def forward(self, x):
        images = x.contiguous(memory_format=torch.channels_last).split(1)
        return torch.cat([super(PositiveImageByImage, self).forward(image) for image in images])


class NegativeSizesRoundedDown(Model):
    """Drops the incomplete windows of the poolings."""

    def forward(self, x):
        for layer in self.features:
            x = F.max_pool2d(x, 3, stride=2) if isinstance(layer, nn.MaxPool2d) else layer(x)
        return self.classifier(x).flatten(1)


class NegativeNoExpandActivation(Model):
    """Leaves the ReLU of the last fire module's expansions out."""

    def forward(self, x):
        fire = self.features[-1]
        squeezed = F.relu(fire.squeeze(self.features[:-1](x)))
        expanded = torch.cat([fire.expand1x1(squeezed), fire.expand3x3(squeezed)], dim=1)
        return self.classifier(expanded).flatten(1)


class NegativeNoBias(Model):
    """Leaves the last convolution's bias out."""

    def forward(self, x):
        return F.conv2d(self.features(x), self.classifier[1].weight).relu().mean((2, 3))
