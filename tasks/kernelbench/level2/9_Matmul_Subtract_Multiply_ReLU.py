"""Linear layer, subtraction and multiplication of constants, and ReLU.

`Model(in_features, out_features, subtract_value, multiply_value)` holds:

- `linear`: `nn.Linear(in_features, out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the difference `x - subtract_value`;
3. the product with `multiply_value`;
4. ReLU.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "degenerate")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, subtract_value, multiply_value):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.subtract_value = subtract_value
        self.multiply_value = multiply_value

    def forward(self, x):
        x = (self.linear(x) - self.subtract_value) * self.multiply_value
        return torch.relu(x)


def init_inputs(in_features, out_features):
    subtract_value, multiply_value = 2.0, 1.5
    return [in_features, out_features, subtract_value, multiply_value]


def inputs(make, batch_size, in_features):
    """Spread so wide that a part of the sums is larger than the subtracted 2."""
    scale = 1 if make.as_published else 4.0
    return call(scale * make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.linear.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.linear.bias)
        return ((x - self.subtract_value) * self.multiply_value).clamp(min=0)


class NegativeMultipliesFirst(Model):
    """Multiplies before it subtracts."""

    def forward(self, x):
        return torch.relu(self.linear(x) * self.multiply_value - self.subtract_value)


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        x = (x @ self.linear.weight.T - self.subtract_value) * self.multiply_value
        return torch.relu(x)
