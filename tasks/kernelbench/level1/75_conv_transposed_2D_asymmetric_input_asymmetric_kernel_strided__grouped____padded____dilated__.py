"""Transposed convolution of rectangular images with stride, padding, dilation and groups.

`Model(in_channels, out_channels, kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, bias=False)`
holds one layer, `conv_transpose2d = nn.ConvTranspose2d(...)`, with these options and PyTorch's initialisation:
`conv_transpose2d.weight` of shape `(in_channels, out_channels / groups, kernel_size[0], kernel_size[1])` and, with
`bias=True`, `conv_transpose2d.bias` of shape `(out_channels,)`. Tuples hold one number for each dimension.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's transposed
convolution:

    x[b, c, i, j] * weight[c, o, u, v] is added to y[b, o, i', j'],
    i' = i * stride - padding + u * dilation, likewise j',

wherever that place exists. Each output size is `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1`. With
groups, inputs reach the outputs of the same group only, and `o` counts within the group.

In this task the kernel is `(3, 5)`, the stride `(2, 3)`, the padding `(1, 2)`, the dilation `(2, 1)`; there are 4
groups and no bias. Products and sums are float32, neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(
    batch=16,
    in_channels=32,
    out_channels=64,
    kernel_size=(3, 5),
    stride=(2, 3),
    padding=(1, 2),
    dilation=(2, 1),
    groups=4,
    height=128,
    width=256,
)
SCALED = dict(
    batch=2,
    in_channels=8,
    out_channels=12,
    kernel_size=(3, 5),
    stride=(2, 3),
    padding=(1, 2),
    dilation=(2, 1),
    groups=4,
    height=13,
    width=19,
)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
        stride: tuple = (1, 1),
        padding: tuple = (0, 0),
        dilation: tuple = (1, 1),
        groups: int = 1,
        bias: bool = False,
    ):
        super().__init__()
        self.conv_transpose2d = nn.ConvTranspose2d(
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
        return self.conv_transpose2d(x)


def init_inputs(in_channels, out_channels, kernel_size, stride, padding, dilation, groups):
    return [in_channels, out_channels, kernel_size, stride, padding, dilation, groups]


def inputs(make, batch, in_channels, height, width):
    return call(make.floats(batch, in_channels, height, width))


class PositiveGroupByGroup(Model):
    """A layer without groups for each group."""

    def forward(self, x):
        layer = self.conv_transpose2d
        options = dict(stride=layer.stride, padding=layer.padding, dilation=layer.dilation)
        groups = zip(x.chunk(layer.groups, dim=1), layer.weight.chunk(layer.groups), strict=True)
        return torch.cat([F.conv_transpose2d(part, weight, **options) for part, weight in groups], dim=1)


class NegativeTurnedKernel(Model):
    """Turns the kernel around, as if the layer were a plain convolution."""

    def forward(self, x):
        layer = self.conv_transpose2d
        options = dict(stride=layer.stride, padding=layer.padding, dilation=layer.dilation, groups=layer.groups)
        return F.conv_transpose2d(x, layer.weight.flip(2, 3), **options)


class NegativeInterleavedGroups(Model):
    """Makes a group of every `groups`-th input channel instead of neighbours."""

    def forward(self, x):
        layer = self.conv_transpose2d
        return layer(x.unflatten(1, (-1, layer.groups)).transpose(1, 2).flatten(1, 2))
