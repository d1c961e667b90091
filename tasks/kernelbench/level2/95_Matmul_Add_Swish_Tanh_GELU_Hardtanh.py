"""Linear layer, addition, Swish, tanh, GELU and clamping.

`Model(in_features, out_features, add_value_shape)` holds:

- `matmul`: `nn.Linear(in_features, out_features)`;
- `add_value`: a parameter of shape `add_value_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the sum with `add_value`;
3. Swish, `x * sigmoid(x)` with the logistic function;
4. tanh;
5. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
6. the clamp to `[-1, 1]`, inside which the values are by now.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_features, out_features, add_value_shape):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.add_value = nn.Parameter(torch.randn(add_value_shape))

    def forward(self, x):
        x = F.silu(self.matmul(x) + self.add_value)
        x = F.gelu(torch.tanh(x))
        return F.hardtanh(x, min_val=-1, max_val=1)


def init_inputs(in_features, out_features):
    return [in_features, out_features, (out_features,)]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveNoClamp(Model):
    """tanh and GELU leave nothing for the clamp."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.matmul.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.matmul.bias)
        x = x + self.add_value
        x = 2 * torch.sigmoid(2 * x / (1 + torch.exp(-x))) - 1
        return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))


class NegativeNoAddition(Model):
    """Leaves the addition out."""

    def forward(self, x):
        return F.gelu(torch.tanh(F.silu(self.matmul(x))))


class NegativeNoTanh(Model):
    """Takes the clamp for tanh."""

    def forward(self, x):
        return F.hardtanh(F.gelu(F.silu(self.matmul(x) + self.add_value)))


class NegativeTanhGELU(Model):
    """The tanh approximation of GELU."""

    def forward(self, x):
        return F.gelu(torch.tanh(F.silu(self.matmul(x) + self.add_value)), approximate="tanh")
