"""MobileNet version 1, a classifier of depthwise separable convolutions.

`Model(num_classes=1000, input_channels=3, alpha=1.0)`: convolutions have padding 1 where they are 3 × 3, no bias and
PyTorch's default initialisation. `alpha` scales all widths: `w(c) = int(c · alpha)`.

`forward(x)` takes images `x` of shape `(batch, input_channels, 224, 224)`, float32 (any side from 193 to 224 leads to
7 × 7 maps). The places in the sequence `model` are

- 0: a sequence of a 3 × 3 convolution, stride 2, `input_channels` to `w(32)`; batch norm; ReLU;
- 1 to 13: separable convolutions from `w(c)` to `w(d)` with stride `s`: a sequence of a depthwise 3 × 3 convolution
  with stride `s` (`groups` = channels), batch norm, ReLU, a 1 × 1 convolution to `w(d)`, batch norm and ReLU.
  `(c, d, s)` is, in this order, (32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1),
  (256, 512, 2), five times (512, 512, 1), (512, 1024, 2), (1024, 1024, 1);
- 14: average pooling 7 × 7.

The result, flattened, goes through the linear layer `fc`, `w(1024)` to `num_classes`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

# The last pooling wants 7 × 7 maps, so that images are large at any scale.
PUBLISHED = dict(batch_size=10, image_size=224, num_classes=1000, input_channels=3, alpha=1.0)
SCALED = dict(batch_size=1, image_size=193, num_classes=43, input_channels=1, alpha=0.25)

CONTRACT = Close()

# Input channels, output channels and stride of the separable convolutions.
SEPARABLE = (
    (32, 64, 1),
    (64, 128, 2),
    (128, 128, 1),
    (128, 256, 2),
    (256, 256, 1),
    (256, 512, 2),
    *((512, 512, 1),) * 5,
    (512, 1024, 2),
    (1024, 1024, 1),
)


def convolution(in_channels, out_channels, stride):
    """A full 3 × 3 convolution with batch norm and ReLU."""
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
    )


def separable_convolution(in_channels, out_channels, stride):
    """A 3 × 3 convolution within each channel, then a 1 × 1 convolution across channels."""
    return nn.Sequential(
        nn.Conv2d(in_channels, in_channels, 3, stride=stride, padding=1, groups=in_channels, bias=False),
        nn.BatchNorm2d(in_channels),
        nn.ReLU(inplace=True),
        nn.Conv2d(in_channels, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
    )


class Model(nn.Module):
    def __init__(self, num_classes=1000, input_channels=3, alpha=1.0):
        super().__init__()
        self.model = nn.Sequential(
            convolution(input_channels, int(32 * alpha), stride=2),
            *(separable_convolution(int(c * alpha), int(d * alpha), stride) for c, d, stride in SEPARABLE),
            nn.AvgPool2d(7),
        )
        self.fc = nn.Linear(int(1024 * alpha), num_classes)

    def forward(self, x):
        return self.fc(torch.flatten(self.model(x), 1))


def init_inputs(num_classes, input_channels, alpha):
    return [num_classes, input_channels, alpha]


def inputs(make, batch_size, input_channels, image_size):
    return call(make.floats(batch_size, input_channels, image_size, image_size))


class PositivePlainConvolutions(Model):
    """Convolutions as products of unfolded patches, without the algorithms of oneDNN and cuDNN."""

    def forward(self, x):
        with torch.backends.mkldnn.flags(enabled=False), torch.backends.cudnn.flags(enabled=False):
            return super().forward(x)


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)


class NegativeMaximumOfMaps(Model):
    """Takes each map's maximum instead of its mean."""

    def forward(self, x):
        return self.fc(self.model[:-1](x).amax((2, 3)))


class NegativeNoBias(Model):
    """Leaves the classifier's bias out."""

    def forward(self, x):
        return F.linear(self.model(x).flatten(1), self.fc.weight)
