"""Transposed 3-D convolution, log-sum-exp over the channels, a swish of its own, subtraction and clamping.

`Model(in_channels, out_channels, kernel_size, stride, padding, bias_shape)` holds:

- `conv_transpose`: `nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the transposed convolution; each size `n` becomes `2 * n - 1`;
2. `log(sum(exp(x)))` over the channels, dimension 1, which is kept with size 1;
3. `x * sigmoid(x + 3) / 6`, with the logistic function where Hardswish has a clamp;
4. the difference `x - bias`; the bias is a single number;
5. the clamp to `[-1, 1]`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("transposed-convolution", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=16, depth=16, height=32, width=32)
SCALED = dict(batch_size=2, in_channels=3, out_channels=9, depth=5, height=6, width=7)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, bias_shape):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride, padding)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = torch.logsumexp(self.conv_transpose(x), dim=1, keepdim=True)
        x = x * torch.sigmoid(x + 3) / 6
        return torch.clamp(x - self.bias, min=-1, max=1)


def init_inputs(in_channels, out_channels):
    kernel_size, stride, padding = 3, 2, 1
    return [in_channels, out_channels, kernel_size, stride, padding, (1, 1, 1, 1)]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


def usable(model):
    """Other biases put every result on an end of the clamp."""
    return -0.4 < model.bias.item() < 1.2


class PositiveWrittenOut(Model):
    """Adds up the two halves of the input channels; both functions written out."""

    def forward(self, x):
        layer, half = self.conv_transpose, x.shape[1] // 2
        options = layer.stride, layer.padding
        first = F.conv_transpose3d(x[:, :half], layer.weight[:half], None, *options)
        x = first + F.conv_transpose3d(x[:, half:], layer.weight[half:], layer.bias, *options)
        top = x.amax(1, keepdim=True)
        x = (x - top).exp().sum(1, keepdim=True).log() + top
        return (x / (6 + 6 * torch.exp(-3 - x)) - self.bias).clamp(-1, 1)


class NegativeHardswish(Model):
    """Takes the name by its word."""

    def forward(self, x):
        x = torch.logsumexp(self.conv_transpose(x), dim=1, keepdim=True)
        return torch.clamp(F.hardswish(x) - self.bias, -1, 1)


class NegativeAddsBias(Model):
    """Adds the bias."""

    def forward(self, x):
        x = torch.logsumexp(self.conv_transpose(x), dim=1, keepdim=True)
        return torch.clamp(x * torch.sigmoid(x + 3) / 6 + self.bias, -1, 1)


class NegativeLogMeanExp(Model):
    """Averages the exponentials."""

    def forward(self, x):
        x = self.conv_transpose(x).exp().mean(1, keepdim=True).log()
        return torch.clamp(x * torch.sigmoid(x + 3) / 6 - self.bias, -1, 1)
