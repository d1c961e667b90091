"""Layer normalization over all dimensions but the first.

`Model(normalized_shape)` holds `ln = nn.LayerNorm(normalized_shape)` with PyTorch's defaults: `ln.weight` (ones) and
`ln.bias` (zeros), both of shape `normalized_shape`, and `eps = 1e-5`.

`forward(x)` takes float32 `x` of shape `(batch, features, height, width)`, where `normalized_shape` is
`(features, height, width)`. Every sample is normalised with its mean and biased variance over all its elements, then
scaled and shifted element by element: `(x - mean) / sqrt(var + eps) * weight + bias`, of the shape of `x`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("normalization",)
DTYPE = "float32"

PUBLISHED = dict(batch=16, features=64, height=256, width=256)
SCALED = dict(batch=3, features=11, height=13, width=19)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, normalized_shape: tuple):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.ln(x)


def init_inputs(features, height, width):
    return [(features, height, width)]


def inputs(make, batch, features, height, width):
    return call(make.floats(batch, features, height, width))


class PositiveTwoPasses(Model):
    """Mean first, then the squares of the differences."""

    def forward(self, x):
        centred = x - x.mean(dim=(1, 2, 3), keepdim=True)
        var = centred.square().mean(dim=(1, 2, 3), keepdim=True)
        return centred * torch.rsqrt(var + self.ln.eps) * self.ln.weight + self.ln.bias


class NegativeLastDimension(Model):
    """Normalises rows of the image only."""

    def forward(self, x):
        return F.layer_norm(x, x.shape[3:], eps=self.ln.eps) * self.ln.weight + self.ln.bias


class NegativePerChannel(Model):
    """Normalises every channel by itself."""

    def forward(self, x):
        return F.instance_norm(x, eps=self.ln.eps) * self.ln.weight + self.ln.bias
