"""Linear layer, Swish and scaling.

`Model(in_features, out_features, scaling_factor)` holds:

- `matmul`: `nn.Linear(in_features, out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. Swish, `x * sigmoid(x)` with the logistic function;
3. the product with `scaling_factor`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_features=32768, out_features=32768)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, scaling_factor):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = self.matmul(x)
        return x * torch.sigmoid(x) * self.scaling_factor


def init_inputs(in_features, out_features):
    scaling_factor = 2.0
    return [in_features, out_features, scaling_factor]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features; Swish as a quotient."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.matmul.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.matmul.bias)
        return x * self.scaling_factor / (1 + torch.exp(-x))


class NegativeScalesFirst(Model):
    """Scales before Swish."""

    def forward(self, x):
        return F.silu(self.matmul(x) * self.scaling_factor)


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        return F.silu(x @ self.matmul.weight.T) * self.scaling_factor


class NegativeHardswish(Model):
    """Takes Hardswish for Swish."""

    def forward(self, x):
        return F.hardswish(self.matmul(x)) * self.scaling_factor
