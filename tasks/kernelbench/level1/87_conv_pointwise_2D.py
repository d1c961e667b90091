"""Pointwise convolution of images.

`Model(in_channels, out_channels, bias=False)` holds one layer,
`conv1d = nn.Conv2d(in_channels, out_channels, kernel_size=1)`, with PyTorch's initialisation: `conv1d.weight` of shape
`(out_channels, in_channels, 1, 1)` and, with `bias=True`, `conv1d.bias` of shape `(out_channels,)`. This task has no
bias.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and mixes the channels of every place by
itself:

    y[b, o, i, j] = sum over c of weight[o, c, 0, 0] * x[b, c, i, j]

The result has shape `(batch, out_channels, height, width)`. Products and sums are float32, neither TF32 nor half
precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "matmul")
DTYPE = "float32"

PUBLISHED = dict(batch=16, in_channels=64, out_channels=128, size=1024)
SCALED = dict(batch=2, in_channels=19, out_channels=7, size=27)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, bias: bool = False):
        super().__init__()
        self.conv1d = nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1d(x)


def init_inputs(in_channels, out_channels):
    return [in_channels, out_channels]


def inputs(make, batch, in_channels, size):
    return call(make.floats(batch, in_channels, size, size))


class PositiveBlocked(Model):
    """Products of matrices over blocks of 16 input channels."""

    def forward(self, x):
        weight = self.conv1d.weight[:, :, 0, 0]
        blocks = zip(weight.split(16, dim=1), x.split(16, dim=1), strict=True)
        return sum(torch.einsum("oc,bchw->bohw", w, part) for w, part in blocks)


class NegativeChannelsLast(Model):
    """Reads the image's memory as if the channels came last."""

    def forward(self, x):
        batch, channels, height, width = x.shape
        return self.conv1d(x.reshape(batch, height, width, channels).permute(0, 3, 1, 2))


class NegativeLastChannelsMissing(Model):
    """The loop over input channels ends 16 channels early."""

    def forward(self, x):
        return F.conv2d(x[:, :-16], self.conv1d.weight[:, :-16])


class NegativeHalfPrecision(Model):
    """Rounds numbers and weights to half precision for the tensor cores."""

    def forward(self, x):
        return F.conv2d(x.half().float(), self.conv1d.weight.half().float())
