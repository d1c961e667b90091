"""Linear layer, ReLU and division by a constant.

`Model(in_features, out_features, divisor)` holds:

- `linear`: `nn.Linear(in_features, out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. ReLU;
3. the quotient by `divisor`.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, divisor):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.divisor = divisor

    def forward(self, x):
        return torch.relu(self.linear(x)) / self.divisor


def init_inputs(in_features, out_features):
    divisor = 2.0
    return [in_features, out_features, divisor]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features and divides first."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.linear.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.linear.bias)
        return (x / self.divisor).clamp(min=0)


class NegativeNoDivision(Model):
    """Leaves the division out."""

    def forward(self, x):
        return torch.relu(self.linear(x))


class NegativeBiasNotDivided(Model):
    """Divides the products and adds the bias whole."""

    def forward(self, x):
        return torch.relu(x @ self.linear.weight.T / self.divisor + self.linear.bias)


class NegativeBiasAfterReLU(Model):
    """Adds the bias last."""

    def forward(self, x):
        return torch.relu(x @ self.linear.weight.T) / self.divisor + self.linear.bias
