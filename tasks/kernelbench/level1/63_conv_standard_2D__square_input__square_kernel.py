"""Convolution of square images with a square kernel.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=False)` holds one layer,
`conv2d = nn.Conv2d(...)`, with these options and PyTorch's initialisation: `conv2d.weight` of shape
`(out_channels, in_channels / groups, kernel_size, kernel_size)` and, with `bias=True`, `conv2d.bias` of shape
`(out_channels,)`.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's convolution, in
which the kernel is not turned around:

    y[b, o, i, j] = sum over c, u, v of weight[o, c, u, v] * x[b, c, i', j'],
    i' = i * stride - padding + u * dilation, likewise j'

Places outside of `x` count as 0. Each output size is
`floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1`. With groups, the outputs of a group see the
inputs of the same group only.

In this task stride and dilation are 1, there is no padding, one group and no bias. Products and sums are float32,
neither TF32 nor half precision.
"""

from itertools import product

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=16, in_channels=16, out_channels=128, kernel_size=3, size=1024)
SCALED = dict(batch=2, in_channels=5, out_channels=7, kernel_size=3, size=27)

# Hundreds of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = False,
    ):
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2d(x)


def init_inputs(in_channels, out_channels, kernel_size):
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch, in_channels, size):
    return call(make.floats(batch, in_channels, size, size))


class PositiveTaps(Model):
    """One product of matrices for each tap of the kernel."""

    def forward(self, x):
        weight = self.conv2d.weight
        height, width = (size - k + 1 for size, k in zip(x.shape[2:], weight.shape[2:], strict=True))
        return sum(
            torch.einsum("oc,bchw->bohw", weight[:, :, u, v], x[:, :, u : u + height, v : v + width])
            for u, v in product(*map(range, weight.shape[2:]))
        )


class NegativeTransposedKernel(Model):
    """Reads the kernel's rows as its columns."""

    def forward(self, x):
        return F.conv2d(x, self.conv2d.weight.transpose(2, 3))


class NegativeHalfPrecision(Model):
    """Rounds numbers and weights to half precision for the tensor cores."""

    def forward(self, x):
        return F.conv2d(x.half().float(), self.conv2d.weight.half().float())


class NegativeLastChannelMissing(Model):
    """The loop over input channels ends one early."""

    def forward(self, x):
        return F.conv2d(x[:, :-1], self.conv2d.weight[:, :-1])
