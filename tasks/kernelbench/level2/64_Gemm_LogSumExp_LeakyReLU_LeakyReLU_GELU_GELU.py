"""Linear layer, log-sum-exp of the rows, leaky ReLU twice and GELU twice.

`Model(in_features, out_features, bias=True)` holds:

- `linear`: `nn.Linear(in_features, out_features, bias=bias)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. `log(sum(exp(x)))` over dimension 1, which is kept with size 1: `(batch_size, 1)`;
3. leaky ReLU with slope 0.01;
4. leaky ReLU again;
5. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
6. GELU again.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features, bias=bias)

    def forward(self, x):
        x = torch.logsumexp(self.linear(x), dim=1, keepdim=True)
        x = F.leaky_relu(F.leaky_relu(x, negative_slope=0.01), negative_slope=0.01)
        return F.gelu(F.gelu(x))


def init_inputs(in_features, out_features):
    return [in_features, out_features]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features; one leaky ReLU of the squared slope."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.linear.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.linear.bias)
        top = x.amax(1, keepdim=True)
        x = (x - top).exp().sum(1, keepdim=True).log() + top
        x = torch.where(x > 0, x, 1e-4 * x)
        for _ in range(2):
            x = 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
        return x


class NegativeLogMeanExp(Model):
    """Averages the exponentials."""

    def forward(self, x):
        x = self.linear(x).exp().mean(1, keepdim=True).log()
        return F.gelu(F.gelu(F.leaky_relu(x, 1e-4)))


class NegativeMaximum(Model):
    """Takes the largest score for the logarithm of the sum."""

    def forward(self, x):
        x = self.linear(x).amax(1, keepdim=True)
        return F.gelu(F.gelu(F.leaky_relu(x, 1e-4)))


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        x = torch.logsumexp(x @ self.linear.weight.T, dim=1, keepdim=True)
        return F.gelu(F.gelu(F.leaky_relu(x, 1e-4)))
