"""Transposed 2-D convolution, global average pooling, bias addition, log-sum-exp, sum and multiplication.

`Model(in_channels, out_channels, kernel_size, bias_shape)` holds:

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution: stride 1, no padding, so that height and width grow by `kernel_size - 1`;
2. the mean over height and width, which are kept with size 1;
3. the sum with `bias`, broadcast over the batch;
4. `log(sum(exp(x)))` over the channels, dimension 1, which is kept with size 1;
5. the sum over height and width, both of size 1, which are removed: `(batch_size, 1)`;
6. the product with 10.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16, in_channels=64, out_channels=128, height=512, width=512)
SCALED = dict(batch_size=3, in_channels=5, out_channels=7, height=13, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = self.conv_transpose(x).mean(dim=(2, 3), keepdim=True) + self.bias
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return torch.sum(x, dim=(2, 3)) * 10.0


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size, (out_channels, 1, 1)]


def inputs(make, batch_size, in_channels, height, width):
    """Not centred: of an image with mean 0 hardly anything is left in its mean."""
    mean = 0 if make.as_published else 0.5
    return call(mean + make.floats(batch_size, in_channels, height, width))


class PositiveSumsInputFirst(Model):
    """Every input meets every tap once: the mean needs only the sums of inputs and of taps."""

    def forward(self, x):
        layer = self.conv_transpose
        size = (x.shape[2] + layer.kernel_size[0] - 1) * (x.shape[3] + layer.kernel_size[1] - 1)
        x = x.sum((2, 3)) @ layer.weight.sum((2, 3)) / size + layer.bias + self.bias.flatten()
        return 10 * torch.logsumexp(x, dim=1, keepdim=True)


class NegativeMeanOfInput(Model):
    """Divides by the number of input positions."""

    def forward(self, x):
        layer = self.conv_transpose
        x = x.mean((2, 3)) @ layer.weight.sum((2, 3)) + layer.bias + self.bias.flatten()
        return 10 * torch.logsumexp(x, dim=1, keepdim=True)


class NegativeNoBias(Model):
    """Leaves the second bias out."""

    def forward(self, x):
        x = self.conv_transpose(x).mean((2, 3))
        return torch.logsumexp(x, dim=1, keepdim=True) * 10.0


class NegativeNoFactor(Model):
    """Leaves the last product out."""

    def forward(self, x):
        x = self.conv_transpose(x).mean((2, 3)) + self.bias.flatten()
        return torch.logsumexp(x, dim=1, keepdim=True)
