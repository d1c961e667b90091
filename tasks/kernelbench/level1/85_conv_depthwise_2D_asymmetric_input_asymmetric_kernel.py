"""Depthwise convolution of rectangular images with a rectangular kernel.

`Model(in_channels, out_channels, kernel_size_h, kernel_size_w, stride_h=1, stride_w=1, padding_h=0, padding_w=0,
dilation_h=1, dilation_w=1, groups=1, bias=False)` holds one layer, `conv2d = nn.Conv2d(...)`, with these options, save
that it is depthwise whatever they say: it has `in_channels` output channels and as many groups. `out_channels` and
`groups` are accepted and ignored. Weights have PyTorch's initialisation: `conv2d.weight` is of shape
`(in_channels, 1, kernel_size_h, kernel_size_w)` and, with `bias=True`, `conv2d.bias` has one number for each channel.
Names that end in `_h` hold for rows, those in `_w` for columns.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's convolution, in
which the kernel is not turned around:

    y[b, c, i, j] = sum over u, v of weight[c, 0, u, v] * x[b, c, i', j'],
    i' = i * stride - padding + u * dilation, likewise j'

Places outside of `x` count as 0. Each output size is
`floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1`.

In this task `out_channels` and `groups` equal `in_channels` besides; strides and dilations are 1, and there is neither
padding nor bias. Products and sums are float32, neither TF32 nor half precision.
"""

from itertools import product

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=32, in_channels=128, kernel_size_h=3, kernel_size_w=7, height=128, width=256)
SCALED = dict(batch=2, in_channels=7, kernel_size_h=3, kernel_size_w=7, height=21, width=33)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size_h: int,
        kernel_size_w: int,
        stride_h: int = 1,
        stride_w: int = 1,
        padding_h: int = 0,
        padding_w: int = 0,
        dilation_h: int = 1,
        dilation_w: int = 1,
        groups: int = 1,
        bias: bool = False,
    ):
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels,
            in_channels,
            (kernel_size_h, kernel_size_w),
            stride=(stride_h, stride_w),
            padding=(padding_h, padding_w),
            dilation=(dilation_h, dilation_w),
            groups=in_channels,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2d(x)


def init_inputs(in_channels, kernel_size_h, kernel_size_w):
    return [in_channels, in_channels, kernel_size_h, kernel_size_w, 1, 1, 0, 0, 1, 1, in_channels]


def inputs(make, batch, in_channels, height, width):
    return call(make.floats(batch, in_channels, height, width))


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
        return F.conv2d(x, self.conv2d.weight.flip(2, 3), groups=x.shape[1])
