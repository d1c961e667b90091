"""2-D convolution, group normalization, tanh, Hardswish, residual addition and log-sum-exp over the channels.

`Model(in_channels, out_channels, kernel_size, groups, eps=1e-5)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `group_norm`: `nn.GroupNorm(groups, out_channels, eps=eps)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution `c`: stride 1, no padding;
2. the group normalization: each sample's groups of `out_channels / groups` neighbouring channels, biased variance;
3. tanh;
4. `hardswish(x) = x * min(max(x + 3, 0), 6) / 6`;
5. the sum with `c`;
6. `log(sum(exp(x)))` over the channels, dimension 1, which is kept with size 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=8, out_channels=64, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=5, out_channels=32, height=9, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, groups, eps=1e-5):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.group_norm = nn.GroupNorm(groups, out_channels, eps=eps)

    def forward(self, x):
        original = self.conv(x)
        x = F.hardswish(torch.tanh(self.group_norm(original)))
        return torch.logsumexp(original + x, dim=1, keepdim=True)


def init_inputs(in_channels, out_channels):
    kernel_size, groups = 3, 16
    return [in_channels, out_channels, kernel_size, groups]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels; tanh needs no clamp in Hardswish."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        original = x
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        x = x * self.group_norm.weight[:, None, None] + self.group_norm.bias[:, None, None]
        x = 2 * torch.sigmoid(2 * x) - 1
        x = original + x * (x / 6 + 0.5)
        top = x.amax(1, keepdim=True)
        return (x - top).exp().sum(1, keepdim=True).log() + top


class NegativeNoResidual(Model):
    """Leaves the addition out."""

    def forward(self, x):
        x = F.hardswish(torch.tanh(self.group_norm(self.conv(x))))
        return torch.logsumexp(x, dim=1, keepdim=True)


class NegativeInstanceNorm(Model):
    """Normalizes every channel by itself."""

    def forward(self, x):
        original = self.conv(x)
        x = F.hardswish(torch.tanh(F.instance_norm(original, eps=self.group_norm.eps)))
        return torch.logsumexp(original + x, dim=1, keepdim=True)


class NegativeResidualOfNorm(Model):
    """Adds the normalized convolution."""

    def forward(self, x):
        original = self.group_norm(self.conv(x))
        return torch.logsumexp(original + F.hardswish(torch.tanh(original)), dim=1, keepdim=True)
