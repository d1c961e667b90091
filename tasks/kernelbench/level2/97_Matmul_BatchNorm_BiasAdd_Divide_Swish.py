"""Linear layer, batch normalization, bias addition, division and Swish.

`Model(in_features, out_features, bn_eps=1e-5, bn_momentum=0.1, bias_shape=(1,), divide_value=1.0)` holds:

- `matmul`: `nn.Linear(in_features, out_features)`;
- `bn`: `nn.BatchNorm1d(out_features, eps=bn_eps, momentum=bn_momentum)`, in training mode: it normalizes each feature
  with the mean and biased variance of the batch at hand; its running statistics do not enter the result;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the batch normalization of each feature over the batch;
3. the sum with `bias`, a single number;
4. the quotient by `divide_value`;
5. Swish, `x * sigmoid(x)` with the logistic function.
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
    def __init__(self, in_features, out_features, bn_eps=1e-5, bn_momentum=0.1, bias_shape=(1,), divide_value=1.0):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.bn = nn.BatchNorm1d(out_features, eps=bn_eps, momentum=bn_momentum)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.divide_value = divide_value

    def forward(self, x):
        x = (self.bn(self.matmul(x)) + self.bias) / self.divide_value
        return x * torch.sigmoid(x)


def init_inputs(in_features, out_features):
    bn_eps, bn_momentum, divide_value = 1e-5, 0.1, 1.0
    return [in_features, out_features, bn_eps, bn_momentum, (1,), divide_value]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveStepByStep(Model):
    """Adds up the two halves of the features; Swish as a quotient."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.matmul.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.matmul.bias)
        x = x - x.mean(0, keepdim=True)
        x = x / torch.sqrt(x.square().mean(0, keepdim=True) + self.bn.eps)
        x = x * self.bn.weight + self.bn.bias
        x = (x + self.bias) / self.divide_value
        return x / (1 + torch.exp(-x))


class NegativeNoBias(Model):
    """Leaves the second bias out."""

    def forward(self, x):
        return F.silu(self.bn(self.matmul(x)) / self.divide_value)


class NegativeBiasBeforeNormalization(Model):
    """Adds the bias where the normalization takes it out again."""

    def forward(self, x):
        return F.silu(self.bn(self.matmul(x) + self.bias) / self.divide_value)


class NegativeUnbiasedVariance(Model):
    """Divides the squares by one less than their number."""

    def forward(self, x):
        x = self.matmul(x)
        x = (x - x.mean(0)) / torch.sqrt(x.var(0) + self.bn.eps)
        return F.silu((x + self.bias) / self.divide_value)


class NegativeRunningStatistics(Model):
    """Normalizes with the running statistics, as in evaluation."""

    def forward(self, x):
        layer, x = self.bn, self.matmul(x)
        x = F.batch_norm(x, layer.running_mean, layer.running_var, layer.weight, layer.bias, eps=layer.eps)
        return F.silu((x + self.bias) / self.divide_value)
