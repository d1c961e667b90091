"""Matrix product, division, row sums and scaling.

`Model(input_size, hidden_size, scaling_factor)` holds:

- `weight`: a parameter of shape `(hidden_size, input_size)`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, input_size)` and computes:

1. the product `x @ weight.T`, `(batch_size, hidden_size)`;
2. the quotient by 2;
3. the sum over dimension 1, which is kept with size 1;
4. the product with `scaling_factor`: `(batch_size, 1)`.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, input_size=8192, hidden_size=8192)
SCALED = dict(batch_size=19, input_size=67, hidden_size=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, scaling_factor):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(hidden_size, input_size))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        x = torch.matmul(x, self.weight.T) / 2
        return torch.sum(x, dim=1, keepdim=True) * self.scaling_factor


def init_inputs(input_size, hidden_size):
    scaling_factor = 1.5
    return [input_size, hidden_size, scaling_factor]


def inputs(make, batch_size, input_size):
    return call(make.floats(batch_size, input_size))


class PositiveSumsWeightsFirst(Model):
    """The sum of the products is the product with the sum of the weights' rows."""

    def forward(self, x):
        return x @ self.weight.sum(0)[:, None] * (self.scaling_factor / 2)


class NegativeNoDivision(Model):
    """Leaves the division out."""

    def forward(self, x):
        return torch.sum(x @ self.weight.T, dim=1, keepdim=True) * self.scaling_factor


class NegativeMean(Model):
    """Averages instead of summing."""

    def forward(self, x):
        return torch.mean(x @ self.weight.T / 2, dim=1, keepdim=True) * self.scaling_factor
