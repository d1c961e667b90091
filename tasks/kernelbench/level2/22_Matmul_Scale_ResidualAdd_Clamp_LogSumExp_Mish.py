"""Linear layer, scaling, doubling, clamping, log-sum-exp of the rows, and a product with Mish.

`Model(input_size, hidden_size, scale_factor, clamp_min, clamp_max)` holds:

- `matmul`: `nn.Linear(input_size, hidden_size)`.

`forward(x)` takes `x` of shape `(batch_size, input_size)` and computes:

1. the linear layer, `(batch_size, hidden_size)`;
2. the product with `scale_factor`;
3. the sum with itself, `x + x`;
4. the clamp to `[clamp_min, clamp_max]`;
5. `log(sum(exp(x)))` over dimension 1, which is kept with size 1;
6. the product of that with its Mish, `x * mish(x)` where `mish(x) = x * tanh(log(1 + exp(x)))`: `(batch_size, 1)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, input_size=8192, hidden_size=8192)
SCALED = dict(batch_size=19, input_size=67, hidden_size=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, scale_factor, clamp_min, clamp_max):
        super().__init__()
        self.matmul = nn.Linear(input_size, hidden_size)
        self.scale_factor = scale_factor
        self.clamp_min = clamp_min
        self.clamp_max = clamp_max

    def forward(self, x):
        x = self.matmul(x) * self.scale_factor
        x = torch.clamp(x + x, self.clamp_min, self.clamp_max)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return x * F.mish(x)


def init_inputs(input_size, hidden_size):
    scale_factor, clamp_min, clamp_max = 2.0, -10.0, 10.0
    return [input_size, hidden_size, scale_factor, clamp_min, clamp_max]


def inputs(make, batch_size, input_size):
    return call(make.floats(batch_size, input_size))


class PositiveOneFactor(Model):
    """Doubles the factor, and subtracts the largest possible score before the exponentials."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.matmul.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.matmul.bias)
        x = (x * (2 * self.scale_factor)).clamp(self.clamp_min, self.clamp_max)
        x = (x - self.clamp_max).exp().sum(1, keepdim=True).log() + self.clamp_max
        return x * x * torch.tanh(F.softplus(x))


class NegativeNoDoubling(Model):
    """Takes the residual addition for a no-op."""

    def forward(self, x):
        x = torch.clamp(self.matmul(x) * self.scale_factor, self.clamp_min, self.clamp_max)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return x * F.mish(x)


class NegativeMishAlone(Model):
    """Leaves the product with Mish's argument out."""

    def forward(self, x):
        x = self.matmul(x) * self.scale_factor
        x = torch.clamp(x + x, self.clamp_min, self.clamp_max)
        return F.mish(torch.logsumexp(x, dim=1, keepdim=True))
