"""Linear layer and row sums, followed by reductions of a single column.

`Model(in_features, out_features)` holds:

- `linear`: `nn.Linear(in_features, out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the sum over dimension 1, which is kept with size 1: `(batch_size, 1)`;
3. the maximum over dimension 1, kept;
4. the mean over dimension 1, kept;
5. `log(sum(exp(x)))` over dimension 1, kept;
6. the same once more.

Steps 3 to 6 reduce a dimension of size 1 and change nothing; sums of exponentials must not overflow.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        x = torch.sum(self.linear(x), dim=1, keepdim=True)
        x = torch.max(x, dim=1, keepdim=True)[0]
        x = torch.mean(x, dim=1, keepdim=True)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return torch.logsumexp(x, dim=1, keepdim=True)


def init_inputs(in_features, out_features):
    return [in_features, out_features]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSumsWeightsFirst(Model):
    """One product with the summed weights; nothing follows, since one column reduces to itself."""

    def forward(self, x):
        return x @ self.linear.weight.sum(0)[:, None] + self.linear.bias.sum()


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        return torch.sum(x @ self.linear.weight.T, dim=1, keepdim=True)


class NegativeMean(Model):
    """Averages where it should sum."""

    def forward(self, x):
        return torch.mean(self.linear(x), dim=1, keepdim=True)


class NegativeLogSumExpOfRow(Model):
    """Takes the logarithm of summed exponentials of the row before its sum."""

    def forward(self, x):
        return torch.logsumexp(self.linear(x), dim=1, keepdim=True)
