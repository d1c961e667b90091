"""Depthwise convolution of square images with a kernel that is one column.

`Model(in_channels, kernel_size, stride=1, padding=0, dilation=1, bias=False)` holds one layer,
`conv2d = nn.Conv2d(...)`, with these options and PyTorch's initialisation: `conv2d.weight` of shape
`(in_channels, 1, kernel_size, 1)` and, with `bias=True`, `conv2d.bias` with one number for each output channel. Every
channel is a group of its own; the kernel is `kernel_size` high and 1 wide, and stride, padding and dilation hold for
both dimensions.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's convolution, in
which the kernel is not turned around:

    y[b, c, i, j] = sum over u, v of weight[c, 0, u, v] * x[b, c, i', j'],
    i' = i * stride - padding + u * dilation, likewise j'

Places outside of `x` count as 0. Each output size is
`floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1`.

In this task stride and dilation are 1, and there is neither padding nor bias. Products and sums are float32, neither
TF32 nor half precision.
"""

from itertools import product

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=64, in_channels=8, kernel_size=3, stride=1, padding=0, dilation=1, size=512)
SCALED = dict(batch=3, in_channels=7, kernel_size=3, stride=1, padding=0, dilation=1, size=27)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        bias: bool = False,
    ):
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels,
            in_channels,
            (kernel_size, 1),
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=in_channels,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2d(x)


def init_inputs(in_channels, kernel_size, stride, padding, dilation):
    return [in_channels, kernel_size, stride, padding, dilation]


def inputs(make, batch, in_channels, size):
    return call(make.floats(batch, in_channels, size, size))


class PositiveTaps(Model):
    """One product for each tap of the kernel."""

    def forward(self, x):
        weight = self.conv2d.weight
        height, width = (size - k + 1 for size, k in zip(x.shape[2:], weight.shape[2:], strict=True))
        return sum(
            weight[:, :, u, v, None] * x[:, :, u : u + height, v : v + width]
            for u, v in product(*map(range, weight.shape[2:]))
        )


class NegativeFirstKernel(Model):
    """Uses the first channel's kernel for all channels."""

    def forward(self, x):
        weight = self.conv2d.weight
        return F.conv2d(x, weight[:1].expand_as(weight), groups=x.shape[1])


class NegativeTurnedKernel(Model):
    """Turns the kernel around."""

    def forward(self, x):
        return F.conv2d(x, self.conv2d.weight.flip(2), groups=x.shape[1])
