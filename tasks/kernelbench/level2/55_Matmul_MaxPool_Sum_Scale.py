"""Linear layer, max pooling of neighbouring features, sum and scaling.

`Model(in_features, out_features, kernel_size, scale_factor)` holds:

- `matmul`: `nn.Linear(in_features, out_features)`;
- `max_pool`: `nn.MaxPool1d(kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. the largest of each `kernel_size` neighbouring features, stride `kernel_size`; what is left over at the end is
   dropped;
3. the sum over dimension 1, which is removed: `(batch_size,)`;
4. the product with `scale_factor`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "reduction")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_features=32768, out_features=32768)
SCALED = dict(batch_size=19, in_features=67, out_features=53)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, kernel_size, scale_factor):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.max_pool = nn.MaxPool1d(kernel_size)
        self.scale_factor = scale_factor

    def forward(self, x):
        x = self.max_pool(self.matmul(x)[:, None])[:, 0]
        return torch.sum(x, dim=1) * self.scale_factor


def init_inputs(in_features, out_features):
    kernel_size, scale_factor = 2, 0.5
    return [in_features, out_features, kernel_size, scale_factor]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveSplitFeatures(Model):
    """Adds up the two halves of the features, and takes the maximum of a reshaped row."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.matmul.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.matmul.bias)
        size = self.max_pool.kernel_size
        x = x[:, : x.shape[1] // size * size].unflatten(1, (-1, size)).amax(2)
        return (x * self.scale_factor).sum(1)


class NegativeNoPooling(Model):
    """Sums all features."""

    def forward(self, x):
        return self.matmul(x).sum(1) * self.scale_factor


class NegativeOverlapping(Model):
    """Pools with stride 1."""

    def forward(self, x):
        x = F.max_pool1d(self.matmul(x)[:, None], self.max_pool.kernel_size, stride=1)[:, 0]
        return x.sum(1) * self.scale_factor


class NegativeHalves(Model):
    """Compares the first half with the second instead of neighbours."""

    def forward(self, x):
        x = self.matmul(x)
        half = x.shape[1] // 2
        return torch.maximum(x[:, :half], x[:, half : 2 * half]).sum(1) * self.scale_factor
