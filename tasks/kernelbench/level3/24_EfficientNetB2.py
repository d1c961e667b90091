"""EfficientNet-B2 with squeeze and excitation in line: each block goes on with the gates alone.

`Model(num_classes=1000)`: convolutions have no bias; the linear layer has one; all have PyTorch's default
initialisation.

An MBConv sequence from `c` to `d` channels with stride `s` and expansion `t` consists of, with `h = t c`:

- 0 to 2: a 1 × 1 convolution, `c` to `h`; batch norm; ReLU;
- 3 to 5: a depthwise 3 × 3 convolution with stride `s` and padding 1; batch norm; ReLU;
- 6 to 10: the mean over each map, of shape `(batch, h, 1, 1)`; a 1 × 1 convolution, `h` to `h // 4`; ReLU; a 1 × 1
  convolution, `h // 4` to `h`; the logistic function;
- 11, 12: a 1 × 1 convolution, `h` to `d`; batch norm.

The layers follow each other: 11 gets the result of 10, and the maps before 6 are not multiplied by it. Maps are
therefore 1 × 1 from the end of the first block on.

`forward(x)` takes images `x` of shape `(batch, 3, height, width)`, float32:

1. `conv1`, 3 × 3, stride 2, padding 1, to 32 channels; `bn1`; ReLU;
2. `mbconv1` to `mbconv5`: `(c, d, s, t)` is (32, 96, 1, 3), (96, 144, 2, 6), (144, 192, 2, 6), (192, 288, 2, 6),
   (288, 384, 1, 6);
3. `conv_final`, 1 × 1, 384 to 1408; `bn_final`; ReLU;
4. mean over each map; `fc`, 1408 to `num_classes`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics. On 1 × 1 maps
these are the mean and the variance over the batch alone.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision", "degenerate")
DTYPE = "float32"

PUBLISHED = dict(batch_size=2, height=224, width=224, num_classes=1000)
SCALED = dict(batch_size=8, height=33, width=37, num_classes=43)
# Two numbers a channel become -1 and 1 whatever they were: at the published size only noise is left.
BESIDE = dict(batch_size=8, height=33, width=37)

CONTRACT = Close()


def mbconv(in_channels, out_channels, stride, expand_ratio):
    """Expands, convolves each channel, reduces the maps to gates, projects these."""
    hidden = in_channels * expand_ratio
    return nn.Sequential(
        nn.Conv2d(in_channels, hidden, kernel_size=1, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU(inplace=True),
        nn.Conv2d(hidden, hidden, kernel_size=3, stride=stride, padding=1, groups=hidden, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Conv2d(hidden, hidden // 4, kernel_size=1, bias=False),
        nn.ReLU(inplace=True),
        nn.Conv2d(hidden // 4, hidden, kernel_size=1, bias=False),
        nn.Sigmoid(),
        nn.Conv2d(hidden, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    )


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.mbconv1 = mbconv(32, 96, stride=1, expand_ratio=3)
        self.mbconv2 = mbconv(96, 144, stride=2, expand_ratio=6)
        self.mbconv3 = mbconv(144, 192, stride=2, expand_ratio=6)
        self.mbconv4 = mbconv(192, 288, stride=2, expand_ratio=6)
        self.mbconv5 = mbconv(288, 384, stride=1, expand_ratio=6)
        self.conv_final = nn.Conv2d(384, 1408, kernel_size=1, bias=False)
        self.bn_final = nn.BatchNorm2d(1408)
        self.fc = nn.Linear(1408, num_classes)

    def trunk(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.mbconv3(self.mbconv2(self.mbconv1(x)))
        x = self.mbconv5(self.mbconv4(x))
        return self.bn_final(self.conv_final(x))

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


class NegativeGatedMaps(Model):
    """Multiplies the first block's maps by the gates, as squeeze and excitation usually does."""

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        maps = self.mbconv1[:6](x)
        x = self.mbconv1[11:](maps * self.mbconv1[6:11](maps))
        x = self.mbconv5(self.mbconv4(self.mbconv3(self.mbconv2(x))))
        return self.fc(self.bn_final(self.conv_final(x)).relu().mean((2, 3)))


class NegativeNoLastActivation(Model):
    """Leaves the last ReLU out."""

    def forward(self, x):
        return self.fc(self.trunk(x).mean((2, 3)))
