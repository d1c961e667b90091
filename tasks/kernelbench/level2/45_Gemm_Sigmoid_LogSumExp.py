"""Linear layer, sigmoid, second linear layer and log-sum-exp of the rows.

`Model(input_size, hidden_size, output_size)` holds:

- `linear1`: `nn.Linear(input_size, hidden_size)`;
- `linear2`: `nn.Linear(hidden_size, output_size)`.

`forward(x)` takes `x` of shape `(batch_size, input_size)` and computes:

1. the first linear layer, `(batch_size, hidden_size)`;
2. the logistic function;
3. the second linear layer, `(batch_size, output_size)`;
4. `log(sum(exp(x)))` over dimension 1, which is removed: `(batch_size,)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16384, input_size=2048, hidden_size=4096, output_size=1024)
SCALED = dict(batch_size=23, input_size=67, hidden_size=45, output_size=39)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.linear1 = nn.Linear(input_size, hidden_size)
        self.linear2 = nn.Linear(hidden_size, output_size)

    def forward(self, x):
        x = self.linear2(torch.sigmoid(self.linear1(x)))
        return torch.logsumexp(x, dim=1)


def init_inputs(input_size, hidden_size, output_size):
    return [input_size, hidden_size, output_size]


def inputs(make, batch_size, input_size):
    return call(make.floats(batch_size, input_size))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features; subtracts the largest score before the exponentials."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.linear1.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.linear1.bias)
        x = self.linear2(1 / (1 + torch.exp(-x)))
        top = x.amax(1, keepdim=True)
        return (x - top).exp().sum(1).log() + top[:, 0]


class NegativeNoSigmoid(Model):
    """Leaves the logistic function out."""

    def forward(self, x):
        return torch.logsumexp(self.linear2(self.linear1(x)), dim=1)


class NegativeNoSecondBias(Model):
    """Leaves the second bias out."""

    def forward(self, x):
        x = torch.sigmoid(self.linear1(x)) @ self.linear2.weight.T
        return torch.logsumexp(x, dim=1)


class NegativePaddedColumn(Model):
    """Pads the scores with a zero, which joins the sum."""

    def forward(self, x):
        x = F.pad(self.linear2(torch.sigmoid(self.linear1(x))), (0, 1))
        return torch.logsumexp(x, dim=1)
