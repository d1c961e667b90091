"""Linear layer, scaling, clamping and GELU.

`Model(in_features, out_features, scaling_factor, hardtanh_min, hardtanh_max)` holds:

- `gemm`: `nn.Linear(in_features, out_features)`;
- `hardtanh`: `nn.Hardtanh(min_val=hardtanh_min, max_val=hardtanh_max)`;
- `gelu`: `nn.GELU()`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the product with `scaling_factor`;
3. the clamp to `[hardtanh_min, hardtanh_max]`;
4. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=2048, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_features, out_features, scaling_factor, hardtanh_min, hardtanh_max):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.scaling_factor = scaling_factor
        self.hardtanh = nn.Hardtanh(min_val=hardtanh_min, max_val=hardtanh_max)
        self.gelu = nn.GELU()

    def forward(self, x):
        return self.gelu(self.hardtanh(self.gemm(x) * self.scaling_factor))


def init_inputs(in_features, out_features):
    scaling_factor, hardtanh_min, hardtanh_max = 0.5, -2, 2
    return [in_features, out_features, scaling_factor, hardtanh_min, hardtanh_max]


def inputs(make, batch_size, in_features):
    """Spread so wide that a part of the sums lies beyond the limits."""
    scale = 1 if make.as_published else 4.0
    return call(scale * make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features; GELU written out."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        x = (x * self.scaling_factor).clamp(self.hardtanh.min_val, self.hardtanh.max_val)
        return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))


class NegativeNoClamp(Model):
    """Leaves the clamp out."""

    def forward(self, x):
        return F.gelu(self.gemm(x) * self.scaling_factor)


class NegativeDefaultLimits(Model):
    """Clamps to -1 and 1."""

    def forward(self, x):
        return F.gelu(F.hardtanh(self.gemm(x) * self.scaling_factor))


class NegativeTanhGELU(Model):
    """The tanh approximation of GELU."""

    def forward(self, x):
        x = self.hardtanh(self.gemm(x) * self.scaling_factor)
        return F.gelu(x, approximate="tanh")
