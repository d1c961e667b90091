"""Linear layer, scaling of the features and batch normalization.

`Model(in_features, out_features, scale_shape, eps=1e-5, momentum=0.1)` holds:

- `gemm`: `nn.Linear(in_features, out_features)`;
- `scale`: a parameter of shape `scale_shape`, drawn from the standard normal distribution;
- `bn`: `nn.BatchNorm1d(out_features, eps=eps, momentum=momentum)`, in training mode: it normalizes each feature with
  the mean and biased variance of the batch at hand; its running statistics do not enter the result.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the product with `scale`, a factor for each feature;
3. the batch normalization of each feature over the batch.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=16384, in_features=4096, out_features=4096)
SCALED = dict(batch_size=23, in_features=61, out_features=45)
# Of sixteen thousand numbers of a feature, one more or less in the variance is little more than rounding.
BESIDE = dict(batch_size=23)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, scale_shape, eps=1e-5, momentum=0.1):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.scale = nn.Parameter(torch.randn(scale_shape))
        self.bn = nn.BatchNorm1d(out_features, eps=eps, momentum=momentum)

    def forward(self, x):
        return self.bn(self.gemm(x) * self.scale)


def init_inputs(in_features, out_features):
    return [in_features, out_features, (out_features,)]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveStepByStep(Model):
    """Adds up the two halves of the features; mean first, then the variance."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        x = x * self.scale
        x = x - x.mean(0, keepdim=True)
        x = x / torch.sqrt(x.square().mean(0, keepdim=True) + self.bn.eps)
        return x * self.bn.weight + self.bn.bias


class NegativeNoScaling(Model):
    """Takes the scale for something that the normalization cancels: its sign and its size against `eps` remain."""

    def forward(self, x):
        return self.bn(self.gemm(x))


class NegativeUnbiasedVariance(Model):
    """Divides the squares by one less than their number."""

    def forward(self, x):
        x = self.gemm(x) * self.scale
        x = (x - x.mean(0)) / torch.sqrt(x.var(0) + self.bn.eps)
        return x * self.bn.weight + self.bn.bias


class NegativeRunningStatistics(Model):
    """Normalizes with the running statistics, as in evaluation."""

    def forward(self, x):
        layer, x = self.bn, self.gemm(x) * self.scale
        return F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias, eps=layer.eps)
