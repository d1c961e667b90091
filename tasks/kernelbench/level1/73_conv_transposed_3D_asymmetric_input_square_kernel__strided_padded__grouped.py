"""Transposed convolution of boxes with stride and padding.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=False)` holds one
layer, `conv_transpose3d = nn.ConvTranspose3d(...)`, with these options and PyTorch's initialisation:
`conv_transpose3d.weight` of shape `(in_channels, out_channels / groups, kernel_size, kernel_size, kernel_size)` and,
with `bias=True`, `conv_transpose3d.bias` of shape `(out_channels,)`. `output_padding` is accepted and ignored: the
layer has none.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, depth, height, width)` and returns the layer's transposed
convolution:

    x[b, c, h, i, j] * weight[c, o, t, u, v] is added to y[b, o, h', i', j'],
    h' = h * stride - padding + t, likewise i' and j',

wherever that place exists. Each output size is `(size - 1) * stride - 2 * padding + kernel`.

In this task the stride is 2 and the padding 1, there is no bias, and, against the task's name, one group: the sixth
argument, 4, is the unused `output_padding`. Products and sums are float32, neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(
    batch=4,
    in_channels=32,
    out_channels=32,
    kernel_size=3,
    stride=2,
    padding=1,
    output_padding=4,
    depth=32,
    height=64,
    width=128,
)
SCALED = dict(
    batch=2,
    in_channels=8,
    out_channels=8,
    kernel_size=3,
    stride=2,
    padding=1,
    output_padding=4,
    depth=5,
    height=7,
    width=9,
)

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
        self.conv_transpose3d = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, groups=groups, bias=bias
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv_transpose3d(x)


def init_inputs(in_channels, out_channels, kernel_size, stride, padding, output_padding):
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding]


def inputs(make, batch, in_channels, depth, height, width):
    return call(make.floats(batch, in_channels, depth, height, width))


class PositiveStretched(Model):
    """The convolution with the turned kernel of the input with `stride - 1` zeros between its numbers."""

    def forward(self, x):
        layer = self.conv_transpose3d
        sizes = [(size - 1) * stride + 1 for size, stride in zip(x.shape[2:], layer.stride, strict=True)]
        stretched = x.new_zeros(*x.shape[:2], *sizes)
        stretched[:, :, :: layer.stride[0], :: layer.stride[1], :: layer.stride[2]] = x
        options = zip(layer.kernel_size, layer.dilation, layer.padding, strict=True)
        padding = [(k - 1) * dilation - padding for k, dilation, padding in options]
        weight = layer.weight.transpose(0, 1).flip(2, 3, 4)
        return F.conv3d(stretched, weight, padding=padding, dilation=layer.dilation)


class NegativeGrouped(Model):
    """Takes the sixth argument for the number of groups."""

    def forward(self, x):
        layer, groups = self.conv_transpose3d, 4
        weight = layer.weight[:, : layer.out_channels // groups]
        return F.conv_transpose3d(x, weight, stride=layer.stride, padding=layer.padding, groups=groups)


class NegativeTurnedKernel(Model):
    """Turns the kernel around, as if the layer were a plain convolution."""

    def forward(self, x):
        return F.conv_transpose3d(
            x,
            self.conv_transpose3d.weight.flip(2, 3, 4),
            stride=self.conv_transpose3d.stride,
            padding=self.conv_transpose3d.padding,
        )
