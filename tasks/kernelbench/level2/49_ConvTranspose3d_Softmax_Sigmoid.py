"""Transposed 3-D convolution, softmax over the channels and sigmoid.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, bias=True)` holds:

- `conv_transpose`:
  `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, output_padding, bias=bias)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; here it doubles depth, height and width;
2. softmax over the channels, dimension 1;
3. the logistic function.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=32, out_channels=64, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=5, height=6, width=7)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias=True):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding, bias=bias
        )

    def forward(self, x):
        return torch.sigmoid(torch.softmax(self.conv_transpose(x), dim=1))


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels; both functions written out."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = (x - x.amax(1, keepdim=True)).exp()
        return 1 / (1 + torch.exp(-x / x.sum(1, keepdim=True)))


class NegativeSoftmaxOverDepth(Model):
    """Normalizes over the depth."""

    def forward(self, x):
        return torch.sigmoid(torch.softmax(self.conv_transpose(x), dim=2))


class NegativePaddedChannel(Model):
    """Pads the channels with a zero, which joins the sum."""

    def forward(self, x):
        x = F.pad(self.conv_transpose(x), (0, 0, 0, 0, 0, 0, 0, 1))
        return torch.sigmoid(torch.softmax(x, dim=1)[:, :-1])


class NegativeNoSigmoid(Model):
    """Leaves the last step out."""

    def forward(self, x):
        return torch.softmax(self.conv_transpose(x), dim=1)
