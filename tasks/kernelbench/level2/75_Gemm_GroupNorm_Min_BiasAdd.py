"""Linear layer, group normalization, minimum of the rows and bias addition.

`Model(in_features, out_features, num_groups, bias_shape)` holds:

- `gemm`: `nn.Linear(in_features, out_features)`;
- `group_norm`: `nn.GroupNorm(num_groups, out_features)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the group normalization: each sample's groups of `out_features / num_groups` neighbouring features, biased variance,
   `eps = 1e-5`;
3. the minimum over dimension 1, which is kept with size 1: `(batch_size, 1)`;
4. the sum with `bias` of shape `(1, out_features, 1, 1)`, which broadcasts to `(1, out_features, batch_size, 1)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192, num_groups=512)
SCALED = dict(batch_size=19, in_features=67, out_features=80, num_groups=5)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, num_groups, bias_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = torch.min(self.group_norm(self.gemm(x)), dim=1, keepdim=True)[0]
        return x + self.bias


def init_inputs(in_features, out_features, num_groups):
    return [in_features, out_features, num_groups, (1, out_features, 1, 1)]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveStepByStep(Model):
    """Adds up the two halves of the features and normalizes in two passes."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        x = x * self.group_norm.weight + self.group_norm.bias
        return self.bias + x.amin(1)[None, None, :, None]


class NegativeMaximum(Model):
    """Takes the largest feature."""

    def forward(self, x):
        return self.group_norm(self.gemm(x)).amax(1, keepdim=True) + self.bias


class NegativeLayerNorm(Model):
    """Normalizes the whole row."""

    def forward(self, x):
        layer = self.group_norm
        x = F.group_norm(self.gemm(x), 1, layer.weight, layer.bias, layer.eps)
        return x.amin(1, keepdim=True) + self.bias


class NegativeNoNormalization(Model):
    """Takes the minimum of the linear layer."""

    def forward(self, x):
        return self.gemm(x).amin(1, keepdim=True) + self.bias
