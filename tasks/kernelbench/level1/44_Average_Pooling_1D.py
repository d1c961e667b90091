"""Mean over windows of a sequence.

`Model(kernel_size, stride=1, padding=0)` has no weights.

`forward(x)` takes float32 `x` of shape `(batch, channels, length)` and returns, for every position `i` of the output,
the sum of `x[..., i * stride - padding + k]` over `k` from 0 to `kernel_size - 1`, divided by `kernel_size`. Places
outside of `x` count as 0 and still count in the divisor. The output's length is
`floor((length + 2 * padding - kernel_size) / stride) + 1`. In this task windows have 8 places, the stride is 1 and the
padding 4.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("pooling",)
DTYPE = "float32"

PUBLISHED = dict(batch=64, channels=128, length=65536, kernel_size=8, stride=1, padding=4)
SCALED = dict(batch=2, channels=5, length=131, kernel_size=8, stride=1, padding=4)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, kernel_size: int, stride: int = 1, padding: int = 0):
        super().__init__()
        self.avg_pool = nn.AvgPool1d(kernel_size, stride, padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.avg_pool(x)


def init_inputs(kernel_size, stride, padding):
    return [kernel_size, stride, padding]


def inputs(make, batch, channels, length):
    return call(make.floats(batch, channels, length))


class PositiveShifts(Model):
    """Adds the padded sequence to itself, shifted once for each place of the window."""

    def forward(self, x):
        (width,), (stride,), (pad,) = self.avg_pool.kernel_size, self.avg_pool.stride, self.avg_pool.padding
        padded = F.pad(x, (pad, pad))
        size = padded.shape[2] - width + 1
        return sum(padded[..., k : k + size : stride] for k in range(width)) / width


class NegativePaddingNotCounted(Model):
    """Divides by the number of places inside of `x`."""

    def forward(self, x):
        pool = self.avg_pool
        return F.avg_pool1d(x, pool.kernel_size, pool.stride, pool.padding, count_include_pad=False)


class NegativeSum(Model):
    """Forgets to divide."""

    def forward(self, x):
        return self.avg_pool(x) * self.avg_pool.kernel_size[0]
