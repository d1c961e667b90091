"""Linear layer, group normalization and clamping.

`Model(in_features, out_features, num_groups, hardtanh_min, hardtanh_max)` holds:

- `gemm`: `nn.Linear(in_features, out_features)`;
- `group_norm`: `nn.GroupNorm(num_groups, out_features)`;
- `hardtanh`: `nn.Hardtanh(min_val=hardtanh_min, max_val=hardtanh_max)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the group normalization: each sample's groups of `out_features / num_groups` neighbouring features, biased variance,
   `eps = 1e-5`;
3. the clamp to `[hardtanh_min, hardtanh_max]`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192, num_groups=16)
SCALED = dict(batch_size=19, in_features=67, out_features=57, num_groups=3)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, num_groups, hardtanh_min, hardtanh_max):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.group_norm = nn.GroupNorm(num_groups, out_features)
        self.hardtanh = nn.Hardtanh(min_val=hardtanh_min, max_val=hardtanh_max)

    def forward(self, x):
        return self.hardtanh(self.group_norm(self.gemm(x)))


def init_inputs(in_features, out_features, num_groups):
    hardtanh_min, hardtanh_max = -2.0, 2.0
    return [in_features, out_features, num_groups, hardtanh_min, hardtanh_max]


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
        return x.clamp(self.hardtanh.min_val, self.hardtanh.max_val)


class NegativeNoClamp(Model):
    """Leaves the clamp out."""

    def forward(self, x):
        return self.group_norm(self.gemm(x))


class NegativeLayerNorm(Model):
    """Normalizes the whole row."""

    def forward(self, x):
        layer = self.group_norm
        return self.hardtanh(F.group_norm(self.gemm(x), 1, layer.weight, layer.bias, layer.eps))


class NegativeDefaultLimits(Model):
    """Clamps to -1 and 1."""

    def forward(self, x):
        return F.hardtanh(self.group_norm(self.gemm(x)))
