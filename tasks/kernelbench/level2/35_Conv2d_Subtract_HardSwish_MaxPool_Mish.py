"""2-D convolution, subtraction of a constant, Hardswish, max pooling and Mish.

`Model(in_channels, out_channels, kernel_size, subtract_value, pool_kernel_size)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `pool`: `nn.MaxPool2d(pool_kernel_size)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the difference `x - subtract_value`;
3. `hardswish(x) = x * min(max(x + 3, 0), 6) / 6`;
4. the largest element of each block of `pool_kernel_size`; what is left over at the ends is dropped;
5. Mish, `x * tanh(log(1 + exp(x)))`.
"""

import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=64, out_channels=128, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=12)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, subtract_value, pool_kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.subtract_value = subtract_value
        self.pool = nn.MaxPool2d(pool_kernel_size)

    def forward(self, x):
        x = F.hardswish(self.conv(x) - self.subtract_value)
        return F.mish(self.pool(x))


def init_inputs(in_channels, out_channels):
    kernel_size, subtract_value, pool_kernel_size = 3, 0.5, 2
    return [in_channels, out_channels, kernel_size, subtract_value, pool_kernel_size]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveRational(Model):
    """Mish as `x * (n - 1) / (n + 1)` with `n = (1 + exp(x))**2`."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = x - self.subtract_value
        x = F.max_pool2d(x * (x / 6 + 0.5).clamp(0, 1), self.pool.kernel_size)
        n = (1 + x.clamp(max=20.0).exp()).square()
        return x * (n - 1) / (n + 1)


class NegativeSiLU(Model):
    """Takes SiLU for Hardswish."""

    def forward(self, x):
        return F.mish(self.pool(F.silu(self.conv(x) - self.subtract_value)))


class NegativeNoSubtraction(Model):
    """Leaves the subtraction out."""

    def forward(self, x):
        return F.mish(self.pool(F.hardswish(self.conv(x))))


class NegativeNoMish(Model):
    """Leaves the last step out."""

    def forward(self, x):
        return self.pool(F.hardswish(self.conv(x) - self.subtract_value))
