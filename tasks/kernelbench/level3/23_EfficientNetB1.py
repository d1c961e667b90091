"""EfficientNet-B1 with one inverted bottleneck for each stage, without squeeze and excitation and without shortcuts.

`Model(num_classes=1000)`: convolutions have no bias; the linear layer has one; all have PyTorch's default
initialisation.

An MBConv sequence from `c` to `d` channels with stride `s` and expansion `t` consists of, with `h = round(t c)`: a
1 × 1 convolution to `h` (also where `t` is 1), batch norm, ReLU6; a depthwise 3 × 3 convolution with stride `s` and
padding 1, batch norm, ReLU6; a 1 × 1 convolution to `d`, batch norm. Its input is never added to the result. ReLU6 is
`min(max(x, 0), 6)`.

`forward(x)` takes images `x` of shape `(batch, 3, height, width)`, float32:

1. `conv1`, 3 × 3, stride 2, padding 1, to 32 channels; `bn1`; ReLU;
2. `mbconv1` to `mbconv7`: `(c, d, s, t)` is (32, 16, 1, 1), (16, 24, 2, 6), (24, 40, 2, 6), (40, 80, 2, 6),
   (80, 112, 1, 6), (112, 192, 2, 6), (192, 320, 1, 6);
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

PUBLISHED = dict(batch_size=10, height=240, width=240, num_classes=1000)
SCALED = dict(batch_size=4, height=67, width=69, num_classes=43)

CONTRACT = Close()


def mbconv(in_channels, out_channels, stride, expand_ratio):
    """Expands, convolves each channel, projects."""
    hidden = round(in_channels * expand_ratio)
    return nn.Sequential(
        nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU6(inplace=True),
        nn.Conv2d(hidden, hidden, kernel_size=3, stride=stride, padding=1, groups=hidden, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU6(inplace=True),
        nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    )


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.mbconv1 = mbconv(32, 16, stride=1, expand_ratio=1)
        self.mbconv2 = mbconv(16, 24, stride=2, expand_ratio=6)
        self.mbconv3 = mbconv(24, 40, stride=2, expand_ratio=6)
        self.mbconv4 = mbconv(40, 80, stride=2, expand_ratio=6)
        self.mbconv5 = mbconv(80, 112, stride=1, expand_ratio=6)
        self.mbconv6 = mbconv(112, 192, stride=2, expand_ratio=6)
        self.mbconv7 = mbconv(192, 320, stride=1, expand_ratio=6)
        self.conv2 = nn.Conv2d(320, 1280, kernel_size=1, bias=False)
        self.bn2 = nn.BatchNorm2d(1280)
        self.fc = nn.Linear(1280, num_classes)

    def trunk(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.mbconv3(self.mbconv2(self.mbconv1(x)))
        x = self.mbconv5(self.mbconv4(x))
        x = self.mbconv7(self.mbconv6(x))
        return self.bn2(self.conv2(x))

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


class NegativeActivatedProjections(Model):
    """Puts a ReLU6 behind a projection, which has none."""

    def __init__(self, num_classes=1000):
        super().__init__(num_classes)
        self.mbconv4.append(nn.ReLU6())


class NegativeNoLastActivation(Model):
    """Leaves the last ReLU out."""

    def forward(self, x):
        return self.fc(self.trunk(x).mean((2, 3)))
