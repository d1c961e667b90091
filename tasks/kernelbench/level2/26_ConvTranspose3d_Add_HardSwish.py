"""Transposed 3-D convolution, addition of a second input, and a product with Hardswish.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x, add_input)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and `add_input` of shape
`(batch_size, out_channels, 2 * depth, 2 * height, 2 * width)` and computes:

1. the transposed convolution; here it doubles depth, height and width;
2. the sum with `add_input`;
3. the product of that, `x`, with its Hardswish: `x * hardswish(x)`, where
   `hardswish(x) = x * min(max(x + 3, 0), 6) / 6`.

`bias` is a parameter of the model and takes no part in the result.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=32, out_channels=64, depth=16, height=16, width=16)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=3, height=5, width=6)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x, add_input):
        x = self.conv_transpose(x) + add_input
        return x * F.hardswish(x)


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, (out_channels, 1, 1, 1, 1)]


def inputs(make, batch_size, in_channels, out_channels, depth, height, width):
    return call(
        make.floats(batch_size, in_channels, depth, height, width),
        make.floats(batch_size, out_channels, 2 * depth, 2 * height, 2 * width),
    )


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels; Hardswish written out."""

    def forward(self, x, add_input):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x + add_input
        return x.square() * (x / 6 + 0.5).clamp(0, 1)


class NegativeHardswishAlone(Model):
    """Leaves the product out."""

    def forward(self, x, add_input):
        return F.hardswish(self.conv_transpose(x) + add_input)


class NegativeAddsBias(Model):
    """Adds the parameter that the model only holds."""

    def forward(self, x, add_input):
        x = self.conv_transpose(x) + add_input + self.bias[:, 0]
        return x * F.hardswish(x)


class NegativeNoAddition(Model):
    """Ignores the second input."""

    def forward(self, x, add_input):
        x = self.conv_transpose(x)
        return x * F.hardswish(x)
