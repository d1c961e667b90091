"""Transposed convolution of cubes with a box-shaped kernel.

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

In this task the stride is 1, there is no padding, one group and no bias. Products and sums are float32, neither TF32
nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=16, in_channels=32, out_channels=64, kernel_size=(3, 5, 5), size=64)
SCALED = dict(batch=2, in_channels=3, out_channels=5, kernel_size=(3, 5, 5), size=9)

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


def init_inputs(in_channels, out_channels, kernel_size):
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch, in_channels, size):
    return call(make.floats(batch, in_channels, size, size, size))


class PositiveConvolution(Model):
    """The convolution of the padded input with the turned kernel."""

    def forward(self, x):
        weight = self.conv_transpose3d.weight.transpose(0, 1).flip(2, 3, 4)
        return F.conv3d(x, weight, padding=[k - 1 for k in weight.shape[2:]])


class NegativeTurnedKernel(Model):
    """Turns the kernel around, as if the layer were a plain convolution."""

    def forward(self, x):
        return F.conv_transpose3d(x, self.conv_transpose3d.weight.flip(2, 3, 4))


class NegativeSwappedSides(Model):
    """Exchanges the kernel's height and width."""

    def forward(self, x):
        return F.conv_transpose3d(x, self.conv_transpose3d.weight.transpose(3, 4))
