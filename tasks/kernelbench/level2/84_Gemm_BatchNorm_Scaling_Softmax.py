"""Linear layer, batch normalization, scaling and softmax of the rows.

`Model(in_features, out_features, bn_eps=1e-5, bn_momentum=0.1, scale_shape=(1,))` holds:

- `gemm`: `nn.Linear(in_features, out_features)`;
- `bn`: `nn.BatchNorm1d(out_features, eps=bn_eps, momentum=bn_momentum)`, in training mode: it normalizes each feature
  with the mean and biased variance of the batch at hand; its running statistics do not enter the result;
- `scale`: a parameter of shape `scale_shape`, ones.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the batch normalization of each feature over the batch;
3. the product with `scale`, a single number;
4. softmax over dimension 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, in_features=8192, out_features=8192)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, bn_eps=1e-5, bn_momentum=0.1, scale_shape=(1,)):
        super().__init__()
        self.gemm = nn.Linear(in_features, out_features)
        self.bn = nn.BatchNorm1d(out_features, eps=bn_eps, momentum=bn_momentum)
        self.scale = nn.Parameter(torch.ones(scale_shape))

    def forward(self, x):
        x = self.bn(self.gemm(x)) * self.scale
        return torch.softmax(x, dim=1)


def init_inputs(in_features, out_features):
    bn_eps, bn_momentum = 1e-5, 0.1
    return [in_features, out_features, bn_eps, bn_momentum, (1,)]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveStepByStep(Model):
    """Adds up the two halves of the features; every step written out."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.gemm.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.gemm.bias)
        x = x - x.mean(0, keepdim=True)
        x = x / torch.sqrt(x.square().mean(0, keepdim=True) + self.bn.eps)
        x = x * self.bn.weight + self.bn.bias
        x = x * self.scale
        x = (x - x.amax(1, keepdim=True)).exp()
        return x / x.sum(1, keepdim=True)


class NegativeSoftmaxOverBatch(Model):
    """Normalizes each feature."""

    def forward(self, x):
        return torch.softmax(self.bn(self.gemm(x)) * self.scale, dim=0)


class NegativeNoNormalization(Model):
    """Leaves the batch normalization out."""

    def forward(self, x):
        return torch.softmax(self.gemm(x) * self.scale, dim=1)


class NegativePaddedColumns(Model):
    """Pads the scores with zeros, which join the sum."""

    def forward(self, x):
        x = F.pad(self.bn(self.gemm(x)) * self.scale, (0, 11))
        return torch.softmax(x, dim=1)[:, :-11]


class NegativeRunningStatistics(Model):
    """Normalizes with the running statistics, as in evaluation."""

    def forward(self, x):
        layer, x = self.bn, self.gemm(x)
        x = F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias, eps=layer.eps)
        return torch.softmax(x * self.scale, dim=1)
