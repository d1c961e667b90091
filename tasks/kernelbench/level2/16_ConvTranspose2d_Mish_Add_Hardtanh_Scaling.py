"""Transposed 2-D convolution, Mish, addition of a constant, clamping and scaling.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, add_value, scale)` holds:

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution; here it doubles height and width;
2. Mish, `x * tanh(log(1 + exp(x)))`;
3. the sum with `add_value`;
4. the clamp to `[-1, 1]`;
5. the product with `scale`.
"""

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
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, add_value, scale):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.add_value = add_value
        self.scale = scale

    def forward(self, x):
        x = F.mish(self.conv_transpose(x)) + self.add_value
        return F.hardtanh(x, min_val=-1, max_val=1) * self.scale


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
    add_value, scale = 0.5, 2
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, add_value, scale]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveRational(Model):
    """Mish as `x * (n - 1) / (n + 1)` with `n = (1 + exp(x))**2`."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        n = (1 + x.clamp(max=20.0).exp()).square()
        return (x * (n - 1) / (n + 1) + self.add_value).clamp(-1, 1) * self.scale


class NegativeNoAddition(Model):
    """Leaves the constant out."""

    def forward(self, x):
        return F.hardtanh(F.mish(self.conv_transpose(x))) * self.scale


class NegativeScalesBeforeClamp(Model):
    """Clamps last."""

    def forward(self, x):
        return F.hardtanh((F.mish(self.conv_transpose(x)) + self.add_value) * self.scale)


class NegativeSiLU(Model):
    """Takes SiLU for Mish."""

    def forward(self, x):
        return F.hardtanh(F.silu(self.conv_transpose(x)) + self.add_value) * self.scale
