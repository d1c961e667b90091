"""ShuffleNet unit: grouped convolutions with a shuffle of the channels between them.

`Model(in_channels, out_channels, groups=3)`, with `mid = out_channels // 4`, a multiple of `groups`. Convolutions
have stride 1, no bias and PyTorch's default initialisation; each is followed by a batch norm.

- `conv1`, `bn1`: 1 × 1 in `groups` groups, `in_channels` to `mid`;
- `conv2`, `bn2`: depthwise 3 × 3 (`mid` groups) with padding 1, `mid` to `mid`;
- `conv3`, `bn3`: 1 × 1 in `groups` groups, `mid` to `out_channels`;
- `shortcut`: the input itself if `in_channels` equals `out_channels`, otherwise a sequence of a 1 × 1 convolution
  without groups, `in_channels` to `out_channels`, and a batch norm.

`forward(x)` takes `x` of shape `(batch, in_channels, height, width)`, float32: `relu(bn1(conv1(x)))`;
`bn2(conv2(·))`, with no activation; the shuffle, after which channel `i · groups + g` is channel
`g · (mid / groups) + i` of before; `relu(bn3(conv3(·)))`; and the sum with `shortcut(x)`, after which there is no
activation.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=10, height=224, width=224, in_channels=240, out_channels=480, groups=3)
SCALED = dict(batch_size=2, height=11, width=13, in_channels=30, out_channels=60, groups=3)

CONTRACT = Close()


class ChannelShuffle(nn.Module):
    """Hands each group's channels out to all groups."""

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, x):
        return x.unflatten(1, (self.groups, -1)).transpose(1, 2).flatten(1, 2)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, groups=3):
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


def init_inputs(in_channels, out_channels, groups):
    return [in_channels, out_channels, groups]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveShuffledWeights(Model):
    """Shuffles the weights of the depthwise convolution and of its batch norm instead of the result."""

    def forward(self, x):
        out = self.shuffle(F.relu(self.bn1(self.conv1(x))))
        conv2, scale, shift = (self.shuffle(p[None])[0] for p in (self.conv2.weight, self.bn2.weight, self.bn2.bias))
        out = F.conv2d(out, conv2, padding=1, groups=len(conv2))
        center = out - out.mean((0, 2, 3), keepdim=True)
        spread = (center.square().mean((0, 2, 3)) + self.bn2.eps).sqrt()
        out = center * (scale / spread)[:, None, None] + shift[:, None, None]
        return F.relu(self.bn3(self.conv3(out))) + self.shortcut(x)


class NegativeNoShuffle(Model):
    """Leaves the channels where they are."""

    def forward(self, x):
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(self.bn3(self.conv3(out))) + self.shortcut(x)


class NegativeInverseShuffle(Model):
    """Shuffles the other way round."""

    def forward(self, x):
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        out = out.unflatten(1, (-1, self.shuffle.groups)).transpose(1, 2).flatten(1, 2)
        return F.relu(self.bn3(self.conv3(out))) + self.shortcut(x)


class NegativeActivationAfterSum(Model):
    """Applies the last ReLU to the sum."""

    def forward(self, x):
        out = self.shuffle(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(out)) + self.shortcut(x))


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)
