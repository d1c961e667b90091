"""Linear layer, then Mish twice.

`Model(in_features, out_features)` holds:

- `linear`: `nn.Linear(in_features, out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. Mish, `x * tanh(log(1 + exp(x)))`;
3. Mish of that.
"""

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
        return F.mish(F.mish(self.linear(x)))


def init_inputs(in_features, out_features):
    return [in_features, out_features]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveRational(Model):
    """Mish as `x * (n - 1) / (n + 1)` with `n = (1 + exp(x))**2`."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.linear.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.linear.bias)
        for _ in range(2):
            n = (1 + x.clamp(max=20.0).exp()).square()
            x = x * (n - 1) / (n + 1)
        return x


class NegativeOnce(Model):
    """Applies Mish once."""

    def forward(self, x):
        return F.mish(self.linear(x))


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        return F.mish(F.mish(x @ self.linear.weight.T))
