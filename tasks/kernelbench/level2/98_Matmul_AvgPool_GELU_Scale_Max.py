"""Linear layer, average pooling of neighbouring features, GELU, scaling and maximum of the rows.

`Model(in_features, out_features, pool_kernel_size, scale_factor)` holds:

- `matmul`: `nn.Linear(in_features, out_features)`;
- `avg_pool`: `nn.AvgPool1d(kernel_size=pool_kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the average of each `pool_kernel_size` neighbouring features, stride `pool_kernel_size`; what is left over at the end
   is dropped;
3. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
4. the product with `scale_factor`;
5. the maximum over dimension 1, which is removed: `(batch_size,)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=151)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, pool_kernel_size, scale_factor):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.avg_pool = nn.AvgPool1d(kernel_size=pool_kernel_size)
        self.scale_factor = scale_factor

    def forward(self, x):
        x = self.avg_pool(self.matmul(x)[:, None])[:, 0]
        return torch.max(F.gelu(x) * self.scale_factor, dim=1)[0]


def init_inputs(in_features, out_features):
    pool_kernel_size, scale_factor = 16, 2.0
    return [in_features, out_features, pool_kernel_size, scale_factor]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositivePoolsWeights(Model):
    """The average of neighbouring products is the product with the average of their weights."""

    def forward(self, x):
        size = self.avg_pool.kernel_size[0]
        weight = F.avg_pool1d(self.matmul.weight.T, size).T
        x = x @ weight.T + F.avg_pool1d(self.matmul.bias[None], size)
        return (0.5 * x * (1 + torch.erf(x * 0.5**0.5)) * self.scale_factor).amax(1)


class NegativeNoPooling(Model):
    """Takes the maximum of all features."""

    def forward(self, x):
        return (F.gelu(self.matmul(x)) * self.scale_factor).amax(1)


class NegativePoolsLast(Model):
    """Averages after GELU."""

    def forward(self, x):
        x = F.avg_pool1d(F.gelu(self.matmul(x))[:, None], self.avg_pool.kernel_size)[:, 0]
        return (x * self.scale_factor).amax(1)


class NegativeNoScaling(Model):
    """Leaves the factor out."""

    def forward(self, x):
        return F.gelu(self.avg_pool(self.matmul(x)[:, None])[:, 0]).amax(1)
