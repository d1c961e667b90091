"""Division by the root mean square over the channels.

`Model(num_features, eps=1e-5)` has no weights; `num_features` is the number of channels.

`forward(x)` takes float32 `x` of shape `(batch, num_features, height, width)` and divides every number by the root mean
square of the `num_features` numbers at its place in its sample: `x / sqrt(mean of x**2 over dimension 1 + eps)`, of the
shape of `x`. The mean is not subtracted.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("normalization",)
DTYPE = "float32"

PUBLISHED = dict(batch=112, features=64, height=512, width=512)
SCALED = dict(batch=3, features=11, height=13, width=19)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, num_features: int, eps: float = 1e-5):
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.sqrt(x.square().mean(dim=1, keepdim=True) + self.eps)


def init_inputs(features):
    return [features]


def inputs(make, batch, features, height, width):
    return call(make.floats(batch, features, height, width))


class PositiveReciprocal(Model):
    """Sums of squares by a product, then the reciprocal root."""

    def forward(self, x):
        squares = torch.einsum("bchw,bchw->bhw", x, x).unsqueeze(1)
        return x * torch.rsqrt(squares / self.num_features + self.eps)


class NegativeLastDimension(Model):
    """Takes the mean along rows of the image, where layer normalization would have its features."""

    def forward(self, x):
        return x / torch.sqrt(x.square().mean(dim=3, keepdim=True) + self.eps)


class NegativeSum(Model):
    """Does not divide the sum of squares by the number of channels."""

    def forward(self, x):
        return x / torch.sqrt(x.square().sum(dim=1, keepdim=True) + self.eps)
