"""Maximum over windows of a sequence.

`Model(kernel_size, stride=None, padding=0, dilation=1, return_indices=False)` has no weights. `stride=None` means
`kernel_size`.

`forward(x)` takes float32 `x` of shape `(batch, features, length)` and returns, for every position `i` of the output,
the maximum of `x[..., i * stride - padding + k * dilation]` over `k` from 0 to `kernel_size - 1`. Places outside of `x`
count as minus infinity. The output's length is
`floor((length + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1`. With `return_indices=True` the result
is a pair of the maxima and their int64 positions in `x`; the task leaves it at False and has windows of 8, stride 1,
padding 4 and dilation 3.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Exact, call

TAGS = ("pooling",)
DTYPE = "float32"

PUBLISHED = dict(batch=64, features=192, length=65536, kernel_size=8, stride=1, padding=4, dilation=3)
SCALED = dict(batch=2, features=5, length=131, kernel_size=8, stride=1, padding=4, dilation=3)

CONTRACT = Exact()


class Model(nn.Module):
    def __init__(
        self, kernel_size: int, stride: int = None, padding: int = 0, dilation: int = 1, return_indices: bool = False
    ):
        super().__init__()
        self.maxpool = nn.MaxPool1d(kernel_size, stride, padding, dilation, return_indices)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.maxpool(x)


def init_inputs(kernel_size, stride, padding, dilation):
    return [kernel_size, stride, padding, dilation, False]


def inputs(make, batch, features, length):
    return call(make.floats(batch, features, length))


class PositiveShifts(Model):
    """Compares the padded sequence with itself, shifted once for each place of the window."""

    def forward(self, x):
        pool = self.maxpool
        padded = F.pad(x, (pool.padding, pool.padding), value=float("-inf"))
        size = padded.shape[2] - pool.dilation * (pool.kernel_size - 1)
        result = padded[..., : size : pool.stride]
        for k in range(1, pool.kernel_size):
            start = k * pool.dilation
            result = torch.maximum(result, padded[..., start : start + size : pool.stride])
        return result


class NegativeUndilated(Model):
    """Takes neighbours instead of every `dilation`-th number."""

    def forward(self, x):
        pool = self.maxpool
        size = x.shape[2] + 2 * pool.padding - pool.dilation * (pool.kernel_size - 1)
        return F.max_pool1d(x, pool.kernel_size, pool.stride, pool.padding)[..., :size]


class NegativePaddedAtTheStart(Model):
    """Takes all of the padding at the start."""

    def forward(self, x):
        pool = self.maxpool
        padded = F.pad(x, (2 * pool.padding, 0), value=float("-inf"))
        return F.max_pool1d(padded, pool.kernel_size, pool.stride, 0, pool.dilation)
