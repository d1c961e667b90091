"""3-D convolution, leaky ReLU, addition, clamping and GELU.

`Model(in_channels, out_channels, kernel_size, sum_tensor_shape)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size)`;
- `sum_tensor`: a parameter of shape `sum_tensor_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. leaky ReLU: `x` where it is positive, `0.2 * x` elsewhere;
3. the sum with `sum_tensor`, broadcast over batch and positions;
4. the clamp to `[-1, 1]`;
5. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, depth=16, height=64, width=64)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=7, height=9, width=11)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, sum_tensor_shape):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.sum_tensor = nn.Parameter(torch.randn(sum_tensor_shape))

    def forward(self, x):
        x = F.leaky_relu(self.conv(x), negative_slope=0.2) + self.sum_tensor
        return F.gelu(torch.clamp(x, min=-1.0, max=1.0))


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size, (out_channels, 1, 1, 1)]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveSplitChannels(Model):
    """Adds up the two halves of the input channels; both activations written out."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        x = (torch.maximum(x, 0.2 * x) + self.sum_tensor).clamp(-1, 1)
        return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))


class NegativeDefaultSlope(Model):
    """Takes the usual slope of 0.01."""

    def forward(self, x):
        return F.gelu(torch.clamp(F.leaky_relu(self.conv(x)) + self.sum_tensor, -1, 1))


class NegativeNoClamp(Model):
    """Leaves the clamp out."""

    def forward(self, x):
        return F.gelu(F.leaky_relu(self.conv(x), 0.2) + self.sum_tensor)


class NegativeNoAddition(Model):
    """Leaves the addition out."""

    def forward(self, x):
        return F.gelu(torch.clamp(F.leaky_relu(self.conv(x), 0.2), -1, 1))
