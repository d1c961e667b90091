"""Linear layer, normalization of each row, and a sum and product with a second input.

`Model(in_features, out_features, eps=1e-5, momentum=0.1)` holds:

- `bmm`: `nn.Linear(in_features, out_features)`;
- `instance_norm`: `nn.InstanceNorm2d(1, eps=eps, momentum=momentum)`, without parameters and running statistics.

`forward(x, y)` takes `x` of shape `(batch_size, in_features)` and `y` of shape `(batch_size, out_features)` and
computes:

1. the linear layer, `(batch_size, out_features)`;
2. the instance normalization of each row as an image of one channel, one row and `out_features` columns: the row less
   its mean, divided by `sqrt(variance + eps)` with the biased variance of the row;
3. the sum with `y`;
4. the product with `y`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.bmm = nn.Linear(in_features, out_features)
        self.instance_norm = nn.InstanceNorm2d(1, eps=eps, momentum=momentum)

    def forward(self, x, y):
        x = self.instance_norm(self.bmm(x)[:, None, None])[:, 0, 0]
        return (x + y) * y


def init_inputs(in_features, out_features):
    return [in_features, out_features]


def inputs(make, batch_size, in_features, out_features):
    return call(make.floats(batch_size, in_features), make.floats(batch_size, out_features))


class PositiveTwoPasses(Model):
    """Adds up the two halves of the features; mean first, then the variance."""

    def forward(self, x, y):
        half = x.shape[1] // 2
        weight = self.bmm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.bmm.bias)
        x = x - x.mean(1, keepdim=True)
        x = x / torch.sqrt(x.square().mean(1, keepdim=True) + self.instance_norm.eps)
        return x * y + y.square()


class NegativeBatchNorm(Model):
    """Normalizes each feature over the batch."""

    def forward(self, x, y):
        return (F.batch_norm(self.bmm(x), None, None, training=True, eps=self.instance_norm.eps) + y) * y


class NegativeUnbiasedVariance(Model):
    """Divides the squares by one less than their number."""

    def forward(self, x, y):
        x = self.bmm(x)
        x = (x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, keepdim=True) + self.instance_norm.eps)
        return (x + y) * y


class NegativeNoAddition(Model):
    """Multiplies only."""

    def forward(self, x, y):
        return self.instance_norm(self.bmm(x)[:, None, None])[:, 0, 0] * y
