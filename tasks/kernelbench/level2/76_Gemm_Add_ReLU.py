"""Linear layer without a bias, bias addition and ReLU.

`Model(in_features, out_features, bias_shape)` holds:

- `gemm`: `nn.Linear(in_features, out_features, bias=False)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the sum with `bias`;
3. ReLU.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, bias_shape):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features, bias=False)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        return torch.relu(self.gemm(x) + self.bias)


def init_inputs(in_features, out_features):
    return [in_features, out_features, (out_features,)]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features, starting from the bias."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.gemm.weight
        x = torch.addmm(self.bias, x[:, :half], weight[:, :half].T) + x[:, half:] @ weight[:, half:].T
        return x.clamp(min=0)


class NegativeNoBias(Model):
    """Leaves the bias out."""

    def forward(self, x):
        return torch.relu(self.gemm(x))


class NegativeBiasAfterReLU(Model):
    """Adds the bias last."""

    def forward(self, x):
        return torch.relu(self.gemm(x)) + self.bias


class NegativeNoReLU(Model):
    """Leaves ReLU out."""

    def forward(self, x):
        return self.gemm(x) + self.bias
