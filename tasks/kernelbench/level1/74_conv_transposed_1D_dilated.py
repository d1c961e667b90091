"""Transposed, dilated convolution of sequences.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, bias=False)` holds one layer,
`conv1d_transpose = nn.ConvTranspose1d(...)`, with these options and PyTorch's initialisation: `conv1d_transpose.weight`
of shape `(in_channels, out_channels, kernel_size)` and, with `bias=True`, `conv1d_transpose.bias` of shape
`(out_channels,)`.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, length)` and returns the layer's transposed convolution:

    x[b, c, i] * weight[c, o, u] is added to y[b, o, i'],   i' = i * stride - padding + u * dilation,

wherever that place exists. Each output size is `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1`.

In this task the dilation is 3, the stride 1, and there is neither padding nor bias. Products and sums are float32,
neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(
    batch=32, in_channels=32, out_channels=64, kernel_size=5, stride=1, padding=0, dilation=3, length=131072
)
SCALED = dict(batch=3, in_channels=5, out_channels=7, kernel_size=5, stride=1, padding=0, dilation=3, length=131)

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
        bias: bool = False,
    ):
        super().__init__()
        self.conv1d_transpose = nn.ConvTranspose1d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, bias=bias
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1d_transpose(x)


def init_inputs(in_channels, out_channels, kernel_size, stride, padding, dilation):
    return [in_channels, out_channels, kernel_size, stride, padding, dilation]


def inputs(make, batch, in_channels, length):
    return call(make.floats(batch, in_channels, length))


class PositiveStretched(Model):
    """The convolution with the turned kernel of the input with `stride - 1` zeros between its numbers."""

    def forward(self, x):
        layer = self.conv1d_transpose
        sizes = [(size - 1) * stride + 1 for size, stride in zip(x.shape[2:], layer.stride, strict=True)]
        stretched = x.new_zeros(*x.shape[:2], *sizes)
        stretched[:, :, :: layer.stride[0]] = x
        options = zip(layer.kernel_size, layer.dilation, layer.padding, strict=True)
        padding = [(k - 1) * dilation - padding for k, dilation, padding in options]
        weight = layer.weight.transpose(0, 1).flip(2)
        return F.conv1d(stretched, weight, padding=padding, dilation=layer.dilation)


class NegativeUndilated(Model):
    """Ignores the dilation; what it does not reach stays zero."""

    def forward(self, x):
        layer, result = self.conv1d_transpose, torch.zeros_like(self.conv1d_transpose(x))
        short = F.conv_transpose1d(x, layer.weight, stride=layer.stride, padding=layer.padding)
        result[..., : short.shape[2]] = short
        return result


class NegativeTurnedKernel(Model):
    """Turns the kernel around, as if the layer were a plain convolution."""

    def forward(self, x):
        return F.conv_transpose1d(x, self.conv1d_transpose.weight.flip(2), dilation=self.conv1d_transpose.dilation)
