"""Linear layer, sigmoid and row sums.

`Model(input_size, hidden_size)` holds:

- `linear`: `nn.Linear(input_size, hidden_size)`.

`forward(x)` takes `x` of shape `(batch_size, input_size)` and computes:

1. the linear layer, `(batch_size, hidden_size)`;
2. the logistic function;
3. the sum over dimension 1, which is kept with size 1: `(batch_size, 1)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, input_size=32768, hidden_size=32768)
SCALED = dict(batch_size=19, input_size=67, hidden_size=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.linear = nn.Linear(input_size, hidden_size)

    def forward(self, x):
        return torch.sum(torch.sigmoid(self.linear(x)), dim=1, keepdim=True)


def init_inputs(input_size, hidden_size):
    return [input_size, hidden_size]


def inputs(make, batch_size, input_size):
    return call(make.floats(batch_size, input_size))


class PositiveTanh(Model):
    """Adds up the two halves of the features; the logistic function as `(1 + tanh(x / 2)) / 2`."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.linear.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.linear.bias)
        return 0.5 * (1 + torch.tanh(0.5 * x)).sum(1, keepdim=True)


class NegativePaddedColumns(Model):
    """Sums 16 columns more, whose scores are 0."""

    def forward(self, x):
        return torch.sigmoid(F.pad(self.linear(x), (0, 16))).sum(1, keepdim=True)


class NegativeMean(Model):
    """Averages instead of summing."""

    def forward(self, x):
        return torch.sigmoid(self.linear(x)).mean(1, keepdim=True)


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        return torch.sigmoid(x @ self.linear.weight.T).sum(1, keepdim=True)
