"""Depthwise convolution of rectangular images with a square kernel.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, bias=False)` holds one layer,
`conv2d = nn.Conv2d(...)`, with these options and PyTorch's initialisation: `conv2d.weight` of shape
`(out_channels, 1, kernel_size, kernel_size)` and, with `bias=True`, `conv2d.bias` with one number for each output
channel. Every input channel is a group of its own.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's convolution, in
which the kernel is not turned around:

    y[b, c, i, j] = sum over u, v of weight[c, 0, u, v] * x[b, c, i', j'],
    i' = i * stride - padding + u, likewise j'

Places outside of `x` count as 0. Each output size is `floor((size + 2 * padding - kernel) / stride) + 1`.

In this task the stride is 1, and there is neither padding nor bias. `out_channels` equals `in_channels`. Products and
sums are float32, neither TF32 nor half precision.
"""

from itertools import product

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=64, in_channels=128, out_channels=128, kernel_size=3, stride=1, padding=0, height=256, width=512)
SCALED = dict(batch=2, in_channels=7, out_channels=7, kernel_size=3, stride=1, padding=0, height=21, width=33)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        bias: bool = False,
    ):
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, groups=in_channels, bias=bias
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2d(x)


def init_inputs(in_channels, out_channels, kernel_size, stride, padding):
    return [in_channels, out_channels, kernel_size, stride, padding]


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


class NegativeTransposedKernel(Model):
    """Reads the kernel's rows as its columns."""

    def forward(self, x):
        return F.conv2d(x, self.conv2d.weight.transpose(2, 3), groups=x.shape[1])
