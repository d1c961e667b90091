"""Transposed 2-D convolution, softmax over the channels, bias addition, scaling and sigmoid.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape, scaling_factor)` holds:

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution; each size `n` becomes `2 * n + 1`;
2. softmax over the channels, dimension 1;
3. the sum with `bias`, broadcast over batch and positions;
4. the product with `scaling_factor`;
5. the logistic function.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=64, out_channels=128, height=64, width=64)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=9, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(
        self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape, scaling_factor
    ):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = torch.softmax(self.conv_transpose(x), dim=1) + self.bias
        return torch.sigmoid(x * self.scaling_factor)


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 4, 2, 1, 1
    scaling_factor = 2.0
    return [
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        output_padding,
        (out_channels, 1, 1),
        scaling_factor,
    ]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveWrittenOut(Model):
    """Adds up the two halves of the input channels; both functions written out."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = (x - x.amax(1, keepdim=True)).exp()
        x = x / x.sum(1, keepdim=True) + self.bias
        return 1 / (1 + torch.exp(-x * self.scaling_factor))


class NegativeBiasBeforeSoftmax(Model):
    """Adds the bias to the scores."""

    def forward(self, x):
        return torch.sigmoid(torch.softmax(self.conv_transpose(x) + self.bias, dim=1) * self.scaling_factor)


class NegativeNoOutputPadding(Model):
    """Leaves the last row and column at the value of zero scores."""

    def forward(self, x):
        x = self.conv_transpose(x)
        x = F.pad(x[:, :, :-1, :-1], (0, 1, 0, 1))
        return torch.sigmoid((torch.softmax(x, dim=1) + self.bias) * self.scaling_factor)


class NegativeBiasNotScaled(Model):
    """Scales before it adds the bias."""

    def forward(self, x):
        return torch.sigmoid(torch.softmax(self.conv_transpose(x), dim=1) * self.scaling_factor + self.bias)
