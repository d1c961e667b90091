"""ResNet-101, a residual classifier of bottleneck blocks.

`Model(layers, num_classes=1000)`: `layers` is the number of blocks in each of the four stages, `[3, 4, 23, 3]` for
101 layers. Convolutions have no bias; the linear layer has one; all have PyTorch's default initialisation.

A bottleneck block from `c` channels, of width `d` and with stride `s`, computes
`relu(bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x)))))))) + shortcut)`: `conv1` is 1 × 1 to `d`, `conv2` 3 × 3 with
stride `s` and padding 1, `conv3` 1 × 1 to `4 d`. The shortcut is `x` itself, or, where `s` is not 1 or `c` is not
`4 d`, `downsample`: a 1 × 1 convolution to `4 d` with stride `s` and a batch norm.

`forward(x)` takes images `x` of shape `(batch, 3, height, width)`, float32:

1. `conv1`, 7 × 7, stride 2, padding 3, to 64; `bn1`; ReLU; maximum pooling 3 × 3, stride 2, padding 1;
2. `layer1` to `layer4`: `layers[i]` blocks of width 64, 128, 256 and 512; the first block of `layer2` to `layer4` has
   stride 2, all others 1;
3. mean over each map; `fc`, 2048 to `num_classes`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=10, height=224, width=224, layers=[3, 4, 23, 3], num_classes=1000)
SCALED = dict(batch_size=3, height=67, width=75, layers=[1, 2, 2, 1], num_classes=43)

CONTRACT = Close()


class Bottleneck(nn.Module):
    """A 3 × 3 convolution between two 1 × 1 convolutions, with a shortcut around them."""

    expansion = 4

    def __init__(self, in_channels, width, stride, downsample):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, width, kernel_size=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width * self.expansion, kernel_size=1, bias=False)
        self.bn3 = nn.BatchNorm2d(width * self.expansion)
        self.downsample = downsample

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = F.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        shortcut = x if self.downsample is None else self.downsample(x)
        return F.relu(out + shortcut)


def stage(in_channels, width, blocks, stride):
    """Blocks of one width; the first one changes the number of channels and the resolution."""
    out_channels = width * Bottleneck.expansion
    downsample = None
    if stride != 1 or in_channels != out_channels:
        downsample = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride, bias=False),
            nn.BatchNorm2d(out_channels),
        )
    first = Bottleneck(in_channels, width, stride, downsample)
    return nn.Sequential(first, *(Bottleneck(out_channels, width, 1, None) for _ in range(1, blocks)))


class Model(nn.Module):
    def __init__(self, layers, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = stage(64, 64, layers[0], stride=1)
        self.layer2 = stage(256, 128, layers[1], stride=2)
        self.layer3 = stage(512, 256, layers[2], stride=2)
        self.layer4 = stage(1024, 512, layers[3], stride=2)
        self.fc = nn.Linear(2048, num_classes)

    def features(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), 1)
        return self.fc(torch.flatten(x, 1))


def init_inputs(layers, num_classes):
    return [layers, num_classes]


def inputs(make, batch_size, height, width):
    return call(make.floats(batch_size, 3, height, width))


class PositivePlainConvolutions(Model):
    """Convolutions as products of unfolded patches, without the algorithms of oneDNN and cuDNN."""

    def forward(self, x):
        with torch.backends.mkldnn.flags(enabled=False), torch.backends.cudnn.flags(enabled=False):
            return super().forward(x)


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)


class NegativeNoBias(Model):
    """Leaves the classifier's bias out."""

    def forward(self, x):
        return F.linear(self.features(x).mean((2, 3)), self.fc.weight)


class NegativeMaximumOfMaps(Model):
    """Takes each map's maximum instead of its mean."""

    def forward(self, x):
        return self.fc(self.features(x).amax((2, 3)))
