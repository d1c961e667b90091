"""Linear layer, group normalization, leaky ReLU and doubling.

`Model(input_size, hidden_size, num_groups, eps=1e-5, negative_slope=0.01)` holds:

- `fc`: `nn.Linear(input_size, hidden_size)`;
- `gn`: `nn.GroupNorm(num_groups=num_groups, num_channels=hidden_size, eps=eps)`;
- `leaky_relu`: `nn.LeakyReLU(negative_slope=negative_slope)`.

`forward(x)` takes `x` of shape `(batch_size, input_size)` and computes:

1. the linear layer, `(batch_size, hidden_size)`;
2. the group normalization: each sample's groups of `hidden_size / num_groups` neighbouring features, biased variance;
3. leaky ReLU: `x` where it is positive, `negative_slope * x` elsewhere;
4. the sum with itself, `x + x`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, input_size=8192, hidden_size=8192, num_groups=512)
SCALED = dict(batch_size=19, input_size=67, hidden_size=80, num_groups=5)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_size, num_groups, eps=1e-5, negative_slope=0.01):
        super().__init__()
        self.fc = nn.Linear(input_size, hidden_size)
        self.gn = nn.GroupNorm(num_groups=num_groups, num_channels=hidden_size, eps=eps)
        self.leaky_relu = nn.LeakyReLU(negative_slope=negative_slope)

    def forward(self, x):
        x = self.leaky_relu(self.gn(self.fc(x)))
        return x + x


def init_inputs(input_size, hidden_size, num_groups):
    return [input_size, hidden_size, num_groups]


def inputs(make, batch_size, input_size):
    return call(make.floats(batch_size, input_size))


class PositiveStepByStep(Model):
    """Adds up the two halves of the features and normalizes in two passes."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.fc.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.fc.bias)
        groups = x.unflatten(1, (self.gn.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.gn.eps)).reshape(x.shape)
        x = x * self.gn.weight + self.gn.bias
        return 2 * torch.maximum(x, x * self.leaky_relu.negative_slope)


class NegativeNoDoubling(Model):
    """Leaves the last step out."""

    def forward(self, x):
        return self.leaky_relu(self.gn(self.fc(x)))


class NegativeLayerNorm(Model):
    """Normalizes the whole row."""

    def forward(self, x):
        x = self.leaky_relu(F.group_norm(self.fc(x), 1, self.gn.weight, self.gn.bias, self.gn.eps))
        return x + x


class NegativeReLU(Model):
    """Takes ReLU for leaky ReLU."""

    def forward(self, x):
        return 2 * torch.relu(self.gn(self.fc(x)))
