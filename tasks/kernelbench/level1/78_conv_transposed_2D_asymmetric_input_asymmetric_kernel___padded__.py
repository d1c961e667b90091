"""Transposed convolution of rectangular images with padding.

`Model(in_channels, out_channels, kernel_size, stride=(1, 1), padding=(0, 0), bias=False)` holds one layer,
`conv_transpose2d = nn.ConvTranspose2d(...)`, with these options and PyTorch's initialisation: `conv_transpose2d.weight`
of shape `(in_channels, out_channels, kernel_size[0], kernel_size[1])` and, with `bias=True`, `conv_transpose2d.bias` of
shape `(out_channels,)`. Tuples hold one number for each dimension.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's transposed
convolution:

    x[b, c, i, j] * weight[c, o, u, v] is added to y[b, o, i', j'],   i' = i * stride - padding + u, likewise j',

wherever that place exists. Each output size is `(size - 1) * stride - 2 * padding + kernel`.

In this task the padding is half of the kernel, so that the output is as large as the input; the stride is 1 and there
is no bias. Products and sums are float32, neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(
    batch=8, in_channels=32, out_channels=32, kernel_size=(3, 7), stride=(1, 1), padding=(1, 3), height=512, width=1024
)
SCALED = dict(
    batch=2, in_channels=7, out_channels=7, kernel_size=(3, 7), stride=(1, 1), padding=(1, 3), height=21, width=33
)

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
        bias: bool = False,
    ):
        super().__init__()
        self.conv_transpose2d = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, bias=bias
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv_transpose2d(x)


def init_inputs(in_channels, out_channels, kernel_size, stride, padding):
    return [in_channels, out_channels, kernel_size, stride, padding]


def inputs(make, batch, in_channels, height, width):
    return call(make.floats(batch, in_channels, height, width))


class PositiveStretched(Model):
    """The convolution with the turned kernel of the input with `stride - 1` zeros between its numbers."""

    def forward(self, x):
        layer = self.conv_transpose2d
        sizes = [(size - 1) * stride + 1 for size, stride in zip(x.shape[2:], layer.stride, strict=True)]
        stretched = x.new_zeros(*x.shape[:2], *sizes)
        stretched[:, :, :: layer.stride[0], :: layer.stride[1]] = x
        options = zip(layer.kernel_size, layer.dilation, layer.padding, strict=True)
        padding = [(k - 1) * dilation - padding for k, dilation, padding in options]
        weight = layer.weight.transpose(0, 1).flip(2, 3)
        return F.conv2d(stretched, weight, padding=padding, dilation=layer.dilation)


class NegativeUnpadded(Model):
    """Keeps the first rows and columns of the unpadded output."""

    def forward(self, x):
        height, width = x.shape[2:]
        return F.conv_transpose2d(x, self.conv_transpose2d.weight)[:, :, :height, :width]


class NegativeSwappedChannels(Model):
    """Reads the weight as `(out_channels, in_channels, ...)`."""

    def forward(self, x):
        layer = self.conv_transpose2d
        return F.conv_transpose2d(x, layer.weight.transpose(0, 1), padding=layer.padding)
