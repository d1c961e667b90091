"""Average pooling, transposed 3-D convolution, clamping, softmax over the volume and scaling.

`Model(in_channels, out_channels, kernel_size, stride, padding, output_padding, pool_kernel_size, clamp_min, clamp_max)`
holds:

- `avg_pool`: `nn.AvgPool3d(pool_kernel_size)`;
- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding, output_padding)`;
- `scale`: a parameter of shape `(1, out_channels, 1, 1, 1)`, ones.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the average of each block of `pool_kernel_size`;
2. the transposed convolution of that; here it doubles depth, height and width;
3. the clamp to `[clamp_min, clamp_max]`;
4. softmax over all positions (depth, height and width together) of each sample and channel;
5. the product with `scale`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=32, in_channels=32, out_channels=64, depth=32, height=64, width=64)
SCALED = dict(batch_size=2, in_channels=3, out_channels=7, depth=6, height=8, width=10)

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
        clamp_min,
        clamp_max,
    ):
        super().__init__()
        self.avg_pool = nn.AvgPool3d(pool_kernel_size)
        self.conv_transpose = nn.ConvTranspose3d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding
        )
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max
        self.scale = nn.Parameter(torch.ones(1, out_channels, 1, 1, 1))

    def forward(self, x):
        x = self.conv_transpose(self.avg_pool(x))
        x = torch.clamp(x, self.clamp_min, self.clamp_max)
        x = torch.softmax(x.flatten(2), dim=2).view(x.shape)
        return x * self.scale


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding, output_padding = 3, 2, 1, 1
    pool_kernel_size, clamp_min, clamp_max = 2, 0.0, 1.0
    return [
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        output_padding,
        pool_kernel_size,
        clamp_min,
        clamp_max,
    ]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveNoMaximum(Model):
    """Clamped scores need no maximum: their exponentials are at most `exp(clamp_max)`."""

    def forward(self, x):
        x = self.avg_pool(x)
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding, layer.output_padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x.clamp(self.clamp_min, self.clamp_max).exp()
        return x * (self.scale / x.sum((2, 3, 4), keepdim=True))


class NegativeSoftmaxOverChannels(Model):
    """Normalizes over the channels."""

    def forward(self, x):
        x = torch.clamp(self.conv_transpose(self.avg_pool(x)), self.clamp_min, self.clamp_max)
        return torch.softmax(x, dim=1) * self.scale


class NegativePoolsLast(Model):
    """Pools what the convolution made, and repeats it to the right size."""

    def forward(self, x):
        x = F.avg_pool3d(self.conv_transpose(x), self.avg_pool.kernel_size)
        x = torch.clamp(x, self.clamp_min, self.clamp_max)
        return torch.softmax(x.flatten(2), dim=2).view(x.shape) * self.scale


class NegativeNoClamp(Model):
    """Leaves the clamp out."""

    def forward(self, x):
        x = self.conv_transpose(self.avg_pool(x))
        return torch.softmax(x.flatten(2), dim=2).view(x.shape) * self.scale
