"""The first convolution of AlexNet.

`Model(num_classes=1000)` holds one layer, `conv1 = nn.Conv2d(3, 96, kernel_size=11, stride=4, padding=2)`, with
PyTorch's initialisation: `conv1.weight` of shape `(96, 3, 11, 11)` and `conv1.bias` of shape `(96,)`. `num_classes` has
no effect.

`forward(x)` takes float32 `x` of shape `(batch, 3, size, size)` and returns the layer's convolution, in which the
kernel is not turned around:

    y[b, o, i, j] = bias[o] + sum over c, u, v of weight[o, c, u, v] * x[b, c, 4 * i - 2 + u, 4 * j - 2 + v]

Places outside of `x` count as 0. The output's height and width are `floor((size + 4 - 11) / 4) + 1`.

Products and sums are float32, neither TF32 nor half precision.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution",)
DTYPE = "float32"

PUBLISHED = dict(batch=256, size=224, num_classes=1000)
SCALED = dict(batch=2, size=43, num_classes=1000)

# Hundreds of products added in order err more than PyTorch's sum, which may be a tree: four times the usual room.
CONTRACT = Close(growth=4)


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 96, kernel_size=11, stride=4, padding=2)

    def forward(self, x):
        return self.conv1(x)


def init_inputs(num_classes):
    return [num_classes]


def inputs(make, batch, size):
    return call(make.floats(batch, 3, size, size))


class PositiveUnfolded(Model):
    """One product of the weights and the gathered windows, sample by sample."""

    def forward(self, x):
        weight = self.conv1.weight.flatten(1)
        windows = (F.unfold(sample[None], 11, stride=4, padding=2)[0] for sample in x)
        result = torch.stack([weight @ columns + self.conv1.bias[:, None] for columns in windows])
        return result.view_as(self.conv1(x))


class NegativeBiasMissing(Model):
    """Leaves out the bias."""

    def forward(self, x):
        return F.conv2d(x, self.conv1.weight, stride=4, padding=2)


class NegativePaddedAtTheStart(Model):
    """Takes all of the padding at the top and at the left."""

    def forward(self, x):
        return F.conv2d(F.pad(x, (4, 0, 4, 0)), self.conv1.weight, self.conv1.bias, stride=4)


class NegativeTransposedKernel(Model):
    """Reads the kernel's rows as its columns."""

    def forward(self, x):
        return F.conv2d(x, self.conv1.weight.transpose(2, 3), self.conv1.bias, stride=4, padding=2)
