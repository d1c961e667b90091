"""ResNet-18, a residual classifier of basic blocks.

`Model(num_classes=1000)`: convolutions have no bias; the linear layer has one; all have PyTorch's default
initialisation.

A basic block from `c` to `d` channels with stride `s` computes `relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut)`:
`conv1` is 3 × 3 with stride `s` and padding 1, `conv2` 3 × 3 with stride 1 and padding 1. The shortcut is `x` itself,
or, where `s` is not 1 or `c` is not `d`, `downsample`: a 1 × 1 convolution with stride `s` and a batch norm.

`forward(x)` takes images `x` of shape `(batch, 3, height, width)`, float32:

1. `conv1`, 7 × 7, stride 2, padding 3, to 64; `bn1`; ReLU; maximum pooling 3 × 3, stride 2, padding 1;
2. `layer1` to `layer4`: two basic blocks each, of 64, 128, 256 and 512 channels; the first block of `layer2` to
   `layer4` has stride 2, all others 1;
3. mean over each map; `fc`, 512 to `num_classes`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=2, height=224, width=224, num_classes=1000)
SCALED = dict(batch_size=3, height=67, width=75, num_classes=43)

CONTRACT = Close()


class BasicBlock(nn.Module):
    """Two 3 × 3 convolutions with a shortcut around them."""

    def __init__(self, in_channels, out_channels, stride, downsample):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.downsample = downsample

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        shortcut = x if self.downsample is None else self.downsample(x)
        return F.relu(out + shortcut)


def stage(in_channels, out_channels, blocks, stride):
    """Blocks of one width; the first one changes width and resolution."""
    downsample = None
    if stride != 1 or in_channels != out_channels:
        downsample = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride, bias=False),
            nn.BatchNorm2d(out_channels),
        )
    first = BasicBlock(in_channels, out_channels, stride, downsample)
    return nn.Sequential(first, *(BasicBlock(out_channels, out_channels, 1, None) for _ in range(1, blocks)))


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = stage(64, 64, blocks=2, stride=1)
        self.layer2 = stage(64, 128, blocks=2, stride=2)
        self.layer3 = stage(128, 256, blocks=2, stride=2)
        self.layer4 = stage(256, 512, blocks=2, stride=2)
        self.fc = nn.Linear(512, num_classes)

    def features(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), 1)
        return self.fc(torch.flatten(x, 1))


def init_inputs(num_classes):
    return [num_classes]


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


class NegativeNoStemActivation(Model):
    """Leaves the first ReLU out."""

    def forward(self, x):
        x = self.maxpool(self.bn1(self.conv1(x)))
        return self.fc(self.layer4(self.layer3(self.layer2(self.layer1(x)))).mean((2, 3)))


class NegativeMaximumOfMaps(Model):
    """Takes each map's maximum instead of its mean."""

    def forward(self, x):
        return self.fc(self.features(x).amax((2, 3)))
