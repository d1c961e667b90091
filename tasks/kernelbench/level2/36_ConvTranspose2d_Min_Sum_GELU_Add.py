"""Transposed 2-D convolution, minimum over the channels, sum over the height, GELU and bias addition.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape)` holds:

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution; here it doubles height and width;
2. the minimum over the channels, dimension 1, which is kept with size 1;
3. the sum over the height, dimension 2, kept likewise: `(batch_size, 1, 1, 2 * width)`;
4. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
5. the sum with `bias`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "reduction", "degenerate")
DTYPE = "float32"
# As published, sums over 256 rows are so far below 0 that GELU gives 0, and the result is `bias` everywhere.
SKIP_CONTROLS = dict.fromkeys(("constant", "permuted"), "the published result is one number")

PUBLISHED = dict(batch_size=16, in_channels=64, out_channels=128, height=128, width=128)
SCALED = dict(batch_size=3, in_channels=5, out_channels=7, height=3, width=17)
# GELU of what 256 rows add up to is 0; of two rows it is not.
BESIDE = dict(batch_size=3, height=1, width=17)

# The sum 1 + erf cancels for negative x, so errors are relative to 1.
CONTRACT = Close(scale=1.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = torch.min(self.conv_transpose(x), dim=1, keepdim=True)[0]
        x = torch.sum(x, dim=2, keepdim=True)
        return F.gelu(x) + self.bias


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
    return [in_channels, out_channels, kernel_size, stride, padding, output_padding, (1, 1, 1)]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels; GELU written out."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x.amin(1, keepdim=True).sum(2, keepdim=True)
        return 0.5 * x * torch.erfc(-x * 0.5**0.5) + self.bias


class NegativeSumOverWidth(Model):
    """Sums over the width, and spreads the result over as many columns."""

    def forward(self, x):
        x = self.conv_transpose(x).amin(1, keepdim=True)
        return F.gelu(x.sum(3, keepdim=True)).mean(2, keepdim=True).expand(-1, -1, -1, x.shape[3]) + self.bias


class NegativeMaximum(Model):
    """Takes the largest channel."""

    def forward(self, x):
        x = self.conv_transpose(x).amax(1, keepdim=True).sum(2, keepdim=True)
        return F.gelu(x) + self.bias


class NegativeBiasBeforeGELU(Model):
    """Swaps the last two steps."""

    def forward(self, x):
        x = self.conv_transpose(x).amin(1, keepdim=True).sum(2, keepdim=True)
        return F.gelu(x + self.bias)
