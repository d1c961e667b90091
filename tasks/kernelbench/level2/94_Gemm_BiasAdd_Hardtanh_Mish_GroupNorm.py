"""Linear layer, bias addition, clamping, Mish and group normalization.

`Model(in_features, out_features, bias_shape, num_groups)` holds:

- `gemm`: `nn.Linear(in_features, out_features)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution;
- `hardtanh`: `nn.Hardtanh()`;
- `mish`: `nn.Mish()`;
- `groupnorm`: `nn.GroupNorm(num_groups=num_groups, num_channels=out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the sum with `bias`;
3. the clamp to `[-1, 1]`;
4. Mish, `x * tanh(log(1 + exp(x)))`;
5. the group normalization: each sample's groups of `out_features / num_groups` neighbouring features, biased variance,
   `eps = 1e-5`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192, num_groups=256)
SCALED = dict(batch_size=19, in_features=67, out_features=65, num_groups=5)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_features, out_features, bias_shape, num_groups):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.hardtanh = nn.Hardtanh()
        self.mish = nn.Mish()
        self.groupnorm = nn.GroupNorm(num_groups=num_groups, num_channels=out_features)

    def forward(self, x):
        return self.groupnorm(self.mish(self.hardtanh(self.gemm(x) + self.bias)))


def init_inputs(in_features, out_features, num_groups):
    return [in_features, out_features, (out_features,), num_groups]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveStepByStep(Model):
    """Mish as `x * (n - 1) / (n + 1)` with `n = (1 + exp(x))**2`, the normalization in two passes."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        x = (x + self.bias).clamp(-1, 1)
        n = (1 + x.exp()).square()
        x = x * (n - 1) / (n + 1)
        groups = x.unflatten(1, (self.groupnorm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.groupnorm.eps)).reshape(x.shape)
        return x * self.groupnorm.weight + self.groupnorm.bias


class NegativeNoClamp(Model):
    """Leaves the clamp out."""

    def forward(self, x):
        return self.groupnorm(self.mish(self.gemm(x) + self.bias))


class NegativeNoBias(Model):
    """Leaves the second bias out."""

    def forward(self, x):
        return self.groupnorm(self.mish(self.hardtanh(self.gemm(x))))


class NegativeLayerNorm(Model):
    """Normalizes the whole row."""

    def forward(self, x):
        layer, x = self.groupnorm, self.mish(self.hardtanh(self.gemm(x) + self.bias))
        return F.group_norm(x, 1, layer.weight, layer.bias, layer.eps)
