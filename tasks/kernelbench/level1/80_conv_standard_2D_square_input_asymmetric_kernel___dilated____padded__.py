"""Padded, dilated convolution of square images with a rectangular kernel.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=(0, 0), dilation=(1, 1), bias=False)` holds one layer,
`conv2d = nn.Conv2d(...)`, with these options and PyTorch's initialisation: `conv2d.weight` of shape
`(out_channels, in_channels, kernel_size[0], kernel_size[1])` and, with `bias=True`, `conv2d.bias` of shape
`(out_channels,)`. Tuples hold one number for each dimension.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)` and returns the layer's convolution, in
which the kernel is not turned around:

    y[b, o, i, j] = sum over c, u, v of weight[o, c, u, v] * x[b, c, i', j'],
    i' = i * stride - padding + u * dilation, likewise j'

Places outside of `x` count as 0. Each output size is
`floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride) + 1`.

In this task the padding is `(2, 4)`, the dilation `(2, 3)`, the stride 1, and there is no bias. Products and sums are
float32, neither TF32 nor half precision.
"""

from itertools import product

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(
    batch=8, in_channels=32, out_channels=64, kernel_size=(5, 9), stride=1, padding=(2, 4), dilation=(2, 3), size=512
)
SCALED = dict(
    batch=2, in_channels=5, out_channels=7, kernel_size=(5, 9), stride=1, padding=(2, 4), dilation=(2, 3), size=29
)

# Hundreds of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
        stride: int = 1,
        padding: tuple = (0, 0),
        dilation: tuple = (1, 1),
        bias: bool = False,
    ):
        super().__init__()
        self.conv2d = nn.Conv2d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, bias=bias
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2d(x)


def init_inputs(in_channels, out_channels, kernel_size, stride, padding, dilation):
    return [in_channels, out_channels, kernel_size, stride, padding, dilation]


def inputs(make, batch, in_channels, size):
    return call(make.floats(batch, in_channels, size, size))


class PositiveTaps(Model):
    """One product of matrices for each tap of the kernel."""

    def forward(self, x):
        layer = self.conv2d
        (rows, columns), (down, right) = layer.padding, layer.dilation
        padded = F.pad(x, (columns, columns, rows, rows))
        height, width = layer(x).shape[2:]
        return sum(
            torch.einsum(
                "oc,bchw->bohw",
                layer.weight[:, :, u, v],
                padded[:, :, u * down : u * down + height, v * right : v * right + width],
            )
            for u, v in product(*map(range, layer.kernel_size))
        )


class NegativeUndilated(Model):
    """Ignores the dilation."""

    def forward(self, x):
        height, width = self.conv2d(x).shape[2:]
        return F.conv2d(x, self.conv2d.weight, padding=self.conv2d.padding)[:, :, :height, :width]


class NegativeSwappedPadding(Model):
    """Pads the columns by the rows' padding and the rows by the columns'; what is missing stays zero."""

    def forward(self, x):
        layer, result = self.conv2d, torch.zeros_like(self.conv2d(x))
        swapped = F.conv2d(x, layer.weight, padding=layer.padding[::-1], dilation=layer.dilation)
        swapped = swapped[:, :, : result.shape[2], : result.shape[3]]
        result[:, :, : swapped.shape[2], : swapped.shape[3]] = swapped
        return result
