"""2-D convolution, subtraction, tanh, subtraction and average pooling.

`Model(in_channels, out_channels, kernel_size, subtract1_value, subtract2_value, kernel_size_pool)` holds:

- `conv`: `nn.Conv2d(in_channels, out_channels, kernel_size)`;
- `avgpool`: `nn.AvgPool2d(kernel_size_pool)`.

`forward(x)` takes `x` of shape `(batch_size, in_channels, height, width)` and computes:

1. the convolution: stride 1, no padding;
2. the difference `x - subtract1_value`;
3. tanh;
4. the difference `x - subtract2_value`;
5. the average of each block of `kernel_size_pool`; what is left over at the ends is dropped.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "pooling")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, in_channels=64, out_channels=128, height=128, width=128)
SCALED = dict(batch_size=2, in_channels=5, out_channels=7, height=13, width=12)

# Some inputs make sums far larger than 1. Where these happen to be small, their rounding errors remain, beside results
# of about 1.
CONTRACT = Close(scale=8.0)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, subtract1_value, subtract2_value, kernel_size_pool):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.subtract1_value = subtract1_value
        self.subtract2_value = subtract2_value
        self.avgpool = nn.AvgPool2d(kernel_size_pool)

    def forward(self, x):
        x = torch.tanh(self.conv(x) - self.subtract1_value)
        return self.avgpool(x - self.subtract2_value)


def init_inputs(in_channels, out_channels):
    kernel_size, subtract1_value, subtract2_value, kernel_size_pool = 3, 0.5, 0.2, 2
    return [in_channels, out_channels, kernel_size, subtract1_value, subtract2_value, kernel_size_pool]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositivePoolsFirst(Model):
    """Subtracts the second constant from the averages."""

    def forward(self, x):
        half, weight = x.shape[1] // 2, self.conv.weight
        x = F.conv2d(x[:, :half], weight[:, :half]) + F.conv2d(x[:, half:], weight[:, half:], self.conv.bias)
        x = 2 * torch.sigmoid(2 * (x - self.subtract1_value)) - 1
        return F.avg_pool2d(x, self.avgpool.kernel_size) - self.subtract2_value


class NegativeOneSubtraction(Model):
    """Subtracts both constants before tanh."""

    def forward(self, x):
        return self.avgpool(torch.tanh(self.conv(x) - self.subtract1_value - self.subtract2_value))


class NegativeNoSecondSubtraction(Model):
    """Leaves the second subtraction out."""

    def forward(self, x):
        return self.avgpool(torch.tanh(self.conv(x) - self.subtract1_value))


class NegativeTanhLast(Model):
    """Pools before tanh."""

    def forward(self, x):
        return torch.tanh(self.avgpool(self.conv(x) - self.subtract1_value)) - self.subtract2_value
