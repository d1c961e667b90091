"""Transposed convolution of rectangular images with stride, padding and dilation.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, bias=False)` holds one layer,
`conv_transpose2d = nn.ConvTranspose2d(...)`, with these options and PyTorch's initialisation: `conv_transpose2d.weight`
of shape `(in_channels, out_channels, kernel_size, kernel_size)` and, with `bias=True`, `conv_transpose2d.bias` of shape
`(out_channels,)`.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's transposed
convolution:

    x[b, c, i, j] * weight[c, o, u, v] is added to y[b, o, i', j'],
    i' = i * stride - padding + u * dilation, likewise j',

wherever that place exists. Each output size is `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1`.

In this task the stride is 5, the padding 1, the dilation 2, and there is no bias. An output that no tap reaches is 0.
Products and sums are float32, neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(
    batch=16, in_channels=32, out_channels=64, kernel_size=3, stride=5, padding=1, dilation=2, height=64, width=128
)
SCALED = dict(
    batch=2, in_channels=5, out_channels=7, kernel_size=3, stride=5, padding=1, dilation=2, height=9, width=13
)

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
        bias: bool = False,
    ):
        super().__init__()
        self.conv_transpose2d = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, bias=bias
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv_transpose2d(x)


def init_inputs(in_channels, out_channels, kernel_size, stride, padding, dilation):
    return [in_channels, out_channels, kernel_size, stride, padding, dilation]


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


class NegativeUndilated(Model):
    """Ignores the dilation; what it does not reach stays zero."""

    def forward(self, x):
        layer, result = self.conv_transpose2d, torch.zeros_like(self.conv_transpose2d(x))
        short = F.conv_transpose2d(x, layer.weight, stride=layer.stride, padding=layer.padding)
        result[..., : short.shape[2], : short.shape[3]] = short
        return result


class NegativeTransposedKernel(Model):
    """Reads the kernel's rows as its columns."""

    def forward(self, x):
        layer = self.conv_transpose2d
        weight = layer.weight.transpose(2, 3)
        return F.conv_transpose2d(x, weight, stride=layer.stride, padding=layer.padding, dilation=layer.dilation)
