"""Group normalization of images.

`Model(num_features, num_groups)` holds `gn = nn.GroupNorm(num_groups, num_features)` with PyTorch's defaults:
`gn.weight` (ones) and `gn.bias` (zeros) of shape `(num_features,)`, and `eps = 1e-5`.

`forward(x)` takes float32 `x` of shape `(batch, num_features, height, width)`. The channels form `num_groups` groups of
neighbours; every group of every sample is normalised with its mean and biased variance over its channels, height and
width, then each channel is scaled and shifted: `(x - mean) / sqrt(var + eps) * weight + bias`, of the shape of `x`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("normalization",)
DTYPE = "float32"

PUBLISHED = dict(batch=112, features=64, num_groups=8, height=512, width=512)
SCALED = dict(batch=2, features=24, num_groups=8, height=13, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, num_features: int, num_groups: int):
        super().__init__()
        self.gn = nn.GroupNorm(num_groups, num_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gn(x)


def init_inputs(features, num_groups):
    return [features, num_groups]


def inputs(make, batch, features, height, width):
    return call(make.floats(batch, features, height, width))


class PositiveTwoPasses(Model):
    """Mean first, then the squares of the differences."""

    def forward(self, x):
        groups = x.unflatten(1, (self.gn.num_groups, -1)).flatten(2)
        centred = groups - groups.mean(dim=2, keepdim=True)
        normal = centred * torch.rsqrt(centred.square().mean(dim=2, keepdim=True) + self.gn.eps)
        return normal.view_as(x) * self.gn.weight[:, None, None] + self.gn.bias[:, None, None]


class NegativeOneGroup(Model):
    """Normalises all channels together."""

    def forward(self, x):
        return F.group_norm(x, 1, self.gn.weight, self.gn.bias, self.gn.eps)


class NegativeStridedGroups(Model):
    """Makes a group of every `num_groups`-th channel instead of neighbours."""

    def forward(self, x):
        order = torch.arange(x.shape[1], device=x.device).unflatten(0, (-1, self.gn.num_groups)).T.flatten()
        result = torch.empty_like(x)
        result[:, order] = self.gn(x[:, order])
        return result
