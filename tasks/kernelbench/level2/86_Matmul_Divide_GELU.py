"""Linear layer, division by a constant and GELU.

`Model(input_size, output_size, divisor)` holds:

- `linear`: `nn.Linear(input_size, output_size)`.

`forward(x)` takes `x` of shape `(batch_size, input_size)` and computes:

1. the linear layer, `(batch_size, output_size)`;
2. the quotient by `divisor`;
3. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, input_size=8192, output_size=8192)
SCALED = dict(batch_size=19, input_size=67, output_size=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, output_size, divisor):
        super().__init__()
        self.linear = nn.Linear(input_size, output_size)
        self.divisor = divisor

    def forward(self, x):
        return F.gelu(self.linear(x) / self.divisor)


def init_inputs(input_size, output_size):
    divisor = 10.0
    return [input_size, output_size, divisor]


def inputs(make, batch_size, input_size):
    return call(make.floats(batch_size, input_size))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features; GELU written out."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.linear.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.linear.bias)
        x = x / self.divisor
        return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))


class NegativeDividesLast(Model):
    """Applies GELU before the division."""

    def forward(self, x):
        return F.gelu(self.linear(x)) / self.divisor


class NegativeBiasNotDivided(Model):
    """Divides the products and adds the bias whole."""

    def forward(self, x):
        return F.gelu(x @ self.linear.weight.T / self.divisor + self.linear.bias)


class NegativeSigmoidGELU(Model):
    """The shortcut `x * sigmoid(1.702 * x)`."""

    def forward(self, x):
        x = self.linear(x) / self.divisor
        return x * torch.sigmoid(1.702 * x)
