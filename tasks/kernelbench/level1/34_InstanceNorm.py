"""Instance normalization of images.

`Model(num_features)` holds `inorm = nn.InstanceNorm2d(num_features)` with PyTorch's defaults: no weights, no running
statistics, `eps = 1e-5`.

`forward(x)` takes float32 `x` of shape `(batch, num_features, height, width)` and normalises every channel of every
sample with its own mean and biased variance over height and width: `(x - mean) / sqrt(var + eps)`, of the shape of `x`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("normalization",)
DTYPE = "float32"

PUBLISHED = dict(batch=112, features=64, height=512, width=512)
SCALED = dict(batch=3, features=11, height=13, width=19)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, num_features: int):
        super().__init__()
        self.inorm = nn.InstanceNorm2d(num_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inorm(x)


def init_inputs(features):
    return [features]


def inputs(make, batch, features, height, width):
    return call(make.floats(batch, features, height, width))


class PositiveTwoPasses(Model):
    """Mean first, then the squares of the differences."""

    def forward(self, x):
        centred = x - x.mean(dim=(2, 3), keepdim=True)
        return centred * torch.rsqrt(centred.square().mean(dim=(2, 3), keepdim=True) + self.inorm.eps)


class NegativeBatchStatistics(Model):
    """Takes the statistics over the batch too, as batch normalization does."""

    def forward(self, x):
        return F.batch_norm(x, None, None, training=True, eps=self.inorm.eps)


class NegativeNotCentred(Model):
    """Divides by the root mean square without subtracting the mean."""

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(dim=(2, 3), keepdim=True) + self.inorm.eps)
