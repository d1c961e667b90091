"""Transposed convolution of rectangular images with a rectangular kernel.

`Model(in_channels, out_channels, kernel_size, stride=(1, 1), padding=(0, 0), output_padding=(0, 0), dilation=(1, 1),
groups=1, bias=False)` holds one layer, `conv_transpose2d = nn.ConvTranspose2d(...)`, with these options and PyTorch's
initialisation: `conv_transpose2d.weight` of shape
`(in_channels, out_channels / groups, kernel_size[0], kernel_size[1])` and, with `bias=True`, `conv_transpose2d.bias` of
shape `(out_channels,)`. Tuples hold one number for each dimension.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's transposed
convolution:

    x[b, c, i, j] * weight[c, o, u, v] is added to y[b, o, i', j'],
    i' = i * stride - padding + u * dilation, likewise j',

wherever that place exists. Each output size is
`(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1`. With groups, inputs reach the
outputs of the same group only, and `o` counts within the group.

In this task stride and dilation are 1, there is no padding, one group and no bias. Products and sums are float32,
neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=64, in_channels=64, out_channels=128, kernel_size=(3, 5), height=128, width=256)
SCALED = dict(batch=2, in_channels=5, out_channels=7, kernel_size=(3, 5), height=17, width=29)

# Hundreds of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
        stride: tuple = (1, 1),
        padding: tuple = (0, 0),
        output_padding: tuple = (0, 0),
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
            output_padding=output_padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv_transpose2d(x)


def init_inputs(in_channels, out_channels, kernel_size):
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch, in_channels, height, width):
    return call(make.floats(batch, in_channels, height, width))


class PositiveConvolution(Model):
    """The convolution of the padded input with the turned kernel."""

    def forward(self, x):
        weight = self.conv_transpose2d.weight.transpose(0, 1).flip(2, 3)
        return F.conv2d(x, weight, padding=[k - 1 for k in weight.shape[2:]])


class NegativeTurnedKernel(Model):
    """Turns the kernel around, as if the layer were a plain convolution."""

    def forward(self, x):
        return F.conv_transpose2d(x, self.conv_transpose2d.weight.flip(2, 3))


class NegativeHalfPrecision(Model):
    """Rounds numbers and weights to half precision for the tensor cores."""

    def forward(self, x):
        return F.conv_transpose2d(x.half().float(), self.conv_transpose2d.weight.half().float())
