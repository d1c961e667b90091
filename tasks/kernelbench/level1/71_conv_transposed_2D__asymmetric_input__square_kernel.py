"""Transposed convolution of rectangular images with a square kernel.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=False)` holds one
layer, `conv_transpose2d = nn.ConvTranspose2d(...)`, with these options and PyTorch's initialisation:
`conv_transpose2d.weight` of shape `(in_channels, out_channels / groups, kernel_size, kernel_size)` and, with
`bias=True`, `conv_transpose2d.bias` of shape `(out_channels,)`.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's transposed
convolution:

    x[b, c, i, j] * weight[c, o, u, v] is added to y[b, o, i', j'],   i' = i * stride - padding + u, likewise j',

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

PUBLISHED = dict(batch=8, in_channels=32, out_channels=32, kernel_size=3, height=512, width=1024)
SCALED = dict(batch=2, in_channels=7, out_channels=7, kernel_size=3, height=21, width=33)

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
        output_padding: int = 0,
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


class NegativeSwappedChannels(Model):
    """Reads the weight as `(out_channels, in_channels, ...)`."""

    def forward(self, x):
        return F.conv_transpose2d(x, self.conv_transpose2d.weight.transpose(0, 1))


class NegativeBorderMissing(Model):
    """Computes only where the kernel lies inside of the input and leaves the border at zero."""

    def forward(self, x):
        border = self.conv_transpose2d.kernel_size[0] - 1
        inner = self.conv_transpose2d(x)[:, :, border:-border, border:-border]
        return F.pad(inner, (border,) * 4)
