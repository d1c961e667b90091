"""Strided, dilated convolution of sequences.

`Model(in_channels, out_channels, kernel_size, stride=1, dilation=1, bias=False)` holds one layer,
`conv1d = nn.Conv1d(...)`, with these options and PyTorch's initialisation: `conv1d.weight` of shape
`(out_channels, in_channels, kernel_size)` and, with `bias=True`, `conv1d.bias` of shape `(out_channels,)`.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, length)` and returns the layer's convolution, in which the
kernel is not turned around:

    y[b, o, i] = sum over c, u of weight[o, c, u] * x[b, c, i'],   i' = i * stride + u * dilation

Each output size is `floor((size - dilation * (kernel - 1) - 1) / stride) + 1`.

In this task the stride is 3 and the dilation 4; there is neither padding nor bias. Products and sums are float32,
neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=64, in_channels=64, out_channels=128, kernel_size=3, stride=3, dilation=4, length=524280)
SCALED = dict(batch=3, in_channels=5, out_channels=7, kernel_size=3, stride=3, dilation=4, length=268)

# Hundreds of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        dilation: int = 1,
        bias: bool = False,
    ):
        super().__init__()
        self.conv1d = nn.Conv1d(in_channels, out_channels, kernel_size, stride=stride, dilation=dilation, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1d(x)


def init_inputs(in_channels, out_channels, kernel_size, stride, dilation):
    return [in_channels, out_channels, kernel_size, stride, dilation]


def inputs(make, batch, in_channels, length):
    return call(make.floats(batch, in_channels, length))


class PositiveTaps(Model):
    """One product of matrices for each tap of the kernel."""

    def forward(self, x):
        layer = self.conv1d
        (stride,), (dilation,) = layer.stride, layer.dilation
        size = x.shape[2] - dilation * (layer.kernel_size[0] - 1)
        taps = (x[:, :, u * dilation : u * dilation + size : stride] for u in range(layer.kernel_size[0]))
        return sum(torch.einsum("oc,bcl->bol", layer.weight[:, :, u], part) for u, part in enumerate(taps))


class NegativeUndilated(Model):
    """Ignores the dilation."""

    def forward(self, x):
        layer = self.conv1d
        return F.conv1d(x, layer.weight, stride=layer.stride)[..., : layer(x).shape[2]]


class NegativeUnstrided(Model):
    """Ignores the stride."""

    def forward(self, x):
        layer = self.conv1d
        return F.conv1d(x, layer.weight, dilation=layer.dilation)[..., : layer(x).shape[2]]
