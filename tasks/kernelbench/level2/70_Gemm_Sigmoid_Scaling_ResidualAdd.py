"""Linear layer, sigmoid, scaling and residual addition.

`Model(input_size, hidden_size, scaling_factor)` holds:

- `gemm`: `nn.Linear(input_size, hidden_size)`.

`forward(x)` takes `x` of shape `(batch_size, input_size)` and computes:

1. the linear layer, `(batch_size, hidden_size)`;
2. the logistic function;
3. the product with `scaling_factor`;
4. the sum with the linear layer's result: `sigmoid(x) * scaling_factor + x`.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, input_size=8192, hidden_size=8192)
SCALED = dict(batch_size=19, input_size=67, hidden_size=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.gemm = nn.Linear(input_size, hidden_size)
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = self.gemm(x)
        return torch.sigmoid(x) * self.scaling_factor + x


def init_inputs(input_size, hidden_size):
    scaling_factor = 2.0
    return [input_size, hidden_size, scaling_factor]


def inputs(make, batch_size, input_size):
    return call(make.floats(batch_size, input_size))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features; the logistic function as a quotient."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        return x + self.scaling_factor / (1 + torch.exp(-x))


class NegativeSwish(Model):
    """Multiplies by the linear layer's result instead of adding it."""

    def forward(self, x):
        x = self.gemm(x)
        return torch.sigmoid(x) * self.scaling_factor * x


class NegativeNoScaling(Model):
    """Leaves the factor out."""

    def forward(self, x):
        x = self.gemm(x)
        return torch.sigmoid(x) + x


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        x = x @ self.gemm.weight.T
        return torch.sigmoid(x) * self.scaling_factor + x
