"""3-D convolution, group normalization, minimum, clamping and dropout.

`Model(in_channels, out_channels, kernel_size, groups, min_value, max_value, dropout_p)` holds:

- `conv`: `nn.Conv3d(in_channels, out_channels, kernel_size)`;
- `norm`: `nn.GroupNorm(groups, out_channels)`;
- `dropout`: `nn.Dropout(dropout_p)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, depth, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the group normalization: each sample's groups of `out_channels / groups` neighbouring channels, biased variance,
   `eps = 1e-5`;
3. the smaller of each element and `min_value`;
4. the clamp to `[min_value, max_value]`;
5. dropout in training mode: elements become 0 with probability `dropout_p`, the others are divided by `1 - dropout_p`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "normalization", "degenerate")
DTYPE = "float32"
# As published the result is 0 whatever the inputs are.
SKIP_CONTROLS = dict.fromkeys(
    ("zeros", "constant", "permuted", "corrupted_1pct", "lower_precision", "tail_missing"),
    "the result is 0 whatever the inputs are",
)

PUBLISHED = dict(batch_size=128, in_channels=3, out_channels=16, depth=16, height=64, width=64)
SCALED = dict(batch_size=2, in_channels=3, out_channels=16, depth=7, height=9, width=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, groups, min_value, max_value, dropout_p):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.norm = nn.GroupNorm(groups, out_channels)
        self.min_value = min_value
        self.max_value = max_value
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x):
        x = torch.clamp(self.norm(self.conv(x)), max=self.min_value)
        return self.dropout(torch.clamp(x, min=self.min_value, max=self.max_value))


def init_inputs(in_channels, out_channels):
    kernel_size = 3
    groups, min_value, max_value, dropout_p = 8, 0.0, 1.0, 0.2
    return [in_channels, out_channels, kernel_size, groups, min_value, max_value, dropout_p]


def inputs(make, batch_size, in_channels, depth, height, width):
    return call(make.floats(batch_size, in_channels, depth, height, width))


class PositiveStepByStep(Model):
    """Adds up the two halves of the input channels and normalizes in two passes."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv3d(x[:, :half], weight[:, :half]) + F.conv3d(x[:, half:], weight[:, half:], self.conv.bias)
        groups = x.unflatten(1, (self.norm.num_groups, -1)).flatten(2)
        groups = groups - groups.mean(2, keepdim=True)
        x = (groups / torch.sqrt(groups.square().mean(2, keepdim=True) + self.norm.eps)).reshape(x.shape)
        x = x * self.norm.weight[:, None, None, None] + self.norm.bias[:, None, None, None]
        x = x.clamp(max=self.min_value).clamp(self.min_value, self.max_value)
        return x * (torch.rand_like(x) >= self.dropout.p) / (1 - self.dropout.p)


class NegativeNoMinimum(Model):
    """Leaves the minimum out."""

    def forward(self, x):
        return self.dropout(torch.clamp(self.norm(self.conv(x)), self.min_value, self.max_value))


class NegativeMaximum(Model):
    """Takes the larger of each element and `min_value`."""

    def forward(self, x):
        return self.dropout(torch.clamp(self.norm(self.conv(x)), min=self.min_value))


class NegativeNoClamp(Model):
    """Leaves the clamp out."""

    def forward(self, x):
        return self.dropout(torch.clamp(self.norm(self.conv(x)), max=self.min_value))
