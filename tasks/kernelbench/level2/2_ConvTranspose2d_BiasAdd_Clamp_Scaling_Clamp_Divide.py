"""Transposed 2-D convolution, bias addition, and scaling between two clamps.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape, scaling_factor)` holds:

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution; here it doubles height and width;
2. the sum with `bias`, broadcast over batch and positions;
3. the clamp to `[0, 1]`;
4. the product with `scaling_factor`;
5. the clamp to `[0, 1]` again;
6. the quotient by `scaling_factor`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=64, out_channels=64, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=9, width=11)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


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
        x = self.conv_transpose(x) + self.bias
        x = torch.clamp(x, 0.0, 1.0) * self.scaling_factor
        return torch.clamp(x, 0.0, 1.0) / self.scaling_factor


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
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


class PositiveOneClamp(Model):
    """For a factor of at least 1 both clamps are one, to `[0, 1 / scaling_factor]`."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        return (x + self.bias).clamp(0.0, 1.0 / self.scaling_factor)


class NegativeOneClamp(Model):
    """Leaves the second clamp out."""

    def forward(self, x):
        return torch.clamp(self.conv_transpose(x) + self.bias, 0.0, 1.0)


class NegativeNoDivision(Model):
    """Leaves the last step out."""

    def forward(self, x):
        x = torch.clamp(self.conv_transpose(x) + self.bias, 0.0, 1.0)
        return torch.clamp(x * self.scaling_factor, 0.0, 1.0)


class NegativeBiasLost(Model):
    """Adds only the bias of the convolution."""

    def forward(self, x):
        x = torch.clamp(self.conv_transpose(x), 0.0, 1.0) * self.scaling_factor
        return torch.clamp(x, 0.0, 1.0) / self.scaling_factor
