"""Linear layer, group normalization, Swish, multiplication of the features and Swish.

`Model(in_features, out_features, num_groups, multiply_weight_shape)` holds:

- `gemm`: `nn.Linear(in_features, out_features)`;
- `group_norm`: `nn.GroupNorm(num_groups, out_features)`;
- `multiply_weight`: a parameter of shape `multiply_weight_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the group normalization: each sample's groups of `out_features / num_groups` neighbouring features, biased variance,
   `eps = 1e-5`;
3. Swish, `x * sigmoid(x)` with the logistic function;
4. the product with `multiply_weight`;
5. Swish again.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192, num_groups=256)
SCALED = dict(batch_size=19, in_features=67, out_features=65, num_groups=5)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, num_groups, multiply_weight_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        self.multiply_weight = nn.Parameter(torch.randn(multiply_weight_shape))

    def forward(self, x):
        x = F.silu(self.group_norm(self.gemm(x)))
        return F.silu(x * self.multiply_weight)


def init_inputs(in_features, out_features, num_groups):
    return [in_features, out_features, num_groups, (out_features,)]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveStepByStep(Model):
    """Adds up the two halves of the features and normalizes in two passes; Swish as a quotient."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        x = x * self.group_norm.weight + self.group_norm.bias
        x = x / (1 + torch.exp(-x)) * self.multiply_weight
        return x / (1 + torch.exp(-x))


class NegativeOneSwish(Model):
    """Leaves the second activation out."""

    def forward(self, x):
        return F.silu(self.group_norm(self.gemm(x))) * self.multiply_weight


class NegativeMultipliesFirst(Model):
    """Multiplies before both activations."""

    def forward(self, x):
        return F.silu(F.silu(self.group_norm(self.gemm(x)) * self.multiply_weight))


class NegativeLayerNorm(Model):
    """Normalizes the whole row."""

    def forward(self, x):
        layer = self.group_norm
        x = F.silu(F.group_norm(self.gemm(x), 1, layer.weight, layer.bias, layer.eps))
        return F.silu(x * self.multiply_weight)
