"""Convolution of cubes with a box-shaped kernel.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=False)` holds one layer,
`conv3d = nn.Conv3d(...)`, with these options and PyTorch's initialisation: `conv3d.weight` of shape
`(out_channels, in_channels / groups, kernel_size[0], kernel_size[1], kernel_size[2])` and, with `bias=True`,
`conv3d.bias` of shape `(out_channels,)`. Tuples hold one number for each dimension.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, depth, height, width)` and returns the layer's
convolution, in which the kernel is not turned around:

    y[b, o, h, i, j] = sum over c, t, u, v of weight[o, c, t, u, v] * x[b, c, h', i', j'],
    h' = h * stride - padding + t * dilation, likewise i' and j'

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

PUBLISHED = dict(batch=16, in_channels=3, out_channels=64, kernel_size=(3, 5, 7), size=64)
SCALED = dict(batch=2, in_channels=3, out_channels=5, kernel_size=(3, 5, 7), size=11)

# Hundreds of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
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
            kernel_size,
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


def inputs(make, batch, in_channels, size):
    return call(make.floats(batch, in_channels, size, size, size))


class PositiveTaps(Model):
    """One product of matrices for each tap of the kernel."""

    def forward(self, x):
        weight = self.conv3d.weight
        depth, height, width = (size - k + 1 for size, k in zip(x.shape[2:], weight.shape[2:], strict=True))
        return sum(
            torch.einsum(
                "oc,bcdhw->bodhw", weight[:, :, t, u, v], x[:, :, t : t + depth, u : u + height, v : v + width]
            )
            for t, u, v in product(*map(range, weight.shape[2:]))
        )


class NegativeTurnedKernel(Model):
    """Turns the kernel around, as a convolution in the mathematical sense does."""

    def forward(self, x):
        return F.conv3d(x, self.conv3d.weight.flip(2, 3, 4))
