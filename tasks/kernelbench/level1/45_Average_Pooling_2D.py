"""Mean over square windows of an image.

`Model(kernel_size, stride=None, padding=0)` has no weights; each argument holds for both dimensions. `stride=None`
means `kernel_size`: windows side by side, as in this task, where they are 11 by 11 without padding.

`forward(x)` takes float32 `x` of shape `(batch, channels, height, width)` and returns, for every place of the output,
the sum of the `kernel_size * kernel_size` numbers in its window, which begins at
`(i * stride - padding, j * stride - padding)`, divided by `kernel_size**2`. Places outside of `x` count as 0 and still
count in the divisor. The output's height is `floor((height + 2 * padding - kernel_size) / stride) + 1`, its width
likewise; rows and columns beyond the last whole window are not used.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("pooling",)
DTYPE = "float32"

PUBLISHED = dict(batch=16, channels=64, height=2048, width=2048, kernel_size=11)
SCALED = dict(batch=2, channels=5, height=37, width=49, kernel_size=11)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, kernel_size: int, stride: int = None, padding: int = 0):
        super().__init__()
        self.avg_pool = nn.AvgPool2d(kernel_size, stride, padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.avg_pool(x)


def init_inputs(kernel_size):
    return [kernel_size]


def inputs(make, batch, channels, height, width):
    return call(make.floats(batch, channels, height, width))


class PositiveSeparable(Model):
    """Means of rows, then means of those."""

    def forward(self, x):
        k, s, p = self.avg_pool.kernel_size, self.avg_pool.stride, self.avg_pool.padding
        return F.avg_pool2d(F.avg_pool2d(x, (1, k), (1, s), (0, p)), (k, 1), (s, 1), (p, 0))


class NegativeDividedOnce(Model):
    """Divides by `kernel_size` instead of its square."""

    def forward(self, x):
        return self.avg_pool(x) * self.avg_pool.kernel_size


class NegativeAligned(Model):
    """Ends the last window at the last row and column instead of beginning the first at 0."""

    def forward(self, x):
        k = self.avg_pool.kernel_size
        return self.avg_pool(x[..., x.shape[2] % k :, x.shape[3] % k :])
