"""Linear layer, Swish, bias addition and group normalization.

`Model(in_features, out_features, num_groups, bias_shape)` holds:

- `matmul`: `nn.Linear(in_features, out_features)`;
- `bias`: a parameter of shape `bias_shape`, drawn from the standard normal distribution;
- `group_norm`: `nn.GroupNorm(num_groups, out_features)`.

`forward(x)` takes `x` of shape `(batch_size, in_features)` and computes:

1. the linear layer, `(batch_size, out_features)`;
2. Swish, `x / (1 + exp(-x))`;
3. the sum with `bias`;
4. the group normalization: each sample's groups of `out_features / num_groups` neighbouring features, biased variance,
   `eps = 1e-5`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "normalization")
DTYPE = "float32"

PUBLISHED = dict(batch_size=32768, in_features=1024, out_features=4096, num_groups=64)
SCALED = dict(batch_size=23, in_features=67, out_features=65, num_groups=5)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_features, out_features, num_groups, bias_shape):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.group_norm = nn.GroupNorm(num_groups, out_features)

    def forward(self, x):
        return self.group_norm(F.silu(self.matmul(x)) + self.bias)


def init_inputs(in_features, out_features, num_groups):
    return [in_features, out_features, num_groups, (out_features,)]


def inputs(make, batch_size, in_features):
    return call(make.floats(batch_size, in_features))


class PositiveStepByStep(Model):
    """Adds up the two halves of the features and normalizes in two passes."""

    def forward(self, x):
        half = x.shape[1] // 2
        weight = self.matmul.weight
        x = x[:, :half] @ weight[:, :half].T + (x[:, half:] @ weight[:, half:].T + self.matmul.bias)
        x = torch.sigmoid(x) * x + self.bias
        groups = x.unflatten(1, (self.group_norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.group_norm.eps)).reshape(x.shape)
        return x * self.group_norm.weight + self.group_norm.bias


class NegativeNoBias(Model):
    """Leaves the second bias out."""

    def forward(self, x):
        return self.group_norm(F.silu(self.matmul(x)))


class NegativeBiasBeforeSwish(Model):
    """Adds the second bias to the first."""

    def forward(self, x):
        return self.group_norm(F.silu(self.matmul(x) + self.bias))


class NegativeInterleavedGroups(Model):
    """Takes every `num_groups`-th feature into one group."""

    def forward(self, x):
        x = F.silu(self.matmul(x)) + self.bias
        x = x.unflatten(1, (-1, self.group_norm.num_groups)).mT.flatten(1)
        return self.group_norm(x).unflatten(1, (self.group_norm.num_groups, -1)).mT.flatten(1)
