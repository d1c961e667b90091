"""Convolution of sequences.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=False)` holds one layer,
`conv1d = nn.Conv1d(...)`, with these options and PyTorch's initialisation: `conv1d.weight` of shape
`(out_channels, in_channels / groups, kernel_size)` and, with `bias=True`, `conv1d.bias` of shape `(out_channels,)`.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, length)` and returns the layer's convolution, in which the
kernel is not turned around:

    y[b, o, i] = sum over c, u of weight[o, c, u] * x[b, c, i'],   i' = i * stride - padding + u * dilation

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

PUBLISHED = dict(batch=32, in_channels=64, out_channels=128, kernel_size=3, length=131072)
SCALED = dict(batch=3, in_channels=5, out_channels=7, kernel_size=3, length=131)

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
        self.conv1d = nn.Conv1d(
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
        return self.conv1d(x)


def init_inputs(in_channels, out_channels, kernel_size):
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch, in_channels, length):
    return call(make.floats(batch, in_channels, length))


class PositiveTaps(Model):
    """One product of matrices for each tap of the kernel."""

    def forward(self, x):
        weight = self.conv1d.weight
        length = x.shape[2] - weight.shape[2] + 1
        return sum(
            torch.einsum("oc,bcl->bol", weight[:, :, u], x[:, :, u : u + length]) for u in range(weight.shape[2])
        )


class NegativeTurnedKernel(Model):
    """Turns the kernel around, as a convolution in the mathematical sense does."""

    def forward(self, x):
        return F.conv1d(x, self.conv1d.weight.flip(2))


class NegativeHalfPrecision(Model):
    """Rounds numbers and weights to half precision for the tensor cores."""

    def forward(self, x):
        return F.conv1d(x.half().float(), self.conv1d.weight.half().float())
