"""Linear layer, batch normalization, GELU and ReLU.

`Model(in_features, out_features)` holds:

- `gemm`: `nn.Linear(in_features, out_features)`;
- `batch_norm`: `nn.BatchNorm1d(out_features)`, in training mode: it normalizes each feature with the mean and biased
  variance of the batch at hand; its running statistics do not enter the result.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the batch normalization of each feature over the batch, `eps = 1e-5`;
3. the exact GELU, `0.5 * x * (1 + erf(x / sqrt(2)))`;
4. ReLU.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16384, in_features=4096, out_features=4096)
SCALED = dict(batch_size=23, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.batch_norm = nn.BatchNorm1d(out_features)

    def forward(self, x):
        return torch.relu(F.gelu(self.batch_norm(self.gemm(x))))


def init_inputs(in_features, out_features):
    return [in_features, out_features]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveClampsFirst(Model):
    """GELU keeps the sign: negative numbers may become 0 before it."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        x = x - x.mean(0, keepdim=True)
        x = x / torch.sqrt(x.square().mean(0, keepdim=True) + self.batch_norm.eps)
        x = x * self.batch_norm.weight + self.batch_norm.bias
        x = x.clamp(min=0)
        return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))


class NegativeNoReLU(Model):
    """Leaves ReLU out."""

    def forward(self, x):
        return F.gelu(self.batch_norm(self.gemm(x)))


class NegativeNoGELU(Model):
    """Leaves GELU out."""

    def forward(self, x):
        return torch.relu(self.batch_norm(self.gemm(x)))


class NegativeTanhGELU(Model):
    """The tanh approximation of GELU."""

    def forward(self, x):
        return torch.relu(F.gelu(self.batch_norm(self.gemm(x)), approximate="tanh"))


class NegativeRunningStatistics(Model):
    """Normalizes with the running statistics, as in evaluation."""

    def forward(self, x):
        layer, x = self.batch_norm, self.gemm(x)
        x = F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias, eps=layer.eps)
        return torch.relu(F.gelu(x))
