"""Convolution of stacks of images with a square, flat kernel.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=False)` holds one layer,
`conv3d = nn.Conv3d(...)`, with these options and PyTorch's initialisation: `conv3d.weight` of shape
`(out_channels, in_channels / groups, kernel_size, kernel_size, 1)` and, with `bias=True`, `conv3d.bias` of shape
`(out_channels,)`. The kernel is `kernel_size` wide in the first two dimensions and 1 in the last.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width, depth)` and returns the layer's
convolution, in which the kernel is not turned around:

    y[b, o, h, i, j] = sum over c, t, u, v of weight[o, c, t, u, v] * x[b, c, h', i', j'],
    h' = h * stride - padding + t * dilation, likewise i' and j'

Places outside of `x` count as 0. Each output size is
`floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1`. With groups, the outputs of a group see the
inputs of the same group only.

In this task stride and dilation are 1, there is no padding, one group and no bias. Products and sums are float32,
neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=16, in_channels=3, out_channels=64, kernel_size=3, height=256, width=256, depth=10)
SCALED = dict(batch=2, in_channels=3, out_channels=7, kernel_size=3, height=17, width=19, depth=5)

CONTRACT = Close()


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
        self.conv3d = nn.Conv3d(
            in_channels,
            out_channels,
            (kernel_size, kernel_size, 1),
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv3d(x)


def init_inputs(in_channels, out_channels, kernel_size):
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch, in_channels, height, width, depth):
    return call(make.floats(batch, in_channels, height, width, depth))


class PositiveImages(Model):
    """One two-dimensional convolution over the images of all samples."""

    def forward(self, x):
        images = x.permute(0, 4, 1, 2, 3)
        result = F.conv2d(images.flatten(0, 1), self.conv3d.weight[..., 0])
        return result.unflatten(0, images.shape[:2]).permute(0, 2, 3, 4, 1)


class NegativeTransposedKernel(Model):
    """Reads the kernel's rows as its columns."""

    def forward(self, x):
        return F.conv3d(x, self.conv3d.weight.transpose(2, 3))


class NegativeHalfPrecision(Model):
    """Rounds numbers and weights to half precision for the tensor cores."""

    def forward(self, x):
        return F.conv3d(x.half().float(), self.conv3d.weight.half().float())
