"""Linear layer, subtraction, mean of the rows, log-sum-exp, GELU, and addition to the input.

`Model(in_features, out_features, bias=True)` holds:

- `gemm`: `nn.Linear(in_features, out_features, bias=bias)`;
- `subtract`: a parameter of shape `(out_features,)`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the difference `x - subtract`;
3. the mean over dimension 1, which is kept with size 1;
4. `log(sum(exp(x)))` over dimension 1, kept, which changes nothing here;
5. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
6. the sum with the layer's input, broadcast over its features: `(batch_size, in_features)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=2048, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=bias)
        self.subtract = nn.Parameter(torch.randn(out_features))

    def forward(self, x):
        original = x
        x = torch.mean(self.gemm(x) - self.subtract, dim=1, keepdim=True)
        x = torch.logsumexp(x, dim=1, keepdim=True)
        return F.gelu(x) + original


def init_inputs(in_features, out_features):
    return [in_features, out_features]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSumsWeightsFirst(Model):
    """The mean of the products is the product with the mean of the weights' rows."""

    def forward(self, x):
        mean = x @ self.gemm.weight.mean(0)[:, None] + (self.gemm.bias - self.subtract).mean()
        return x + 0.5 * mean * (1 + torch.erf(mean * 0.5**0.5))


class NegativeNoGELU(Model):
    """Leaves GELU out."""

    def forward(self, x):
        return x + (self.gemm(x) - self.subtract).mean(1, keepdim=True)


class NegativeNoSubtraction(Model):
    """Leaves the subtraction out."""

    def forward(self, x):
        return x + F.gelu(self.gemm(x).mean(1, keepdim=True))


class NegativeNoInput(Model):
    """Returns what is added, without the input."""

    def forward(self, x):
        return F.gelu((self.gemm(x) - self.subtract).mean(1, keepdim=True)).expand(x.shape).clone()


class NegativeMeanLast(Model):
    """Applies GELU to every feature and averages then."""

    def forward(self, x):
        return x + F.gelu(self.gemm(x) - self.subtract).mean(1, keepdim=True)
