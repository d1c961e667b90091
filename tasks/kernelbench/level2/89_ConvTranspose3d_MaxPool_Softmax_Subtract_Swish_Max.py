"""Transposed 3-D convolution, max pooling, softmax, subtraction, Swish and maximum over the channels.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, pool_kernel_size, pool_stride,
pool_padding)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `max_pool`: `nn.MaxPool3d(kernel_size=pool_kernel_size, stride=pool_stride, padding=pool_padding)`;
- `subtract`: a parameter of shape `(out_channels,)`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; here it doubles depth, height and width;
2. the largest element of each window; here that halves the sizes again;
3. softmax over the channels, dimension 1;
4. the difference to `subtract`, one number for each channel;
5. Swish, `x * sigmoid(x)` with the logistic function;
6. the maximum over the channels, dimension 1, which is removed.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=16, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=4, height=5, width=6)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        output_padding,
        pool_kernel_size,
        pool_stride,
        pool_padding,
    ):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.max_pool = nn.MaxPool3d(kernel_size=pool_kernel_size, stride=pool_stride, padding=pool_padding)
        self.subtract = nn.Parameter(torch.randn(out_channels))

    def forward(self, x):
        x = torch.softmax(self.max_pool(self.conv_transpose(x)), dim=1)
        x = F.silu(x - self.subtract[:, None, None, None])
        return torch.max(x, dim=1)[0]


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
    pool_kernel_size, pool_stride, pool_padding = 2, 2, 0
    return [
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        output_padding,
        pool_kernel_size,
        pool_stride,
        pool_padding,
    ]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveWrittenOut(Model):
    """Adds up the two halves of the input channels; softmax and Swish written out."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = self.max_pool(x)
        x = (x - x.amax(1, keepdim=True)).exp()
        x = x / x.sum(1, keepdim=True) - self.subtract[:, None, None, None]
        return (x / (1 + torch.exp(-x))).amax(1)


class NegativeAdds(Model):
    """Adds the parameter."""

    def forward(self, x):
        x = torch.softmax(self.max_pool(self.conv_transpose(x)), dim=1)
        return F.silu(x + self.subtract[:, None, None, None]).amax(1)


class NegativeSoftmaxFirst(Model):
    """Pools after softmax."""

    def forward(self, x):
        x = self.max_pool(torch.softmax(self.conv_transpose(x), dim=1))
        return F.silu(x - self.subtract[:, None, None, None]).amax(1)


class NegativeNoSwish(Model):
    """Leaves Swish out."""

    def forward(self, x):
        x = torch.softmax(self.max_pool(self.conv_transpose(x)), dim=1)
        return (x - self.subtract[:, None, None, None]).amax(1)
