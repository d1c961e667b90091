"""Transposed 2-D convolution, batch normalization, tanh, max pooling and group normalization.

`Model(in_channels, out_channels, kernel_size, stride, padding, groups, num_groups)` holds (`groups` is not used):

- `conv_transpose`: `nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding)`;
- `batch_norm`: `nn.BatchNorm2d(out_channels)`, in training mode: it normalizes each channel with the mean and biased
  variance of the batch at hand; its running statistics do not enter the result;
- `tanh`: `nn.Tanh()`;
- `max_pool`: `nn.MaxPool2d(kernel_size=2, stride=2)`;
- `group_norm`: `nn.GroupNorm(num_groups=num_groups, num_channels=out_channels)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the transposed convolution, which is not grouped;
2. the batch normalization over batch, height and width;
3. tanh;
4. the largest element of each 2 by 2 block;
5. the group normalization: each sample's groups of `out_channels / num_groups` neighbouring channels, biased variance,
   `eps = 1e-5`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=512, in_channels=64, out_channels=128, height=32, width=32)
SCALED = dict(batch_size=3, in_channels=5, out_channels=24, height=9, width=11)

# Small inputs leave little more than the convolution's bias: when the normalization has taken that away, its rounding
# errors remain.
CONTRACT = Close(scale=4.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, groups, num_groups):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride, padding)
        self.batch_norm = nn.BatchNorm2d(out_channels)
        self.tanh = nn.Tanh()
        self.max_pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.group_norm = nn.GroupNorm(num_groups=num_groups, num_channels=out_channels)

    def forward(self, x):
        x = self.tanh(self.batch_norm(self.conv_transpose(x)))
        return self.group_norm(self.max_pool(x))


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 5, 1, 1
    groups, num_groups = 8, 8
    return [in_channels, out_channels, kernel_size, stride, padding, groups, num_groups]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels and writes both normalizations out."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose2d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose2d(x[:, half:], layer.weight[half:], layer.bias, *options)
        x = x - x.mean((0, 2, 3), keepdim=True)
        x = x / torch.sqrt(x.square().mean((0, 2, 3), keepdim=True) + self.batch_norm.eps)
        x = x * self.batch_norm.weight[:, None, None] + self.batch_norm.bias[:, None, None]
        x = F.max_pool2d(x, 2).tanh()
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        return x * self.group_norm.weight[:, None, None] + self.group_norm.bias[:, None, None]


class NegativeRunningStatistics(Model):
    """Normalizes with the running statistics, as in evaluation."""

    def forward(self, x):
        layer, x = self.batch_norm, self.conv_transpose(x)
        x = F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias, eps=layer.eps)
        return self.group_norm(self.max_pool(self.tanh(x)))


class NegativeOneGroup(Model):
    """Normalizes all channels of a sample together."""

    def forward(self, x):
        x = self.max_pool(self.tanh(self.batch_norm(self.conv_transpose(x))))
        return F.group_norm(x, 1, self.group_norm.weight, self.group_norm.bias, self.group_norm.eps)
