"""Division of a tensor by its Frobenius norm.

`Model()` has no weights. `forward(x)` takes a float32 tensor of shape `(batch, features, height, width)` and returns
`x / sqrt(sum of x**2)`, of the same shape. The sum runs over all elements of the whole tensor, the batch included: the
result has norm 1. These are nearly two billion terms: their partial sums need care, too, and may not be added one after
the other to a single float32 number.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("normalization", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch=112, features=64, height=512, width=512)
SCALED = dict(batch=3, features=11, height=13, width=19)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.linalg.vector_norm(x)


def init_inputs():
    return []


def inputs(make, batch, features, height, width):
    return call(make.floats(batch, features, height, width))


class PositivePartialSums(Model):
    """One sum of squares for each row of the image, then their sum."""

    def forward(self, x):
        return x / torch.sqrt(x.square().sum(dim=3).sum())


class NegativePerSample(Model):
    """Takes the norm of every sample by itself."""

    def forward(self, x):
        return x / torch.linalg.vector_norm(x, dim=(1, 2, 3), keepdim=True)


class NegativeSquaredNorm(Model):
    """Forgets the square root."""

    def forward(self, x):
        return x / x.square().sum()
