"""EfficientNet-B0, a classifier of inverted bottlenecks, without squeeze and excitation.

`Model(num_classes=1000)`: convolutions have no bias; the linear layer has one; all have PyTorch's default
initialisation.

An MBConv block from `c` to `d` channels with kernel size `k`, stride `s` and expansion `t` applies three sequences,
with `h = t c`: `expand_conv`, only if `t` is not 1: a 1 × 1 convolution to `h`, batch norm, ReLU6; `depthwise_conv`:
a depthwise `k × k` convolution with stride `s` and padding `(k - 1) // 2`, batch norm, ReLU6; `project_conv`: a 1 × 1
convolution to `d`, batch norm. Where `s` is 1 and `c = d`, the block's input is added to the result. ReLU6 is
`min(max(x, 0), 6)`.

`forward(x)` takes images `x` of shape `(batch, 3, height, width)`, float32:

1. `conv1`, 3 × 3, stride 2, padding 1, to 32 channels; `bn1`; ReLU;
2. `blocks`, an `nn.Sequential` of 13: `(c, d, k, s, t)` is (32, 16, 3, 1, 1), (16, 24, 3, 2, 6), (24, 24, 3, 1, 6),
   (24, 40, 5, 2, 6), (40, 40, 5, 1, 6), (40, 80, 3, 2, 6), (80, 80, 3, 1, 6), (80, 112, 5, 1, 6),
   (112, 112, 5, 1, 6), (112, 192, 5, 2, 6), (192, 192, 5, 1, 6), (192, 192, 5, 1, 6), (192, 320, 3, 1, 6);
3. `conv2`, 1 × 1, 320 to 1280; `bn2`; ReLU;
4. mean over each map; `fc`, 1280 to `num_classes`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=10, height=224, width=224, num_classes=1000)
SCALED = dict(batch_size=4, height=67, width=69, num_classes=43)

CONTRACT = Close()

# Input channels, output channels, kernel size, stride and expansion.
BLOCKS = (
    (32, 16, 3, 1, 1),
    (16, 24, 3, 2, 6),
    (24, 24, 3, 1, 6),
    (24, 40, 5, 2, 6),
    (40, 40, 5, 1, 6),
    (40, 80, 3, 2, 6),
    (80, 80, 3, 1, 6),
    (80, 112, 5, 1, 6),
    (112, 112, 5, 1, 6),
    (112, 192, 5, 2, 6),
    (192, 192, 5, 1, 6),
    (192, 192, 5, 1, 6),
    (192, 320, 3, 1, 6),
)


class MBConv(nn.Module):
    """Expands, convolves each channel, projects; with a shortcut where the shapes agree."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, expand_ratio):
        super().__init__()
        hidden = in_channels * expand_ratio
        self.use_residual = stride == 1 and in_channels == out_channels
        self.expand_conv = nn.Identity()
        if expand_ratio != 1:
            self.expand_conv = nn.Sequential(
                nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False),
                nn.BatchNorm2d(hidden),
                nn.ReLU6(inplace=True),
            )
        padding = (kernel_size - 1) // 2
        self.depthwise_conv = nn.Sequential(
            nn.Conv2d(hidden, hidden, kernel_size, stride, padding, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
        )
        self.project_conv = nn.Sequential(
            nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, x):
        out = self.project_conv(self.depthwise_conv(self.expand_conv(x)))
        return x + out if self.use_residual else out


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.blocks = nn.Sequential(*(MBConv(*block) for block in BLOCKS))
        self.conv2 = nn.Conv2d(320, 1280, kernel_size=1, bias=False)
        self.bn2 = nn.BatchNorm2d(1280)
        self.fc = nn.Linear(1280, num_classes)

    def trunk(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        return self.bn2(self.conv2(self.blocks(x)))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(F.relu(self.trunk(x)), 1)
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


class NegativeNoShortcuts(Model):
    """Leaves the blocks' shortcuts out."""

    def __init__(self, num_classes=1000):
        super().__init__(num_classes)
        for block in self.blocks:
            block.use_residual = False


class NegativeNoLastActivation(Model):
    """Leaves the last ReLU out."""

    def forward(self, x):
        return self.fc(self.trunk(x).mean((2, 3)))
