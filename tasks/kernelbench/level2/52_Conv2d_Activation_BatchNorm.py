"""2-D convolution, Mish and batch normalization.

`Model(in_channels, out_channels, kernel_size, eps=1e-5, momentum=0.1)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `bn`: `nn.BatchNorm2d(out_channels, eps=eps, momentum=momentum)`, in training mode: it normalizes each channel with
  the mean and biased variance of the batch at hand; its running statistics do not enter the result.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. Mish, `x * tanh(log(1 + exp(x)))`: tanh of the convolution's softplus, times the convolution;
3. the batch normalization over batch, height and width.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=64, in_channels=64, out_channels=128, height=128, width=128)
SCALED = dict(batch_size=3, in_channels=5, out_channels=7, height=13, width=11)

# Small inputs leave little more than the convolution's bias: when the normalization has taken that away, its rounding
# errors remain, and those of a running mean, which one lane may keep.
CONTRACT = Close(scale=6.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, eps=1e-5, momentum=0.1):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bn = nn.BatchNorm2d(out_channels, eps=eps, momentum=momentum)

    def forward(self, x):
        x = self.conv(x)
        return self.bn(torch.tanh(F.softplus(x)) * x)


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    return [in_channels, out_channels, kernel_size]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveStepByStep(Model):
    """Mish as `x * (n - 1) / (n + 1)` with `n = (1 + exp(x))**2`; mean first, then the variance."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        n = (1 + x.clamp(max=20.0).exp()).square()
        x = x * (n - 1) / (n + 1)
        x = x - x.mean((0, 2, 3), keepdim=True)
        x = x / torch.sqrt(x.square().mean((0, 2, 3), keepdim=True) + self.bn.eps)
        return x * self.bn.weight[:, None, None] + self.bn.bias[:, None, None]


class NegativeNoProduct(Model):
    """Normalizes tanh of softplus alone."""

    def forward(self, x):
        return self.bn(torch.tanh(F.softplus(self.conv(x))))


class NegativeInstanceNorm(Model):
    """Normalizes each sample by itself."""

    def forward(self, x):
        return F.instance_norm(F.mish(self.conv(x)), eps=self.bn.eps)


class NegativeRunningStatistics(Model):
    """Normalizes with the running statistics, as in evaluation."""

    def forward(self, x):
        layer, x = self.bn, F.mish(self.conv(x))
        return F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias, eps=layer.eps)
