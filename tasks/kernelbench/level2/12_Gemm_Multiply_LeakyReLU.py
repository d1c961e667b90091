"""Linear layer, multiplication by a constant and leaky ReLU.

`Model(in_features, out_features, multiplier, negative_slope)` holds:

- `gemm`: `nn.Linear(in_features, out_features)`;
- `leaky_relu`: `nn.LeakyReLU(negative_slope)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the product with `multiplier`;
3. leaky ReLU: `x` where it is positive, `negative_slope * x` elsewhere.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, multiplier, negative_slope):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.multiplier = multiplier
        self.leaky_relu = nn.LeakyReLU(negative_slope)

    def forward(self, x):
        return self.leaky_relu(self.gemm(x) * self.multiplier)


def init_inputs(in_features, out_features):
    multiplier, negative_slope = 2.0, 0.1
    return [in_features, out_features, multiplier, negative_slope]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        x = x * self.multiplier
        return torch.maximum(x, x * self.leaky_relu.negative_slope)


class NegativeDefaultSlope(Model):
    """Takes the usual slope of 0.01."""

    def forward(self, x):
        return F.leaky_relu(self.gemm(x) * self.multiplier)


class NegativeBiasNotMultiplied(Model):
    """Adds the bias after the multiplication."""

    def forward(self, x):
        return self.leaky_relu(x @ self.gemm.weight.T * self.multiplier + self.gemm.bias)
