"""Basic block of a residual network, with a projection shortcut.

`Model(in_channels, out_channels, stride=1)`: convolutions have no bias and PyTorch's default initialisation.

- `conv1`: 3 × 3, `in_channels` to `out_channels`, the given stride, padding 1; `bn1`: batch norm.
- `conv2`: 3 × 3, `out_channels` to `out_channels`, stride 1, padding 1; `bn2`: batch norm.
- `downsample`: a sequence of a 1 × 1 convolution, `in_channels` to `out_channels`, with the given stride, and a batch
  norm. It is always there, whatever the shapes.

`forward(x)` takes `x` of shape `(batch, in_channels, height, width)`, float32, and computes
`relu(bn2(conv2(relu(bn1(conv1(x))))) + downsample(x))`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=10, height=224, width=224, in_channels=3, out_channels=64, stride=1)
SCALED = dict(batch_size=3, height=13, width=17, in_channels=3, out_channels=11, stride=1)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.downsample = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.downsample(x))


def init_inputs(in_channels, out_channels, stride):
    return [in_channels, out_channels, stride]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositiveScaleAndShift(Model):
    """Batch norm as one multiplication and one addition per element."""

    @staticmethod
    def normalize(bn, x):
        variance, mean = x.var((0, 2, 3), correction=0), x.mean((0, 2, 3))
        scale = bn.weight / (variance + bn.eps).sqrt()
        return x * scale[:, None, None] + (bn.bias - mean * scale)[:, None, None]

    def forward(self, x):
        out = self.normalize(self.bn1, self.conv1(x)).relu()
        out = self.normalize(self.bn2, self.conv2(out))
        return (out + self.normalize(self.downsample[1], self.downsample[0](x))).relu()


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)


class NegativeNoShortcut(Model):
    """Leaves the shortcut out."""

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


class NegativeActivationBeforeSum(Model):
    """Applies the last ReLU before the shortcut is added."""

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(out))) + self.downsample(x)
