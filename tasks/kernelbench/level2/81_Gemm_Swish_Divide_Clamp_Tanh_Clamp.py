"""Linear layer, Swish, halving, and tanh between two clamps.

`Model(in_features, out_features, bias=True)` holds:

- `gemm`: `nn.Linear(in_features, out_features, bias=bias)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. Swish, `x * sigmoid(x)` with the logistic function;
3. the quotient by 2;
4. the clamp to `[-1, 1]`;
5. tanh;
6. the clamp to `[-1, 1]`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=bias)

    def forward(self, x):
        x = self.gemm(x)
        x = torch.clamp(x * torch.sigmoid(x) / 2, min=-1, max=1)
        return torch.clamp(torch.tanh(x), min=-1, max=1)


def init_inputs(in_features, out_features):
    return [in_features, out_features]


def inputs(make, batch_size, in_features):
    """Spread so wide that a part of the sums lies beyond the limits."""
    scale = 1 if make.as_published else 4.0
    return call(scale * make.floats(batch_size, in_features))


class PositiveOneClamp(Model):
    """tanh lies between -1 and 1 by itself."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        x = (x / (2 + 2 * torch.exp(-x))).clamp(max=1)
        return 2 * torch.sigmoid(2 * x) - 1


class NegativeNoFirstClamp(Model):
    """Leaves the clamp before tanh out."""

    def forward(self, x):
        return torch.tanh(F.silu(self.gemm(x)) / 2)


class NegativeNoHalving(Model):
    """Leaves the division out."""

    def forward(self, x):
        return torch.tanh(torch.clamp(F.silu(self.gemm(x)), -1, 1))


class NegativeNoTanh(Model):
    """Clamps only."""

    def forward(self, x):
        return torch.clamp(F.silu(self.gemm(x)) / 2, -1, 1)
