"""Depthwise separable convolution of images.

`Model(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, bias=False)` holds two layers with
PyTorch's initialisation:

- `depthwise = nn.Conv2d(in_channels, in_channels, kernel_size, ..., groups=in_channels)` with the stride, padding and
  dilation: `depthwise.weight` of shape `(in_channels, 1, kernel_size, kernel_size)`;
- `pointwise = nn.Conv2d(in_channels, out_channels, 1)`: `pointwise.weight` of shape
  `(out_channels, in_channels, 1, 1)`.

With `bias=True` each has a bias of one number for each of its outputs.

`forward(x)` takes float32 `x` of shape `(batch, in_channels, height, width)`. The depthwise layer convolves every
channel with its own kernel, not turned around; the pointwise layer mixes the channels of every place. Nothing comes
between the two. Places outside of `x` count as 0, and each output size is
`floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1`.

In this task stride, padding and dilation are 1 and there are no biases. Products and sums are float32, neither TF32 nor
half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=16, in_channels=64, out_channels=128, kernel_size=3, stride=1, padding=1, dilation=1, size=512)
SCALED = dict(batch=2, in_channels=5, out_channels=7, kernel_size=3, stride=1, padding=1, dilation=1, size=29)

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
        self.depthwise = nn.Conv2d(
            in_channels,
            in_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=in_channels,
            bias=bias,
        )
        self.pointwise = nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pointwise(self.depthwise(x))


def init_inputs(in_channels, out_channels, kernel_size, stride, padding, dilation):
    return [in_channels, out_channels, kernel_size, stride, padding, dilation]


def inputs(make, batch, in_channels, size):
    return call(make.floats(batch, in_channels, size, size))


class PositiveMergedKernels(Model):
    """One full convolution with the products of the two kernels."""

    def forward(self, x):
        weight = self.pointwise.weight * self.depthwise.weight.transpose(0, 1)
        return F.conv2d(x, weight, None, self.depthwise.stride, self.depthwise.padding, self.depthwise.dilation)


class NegativeClampedBorder(Model):
    """Repeats the border of the image instead of padding with zeros."""

    def forward(self, x):
        padded = F.pad(x, (*self.depthwise.padding, *self.depthwise.padding), mode="replicate")
        weight = self.depthwise.weight
        return self.pointwise(
            F.conv2d(padded, weight, None, self.depthwise.stride, 0, self.depthwise.dilation, x.shape[1])
        )


class NegativeFirstKernel(Model):
    """Uses the first channel's kernel for all channels."""

    def forward(self, x):
        layer = self.depthwise
        weight = layer.weight[:1].expand_as(layer.weight)
        return self.pointwise(F.conv2d(x, weight, None, layer.stride, layer.padding, layer.dilation, x.shape[1]))
