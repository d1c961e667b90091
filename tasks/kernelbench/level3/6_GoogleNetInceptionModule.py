"""Inception module of GoogLeNet: four branches side by side.

`Model(in_channels, out_1x1, reduce_3x3, out_3x3, reduce_5x5, out_5x5, pool_proj)`: every convolution has a bias,
stride 1 and PyTorch's default initialisation, and no activation follows it.

- `branch1x1`: 1 × 1 convolution, `in_channels` to `out_1x1`.
- `branch3x3`: a sequence of a 1 × 1 convolution to `reduce_3x3` and a 3 × 3 convolution with padding 1 to `out_3x3`.
- `branch5x5`: a sequence of a 1 × 1 convolution to `reduce_5x5` and a 5 × 5 convolution with padding 2 to `out_5x5`.
- `branch_pool`: a sequence of 3 × 3 maximum pooling with stride 1 and padding 1 (by minus infinity) and a 1 × 1
  convolution to `pool_proj`.

`forward(x)` takes `x` of shape `(batch, in_channels, height, width)`, float32, and returns the branches' results in
this order, joined along the channels: `(batch, out_1x1 + out_3x3 + out_5x5 + pool_proj, height, width)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(
    batch_size=10, height=224, width=224,
    in_channels=480, out_1x1=192, reduce_3x3=96, out_3x3=208, reduce_5x5=16, out_5x5=48, pool_proj=64,
)  # fmt: skip
SCALED = dict(
    batch_size=2, height=9, width=11,
    in_channels=30, out_1x1=12, reduce_3x3=7, out_3x3=13, reduce_5x5=3, out_5x5=5, pool_proj=4,
)  # fmt: skip

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_1x1, reduce_3x3, out_3x3, reduce_5x5, out_5x5, pool_proj):
        super().__init__()
        self.branch1x1 = nn.Conv2d(in_channels, out_1x1, kernel_size=1)
        self.branch3x3 = nn.Sequential(
            nn.Conv2d(in_channels, reduce_3x3, kernel_size=1),
            nn.Conv2d(reduce_3x3, out_3x3, kernel_size=3, padding=1),
        )
        self.branch5x5 = nn.Sequential(
            nn.Conv2d(in_channels, reduce_5x5, kernel_size=1),
            nn.Conv2d(reduce_5x5, out_5x5, kernel_size=5, padding=2),
        )
        self.branch_pool = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1),
            nn.Conv2d(in_channels, pool_proj, kernel_size=1),
        )

    def forward(self, x):
        branches = (self.branch1x1, self.branch3x3, self.branch5x5, self.branch_pool)
        return torch.cat([branch(x) for branch in branches], dim=1)


def init_inputs(in_channels, out_1x1, reduce_3x3, out_3x3, reduce_5x5, out_5x5, pool_proj):
    return [in_channels, out_1x1, reduce_3x3, out_3x3, reduce_5x5, out_5x5, pool_proj]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveJointReduction(Model):
    """One product makes the first branch and both reductions."""

    def forward(self, x):
        first = (self.branch1x1, self.branch3x3[0], self.branch5x5[0])
        weight, bias = torch.cat([c.weight for c in first]).flatten(1), torch.cat([c.bias for c in first])
        joint = torch.einsum("oc,bchw->bohw", weight, x) + bias[:, None, None]
        one, three, five = joint.split([c.out_channels for c in first], dim=1)
        return torch.cat([one, self.branch3x3[1](three), self.branch5x5[1](five), self.branch_pool(x)], dim=1)


class NegativeReduceBiasAtTheBorder(Model):
    """Folds the reduction's bias into the 3 × 3 convolution's, as if its padding held the bias, too."""

    def forward(self, x):
        reduce, conv = self.branch3x3
        bias = conv.bias + conv.weight.sum((2, 3)) @ reduce.bias
        three = F.conv2d(F.conv2d(x, reduce.weight), conv.weight, bias, padding=1)
        return torch.cat([self.branch1x1(x), three, self.branch5x5(x), self.branch_pool(x)], dim=1)


class NegativeActivated(Model):
    """Puts a ReLU behind the reductions."""

    def forward(self, x):
        three, five = (b[1](b[0](x).relu()) for b in (self.branch3x3, self.branch5x5))
        return torch.cat([self.branch1x1(x), three, five, self.branch_pool(x)], dim=1)


class NegativeAveragePooling(Model):
    """Averages in the pooling branch."""

    def forward(self, x):
        pooled = self.branch_pool[1](F.avg_pool2d(x, 3, stride=1, padding=1))
        return torch.cat([self.branch1x1(x), self.branch3x3(x), self.branch5x5(x), pooled], dim=1)
