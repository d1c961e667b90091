"""Mean over cubic windows of a volume.

`Model(kernel_size, stride=None, padding=0)` has no weights; each argument holds for all three dimensions. `stride=None`
means `kernel_size`.

`forward(x)` takes float32 `x` of shape `(batch, channels, depth, height, width)` and returns means over windows: along
each dimension, place `i` of the output sees the places `i * stride - padding + k` of `x` for `k` from 0 to
`kernel_size - 1`. The sum of a window is divided by `kernel_size**3`; places outside of `x` count as 0 and still count
in the divisor. Each output size is `floor((size + 2 * padding - kernel_size) / stride) + 1`. In this task windows have
3 places in each dimension, the stride is 2 and the padding 1.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("pooling",)
DTYPE = "float32"

PUBLISHED = dict(batch=16, channels=32, depth=128, height=128, width=256, kernel_size=3, stride=2, padding=1)
SCALED = dict(batch=2, channels=3, depth=11, height=13, width=17, kernel_size=3, stride=2, padding=1)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, kernel_size: int, stride: int = None, padding: int = 0):
        super().__init__()
        self.avg_pool = nn.AvgPool3d(kernel_size, stride, padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.avg_pool(x)


def init_inputs(kernel_size, stride, padding):
    return [kernel_size, stride, padding]


def inputs(make, batch, channels, depth, height, width):
    return call(make.floats(batch, channels, depth, height, width))


class PositiveSeparable(Model):
    """Means of planes, then means of those."""

    def forward(self, x):
        k, s, p = self.avg_pool.kernel_size, self.avg_pool.stride, self.avg_pool.padding
        return F.avg_pool3d(F.avg_pool3d(x, (1, k, k), (1, s, s), (0, p, p)), (k, 1, 1), (s, 1, 1), (p, 0, 0))


class NegativePaddingNotCounted(Model):
    """Divides by the number of places inside of `x`."""

    def forward(self, x):
        pool = self.avg_pool
        return F.avg_pool3d(x, pool.kernel_size, pool.stride, pool.padding, count_include_pad=False)


class NegativePaddedAtTheStart(Model):
    """Takes all of the padding in front of each dimension."""

    def forward(self, x):
        pool = self.avg_pool
        return F.avg_pool3d(F.pad(x, (2 * pool.padding, 0) * 3), pool.kernel_size, pool.stride)
