"""GoogLeNet (Inception version 1), without auxiliary classifiers.

`Model(num_classes=1000)`: all convolutions and the linear layer have a bias and PyTorch's default initialisation.

An inception module for `(c1, r3, c3, r5, c5, cp)` joins four branches along the channels: `branch1x1`, a 1 × 1
convolution to `c1`; `branch3x3`, a 1 × 1 convolution to `r3` and a 3 × 3 one with padding 1 to `c3`; `branch5x5`, a
1 × 1 convolution to `r5` and a 5 × 5 one with padding 2 to `c5`; `branch_pool`, 3 × 3 maximum pooling with stride 1
and padding 1 and a 1 × 1 convolution to `cp`. No activation follows any convolution of a module.

`forward(x)` takes images `x` of shape `(batch, 3, height, width)`, float32:

1. `conv1`, 7 × 7, stride 2, padding 3, to 64; ReLU; maximum pooling 3 × 3, stride 2, padding 1;
2. `conv2`, 1 × 1, to 64; ReLU; `conv3`, 3 × 3, padding 1, to 192; ReLU; maximum pooling as before;
3. `inception3a` (64, 96, 128, 16, 32, 32), `inception3b` (128, 128, 192, 32, 96, 64); maximum pooling as before;
4. `inception4a` (192, 96, 208, 16, 48, 64), `inception4b` (160, 112, 224, 24, 64, 64), `inception4c`
   (128, 128, 256, 24, 64, 64), `inception4d` (112, 144, 288, 32, 64, 64), `inception4e`
   (256, 160, 320, 32, 128, 128); maximum pooling as before;
5. `inception5a` (256, 160, 320, 32, 128, 128), `inception5b` (384, 192, 384, 48, 128, 128);
6. mean over each map, `(batch, 1024)`; dropout with probability 0, which changes nothing; `fc`, 1024 to
   `num_classes`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=10, height=224, width=224, num_classes=1000)
SCALED = dict(batch_size=2, height=37, width=45, num_classes=43)

CONTRACT = Close()


class Inception(nn.Module):
    """Four branches side by side, joined along the channels."""

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


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3)
        self.conv2 = nn.Conv2d(64, 64, kernel_size=1)
        self.conv3 = nn.Conv2d(64, 192, kernel_size=3, padding=1)
        self.inception3a = Inception(192, 64, 96, 128, 16, 32, 32)
        self.inception3b = Inception(256, 128, 128, 192, 32, 96, 64)
        self.inception4a = Inception(480, 192, 96, 208, 16, 48, 64)
        self.inception4b = Inception(512, 160, 112, 224, 24, 64, 64)
        self.inception4c = Inception(512, 128, 128, 256, 24, 64, 64)
        self.inception4d = Inception(512, 112, 144, 288, 32, 64, 64)
        self.inception4e = Inception(528, 256, 160, 320, 32, 128, 128)
        self.inception5a = Inception(832, 256, 160, 320, 32, 128, 128)
        self.inception5b = Inception(832, 384, 192, 384, 48, 128, 128)
        self.dropout = nn.Dropout(0.0)
        self.fc = nn.Linear(1024, num_classes)

    def features(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = F.relu(self.conv2(x))
        x = self.pool(F.relu(self.conv3(x)))
        x = self.pool(self.inception3b(self.inception3a(x)))
        x = self.inception4b(self.inception4a(x))
        x = self.inception4e(self.inception4d(self.inception4c(x)))
        x = self.pool(x)
        return self.inception5b(self.inception5a(x))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), 1).flatten(1)
        return self.fc(self.dropout(x))


def init_inputs(num_classes):
    return [num_classes]


def inputs(make, batch_size, height, width):
    return call(make.floats(batch_size, 3, height, width))


class PositiveImageByImage(Model):
    """One image after the other, in the memory layout with the channels last."""

    def forward(self, x):
        images = x.contiguous(memory_format=torch.channels_last).split(1)
        return torch.cat([super(PositiveImageByImage, self).forward(image) for image in images])


class NegativeMaximumOfMaps(Model):
    """Takes each map's maximum instead of its mean."""

    def forward(self, x):
        return self.fc(self.features(x).amax((2, 3)))


class NegativeNoBias(Model):
    """Leaves the classifier's bias out."""

    def forward(self, x):
        return F.linear(self.features(x).mean((2, 3)), self.fc.weight)
