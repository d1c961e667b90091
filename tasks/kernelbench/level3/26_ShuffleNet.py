"""ShuffleNet, a classifier of grouped convolutions with shuffled channels.

`Model(num_classes=1000, groups=3, stages_repeats=[3, 7, 3], stages_out_channels=[24, 240, 480, 960])`: convolutions
have no bias; the linear layer has one; all have PyTorch's default initialisation.

A unit from `c` to `d` channels, with `mid = d // 4`, has the convolutions `conv1`, 1 × 1 in `groups` groups to `mid`;
`conv2`, depthwise 3 × 3 with padding 1; `conv3`, 1 × 1 in `groups` groups to `d`; all with stride 1, each followed by
its batch norm `bn1`, `bn2`, `bn3`. It computes `out = shuffle(bn2(conv2(relu(bn1(conv1(x))))))` and returns
`relu(bn3(conv3(out))) + shortcut(x)`. In the shuffle, channel `i · groups + g` becomes what channel
`g · (mid / groups) + i` was. `shortcut` is the identity if `c = d`, otherwise a sequence of a 1 × 1 convolution
without groups and a batch norm.

`forward(x)` takes images `x` of shape `(batch, 3, height, width)`, float32:

1. `conv1`, 3 × 3, stride 2, padding 1, to `stages_out_channels[0]`; `bn1`; ReLU; maximum pooling 3 × 3, stride 2,
   padding 1;
2. `stage2`, `stage3`, `stage4`: sequences of `stages_repeats[i]` units to `stages_out_channels[i + 1]` channels, of
   which the first one changes the number of channels; the resolution stays;
3. `conv5`, 1 × 1, to 1024; `bn5`; ReLU;
4. mean over each map; `fc`, 1024 to `num_classes`.

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
SCALED = dict(batch_size=2, height=33, width=37, num_classes=43)

CONTRACT = Close()


class ChannelShuffle(nn.Module):
    """Hands each group's channels out to all groups."""

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, x):
        return x.unflatten(1, (self.groups, -1)).transpose(1, 2).flatten(1, 2)


class ShuffleNetUnit(nn.Module):
    """A bottleneck of grouped convolutions, with a shortcut around it."""

    def __init__(self, in_channels, out_channels, groups):
        super().__init__()
        mid = out_channels // 4
        self.conv1 = nn.Conv2d(in_channels, mid, kernel_size=1, groups=groups, bias=False)
        self.bn1 = nn.BatchNorm2d(mid)
        self.conv2 = nn.Conv2d(mid, mid, kernel_size=3, padding=1, groups=mid, bias=False)
        self.bn2 = nn.BatchNorm2d(mid)
        self.conv3 = nn.Conv2d(mid, out_channels, kernel_size=1, groups=groups, bias=False)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.shuffle = ChannelShuffle(groups)
        self.shortcut = nn.Identity()
        if in_channels != out_channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=False),
                nn.BatchNorm2d(out_channels),
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out = self.shuffle(out)
        out = F.relu(self.bn3(self.conv3(out)))
        return out + self.shortcut(x)


def stage(in_channels, out_channels, repeats, groups):
    """Units of one width; the first one changes the number of channels."""
    widths = [in_channels] + [out_channels] * (repeats - 1)
    return nn.Sequential(*(ShuffleNetUnit(width, out_channels, groups) for width in widths))


class Model(nn.Module):
    def __init__(
        self,
        num_classes=1000,
        groups=3,
        stages_repeats=[3, 7, 3],  # noqa: B006
        stages_out_channels=[24, 240, 480, 960],  # noqa: B006
    ):
        super().__init__()
        stem, *widths = stages_out_channels
        self.conv1 = nn.Conv2d(3, stem, kernel_size=3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(stem)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.stage2 = stage(stem, widths[0], stages_repeats[0], groups)
        self.stage3 = stage(widths[0], widths[1], stages_repeats[1], groups)
        self.stage4 = stage(widths[1], widths[2], stages_repeats[2], groups)
        self.conv5 = nn.Conv2d(widths[2], 1024, kernel_size=1, bias=False)
        self.bn5 = nn.BatchNorm2d(1024)
        self.fc = nn.Linear(1024, num_classes)

    def trunk(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.stage4(self.stage3(self.stage2(x)))
        return self.bn5(self.conv5(x))

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


class NegativeNoShuffle(Model):
    """Leaves the channels where they are."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for module in self.modules():
            if isinstance(module, ShuffleNetUnit):
                module.shuffle = nn.Identity()


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)


class NegativeNoLastActivation(Model):
    """Leaves the last ReLU out."""

    def forward(self, x):
        return self.fc(self.trunk(x).mean((2, 3)))
