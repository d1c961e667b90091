"""Transposed convolution of boxes with stride, padding and groups.

`Model(in_channels, out_channels, kernel_size, stride=(1, 1, 1), padding=(0, 0, 0), output_padding=(0, 0, 0), groups=1,
bias=False)` holds one layer, `conv_transpose3d = nn.ConvTranspose3d(...)`, with these options and PyTorch's
initialisation: `conv_transpose3d.weight` of shape
`(in_channels, out_channels / groups, kernel_size[0], kernel_size[1], kernel_size[2])` and, with `bias=True`,
`conv_transpose3d.bias` of shape `(out_channels,)`. Tuples hold one number for each dimension.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, depth, height, width)` and returns the layer's transposed
convolution:

    x[b, c, h, i, j] * weight[c, o, t, u, v] is added to y[b, o, h', i', j'],
    h' = h * stride - padding + t, likewise i' and j',

wherever that place exists. Each output size is `(size - 1) * stride - 2 * padding + kernel + output_padding`. With
groups, inputs reach the outputs of the same group only, and `o` counts within the group.

In this task the kernel is `(3, 5, 7)`, the stride `(2, 2, 2)`, the padding `(1, 2, 3)`, the output padding `(1, 1, 1)`;
there are 4 groups and no bias. Products and sums are float32, neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(
    batch=8,
    in_channels=32,
    out_channels=32,
    kernel_size=(3, 5, 7),
    stride=(2, 2, 2),
    padding=(1, 2, 3),
    output_padding=(1, 1, 1),
    groups=4,
    depth=12,
    height=24,
    width=48,
)
SCALED = dict(
    batch=2,
    in_channels=8,
    out_channels=12,
    kernel_size=(3, 5, 7),
    stride=(2, 2, 2),
    padding=(1, 2, 3),
    output_padding=(1, 1, 1),
    groups=4,
    depth=4,
    height=5,
    width=7,
)

# Hundreds of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
        stride: tuple = (1, 1, 1),
        padding: tuple = (0, 0, 0),
        output_padding: tuple = (0, 0, 0),
        groups: int = 1,
        bias: bool = False,
    ):
        super().__init__()
        self.conv_transpose3d = nn.ConvTranspose3d(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv_transpose3d(x)


def init_inputs(in_channels, out_channels, kernel_size, stride, padding, output_padding, groups):
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, groups]


def inputs(make, batch, in_channels, depth, height, width):
    return call(make.floats(batch, in_channels, depth, height, width))


class PositiveGroupByGroup(Model):
    """A layer without groups for each group."""

    def forward(self, x):
        layer = self.conv_transpose3d
        groups = zip(x.chunk(layer.groups, dim=1), layer.weight.chunk(layer.groups), strict=True)
        return torch.cat(
            [
                F.conv_transpose3d(part, w, None, layer.stride, layer.padding, layer.output_padding)
                for part, w in groups
            ],
            dim=1,
        )


class NegativeOutputPaddingAtTheStart(Model):
    """Adds the output padding in front."""

    def forward(self, x):
        layer = self.conv_transpose3d
        wide = F.conv_transpose3d(x, layer.weight, stride=layer.stride, groups=layer.groups)
        (front, top, left), (depth, height, width) = layer.padding, layer(x).shape[2:]
        wide = F.pad(wide, (1, 0, 1, 0, 1, 0))
        return wide[:, :, front : front + depth, top : top + height, left : left + width]


class NegativeInterleavedGroups(Model):
    """Makes a group of every `groups`-th input channel instead of neighbours."""

    def forward(self, x):
        layer = self.conv_transpose3d
        return layer(x.unflatten(1, (-1, layer.groups)).transpose(1, 2).flatten(1, 2))
