"""Linear layer, maximum of the rows, subtraction of the mean and GELU.

`Model(in_features, out_features, max_dim)` holds:

- `gemm`: `nn.Linear(in_features, out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the maximum over dimension `max_dim`, here the features, which is kept with size 1: `(batch_size, 1)`;
3. the difference to the mean over dimension 1, which is kept;
4. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction", "degenerate")
DTYPE = "float32"
# As published the result is 0 whatever the inputs are.
SKIP_CONTROLS = dict.fromkeys(
    ("zeros", "constant", "permuted", "corrupted_1pct", "lower_precision", "tail_missing"),
    "the result is 0 whatever the inputs are",
)

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, max_dim):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.max_dim = max_dim

    def forward(self, x):
        x = torch.max(self.gemm(x), dim=self.max_dim, keepdim=True)[0]
        return F.gelu(x - x.mean(dim=1, keepdim=True))


def init_inputs(in_features, out_features):
    max_dim = 1
    return [in_features, out_features, max_dim]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features; GELU written out."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        x = x.amax(self.max_dim, keepdim=True)
        x = x - x.sum(1, keepdim=True) / x.shape[1]
        return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))


class NegativeMeanOfScores(Model):
    """Subtracts the mean of the linear layer's row instead of that of the maximum."""

    def forward(self, x):
        x = self.gemm(x)
        return F.gelu(x.amax(self.max_dim, keepdim=True) - x.mean(1, keepdim=True))


class NegativeMeanOfBatch(Model):
    """Subtracts the mean of the maxima over the batch."""

    def forward(self, x):
        x = self.gemm(x).amax(self.max_dim, keepdim=True)
        return F.gelu(x - x.mean(0, keepdim=True))


class NegativeNoSubtraction(Model):
    """Leaves the subtraction out."""

    def forward(self, x):
        return F.gelu(self.gemm(x).amax(self.max_dim, keepdim=True))
