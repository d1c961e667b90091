"""Batch normalization of images.

`Model(num_features)` holds `bn = nn.BatchNorm2d(num_features)` with PyTorch's defaults: `bn.weight` (ones) and
`bn.bias` (zeros) of shape `(num_features,)`, the buffers `bn.running_mean`, `bn.running_var` and
`bn.num_batches_tracked`, and `eps = 1e-5`.

`forward(x)` takes float32 `x` of shape `(batch, num_features, height, width)`. The module is used as constructed, in
training mode: every channel is normalised with its own mean and biased variance over batch, height and width of this
very `x`, then scaled and shifted, `(x - mean) / sqrt(var + eps) * weight + bias`. The result has the shape of `x`. The
running statistics play no part in it; the layer updates them on the way, with momentum 0.1 and the unbiased variance.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("normalization",)
DTYPE = "float32"

PUBLISHED = dict(batch=64, features=64, height=512, width=512)
SCALED = dict(batch=3, features=11, height=13, width=19)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, num_features: int):
        super().__init__()
        self.bn = nn.BatchNorm2d(num_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.bn(x)


def init_inputs(features):
    return [features]


def inputs(make, batch, features, height, width):
    return call(make.floats(batch, features, height, width))


class PositiveTwoPasses(Model):
    """Mean first, then the squares of the differences."""

    def forward(self, x):
        mean = x.mean(dim=(0, 2, 3), keepdim=True)
        var = (x - mean).square().mean(dim=(0, 2, 3), keepdim=True)
        weight, bias = self.bn.weight[:, None, None], self.bn.bias[:, None, None]
        return (x - mean) * torch.rsqrt(var + self.bn.eps) * weight + bias


class NegativeRunningStatistics(Model):
    """Normalises with the running statistics, as in evaluation mode."""

    def forward(self, x):
        bn = self.bn
        return F.batch_norm(x, bn.running_mean, bn.running_var, bn.weight, bn.bias, eps=bn.eps)


class NegativePerSample(Model):
    """Takes the statistics of every sample by itself."""

    def forward(self, x):
        return F.instance_norm(x, weight=self.bn.weight, bias=self.bn.bias, eps=self.bn.eps)
