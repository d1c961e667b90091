"""Maximum over cubic windows of a volume.

`Model(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False)` has no weights; numbers
hold for all three dimensions, and `stride=None` means `kernel_size`.

`forward(x)` takes float32 `x` of shape `(batch, channels, depth, height, width)` and returns maxima over windows: along
each dimension, place `i` of the output sees the places `i * stride - padding + k * dilation` of `x` for `k` from 0 to
`kernel_size - 1`. Places outside of `x` count as minus infinity. Each output size is
`floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1`, rounded up instead with `ceil_mode=True`.
With `return_indices=True` the result is a pair of the maxima and their int64 places in the flattened volume. The task
leaves both at False and has windows of 3 in each dimension, stride 2, padding 1 and dilation 3.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Exact, call

TAGS = ("pooling",)
DTYPE = "float32"

PUBLISHED = dict(
    batch=16, channels=32, depth=128, height=128, width=128, kernel_size=3, stride=2, padding=1, dilation=3
)
SCALED = dict(batch=2, channels=3, depth=13, height=17, width=15, kernel_size=3, stride=2, padding=1, dilation=3)

CONTRACT = Exact()


class Model(nn.Module):
    def __init__(
        self,
        kernel_size: int,
        stride: int = None,
        padding: int = 0,
        dilation: int = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ):
        super().__init__()
        self.maxpool = nn.MaxPool3d(kernel_size, stride, padding, dilation, return_indices, ceil_mode)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.maxpool(x)


def init_inputs(kernel_size, stride, padding, dilation):
    return [kernel_size, stride, padding, dilation]


def inputs(make, batch, channels, depth, height, width):
    return call(make.floats(batch, channels, depth, height, width))


class PositiveSeparable(Model):
    """Pools one dimension after the other."""

    def forward(self, x):
        pool = self.maxpool
        k, s, p, d = pool.kernel_size, pool.stride, pool.padding, pool.dilation
        for axis in range(3):
            k3, s3, p3, d3 = (
                [value if i == axis else rest for i in range(3)] for value, rest in ((k, 1), (s, 1), (p, 0), (d, 1))
            )
            x = F.max_pool3d(x, k3, s3, p3, d3)
        return x


class NegativeUndilated(Model):
    """Takes neighbours instead of every `dilation`-th number."""

    def forward(self, x):
        pool = self.maxpool
        depth, height, width = pool(x).shape[2:]
        return F.max_pool3d(x, pool.kernel_size, pool.stride, pool.padding)[..., :depth, :height, :width]


class NegativePaddedAtTheStart(Model):
    """Takes all of the padding in front of each dimension."""

    def forward(self, x):
        pool = self.maxpool
        padded = F.pad(x, (2 * pool.padding, 0) * 3, value=float("-inf"))
        return F.max_pool3d(padded, pool.kernel_size, pool.stride, 0, pool.dilation)
