"""Linear layer, GELU and softmax of the rows.

`Model(in_features, out_features)` holds:

- `linear`: `nn.Linear(in_features, out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
3. softmax over dimension 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.softmax(F.gelu(self.linear(x)), dim=1)


def init_inputs(in_features, out_features):
    return [in_features, out_features]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features; both functions written out."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.linear.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.linear.bias)
        x = 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
        x = (x - x.amax(1, keepdim=True)).exp()
        return x / x.sum(1, keepdim=True)


class NegativeNoGELU(Model):
    """Leaves GELU out."""

    def forward(self, x):
        return torch.softmax(self.linear(x), dim=1)


class NegativePaddedColumns(Model):
    """Pads the scores with zeros, which join the sum."""

    def forward(self, x):
        return torch.softmax(F.pad(F.gelu(self.linear(x)), (0, 11)), dim=1)[:, :-11]


class NegativeSoftmaxOverBatch(Model):
    """Normalizes each feature."""

    def forward(self, x):
        return torch.softmax(F.gelu(self.linear(x)), dim=0)


class NegativeTanhGELU(Model):
    """The tanh approximation of GELU."""

    def forward(self, x):
        return torch.softmax(F.gelu(self.linear(x), approximate="tanh"), dim=1)
