"""U-Net with softmax as its activation.

`Model(in_channels, out_channels, features)`: convolutions have a bias and PyTorch's default initialisation. With
`f = features`:

- A double convolution from `c` to `d` channels holds `double_conv`, a sequence of a 3 × 3 convolution with padding 1,
  `c` to `d`; batch norm; softmax along the last dimension, the width; and the same once more, `d` to `d`.
- `encoder1` to `encoder4` are double convolutions to `f`, `2 f`, `4 f`, `8 f` channels, each followed by maximum
  pooling 2 × 2 with stride 2; `bottleneck` is one to `16 f`.
- `upconv4` to `upconv1` are transposed convolutions, 2 × 2 with stride 2, to `8 f`, `4 f`, `2 f`, `f` channels. Each
  is followed by `decoder4` to `decoder1`, double convolutions to the same number of channels, whose input is the
  transposed convolution's result and, behind it along the channels, what the encoder of the same number returned
  before its pooling.
- `final_conv` is a 1 × 1 convolution, `f` to `out_channels`.

Modules are made in this order, each `upconv` before its `decoder`.

`forward(x)` takes `x` of shape `(batch, in_channels, height, width)`, float32, with sides that are multiples of 16,
and returns `(batch, out_channels, height, width)`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "softmax")
DTYPE = "float32"

PUBLISHED = dict(batch_size=8, height=64, width=512, in_channels=8, out_channels=4, features=64)
SCALED = dict(batch_size=2, height=32, width=80, in_channels=3, out_channels=4, features=5)

# A softmax leaves small differences, which the next batch norm magnifies, with their errors, in some channels.
CONTRACT = Close(growth=8)


class DoubleConv(nn.Module):
    """Two convolutions, each with batch norm and a softmax over the width."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.Softmax(dim=-1),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.Softmax(dim=-1),
        )

    def forward(self, x):
        return self.double_conv(x)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, features):
        super().__init__()
        f = features
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.encoder1 = DoubleConv(in_channels, f)
        self.encoder2 = DoubleConv(f, 2 * f)
        self.encoder3 = DoubleConv(2 * f, 4 * f)
        self.encoder4 = DoubleConv(4 * f, 8 * f)
        self.bottleneck = DoubleConv(8 * f, 16 * f)
        self.upconv4 = nn.ConvTranspose2d(16 * f, 8 * f, kernel_size=2, stride=2)
        self.decoder4 = DoubleConv(16 * f, 8 * f)
        self.upconv3 = nn.ConvTranspose2d(8 * f, 4 * f, kernel_size=2, stride=2)
        self.decoder3 = DoubleConv(8 * f, 4 * f)
        self.upconv2 = nn.ConvTranspose2d(4 * f, 2 * f, kernel_size=2, stride=2)
        self.decoder2 = DoubleConv(4 * f, 2 * f)
        self.upconv1 = nn.ConvTranspose2d(2 * f, f, kernel_size=2, stride=2)
        self.decoder1 = DoubleConv(2 * f, f)
        self.final_conv = nn.Conv2d(f, out_channels, kernel_size=1)

    def forward(self, x):
        level1 = self.encoder1(x)
        level2 = self.encoder2(self.pool(level1))
        level3 = self.encoder3(self.pool(level2))
        level4 = self.encoder4(self.pool(level3))
        x = self.bottleneck(self.pool(level4))
        x = self.decoder4(self.join(self.upconv4(x), level4))
        x = self.decoder3(self.join(self.upconv3(x), level3))
        x = self.decoder2(self.join(self.upconv2(x), level2))
        x = self.decoder1(self.join(self.upconv1(x), level1))
        return self.final_conv(x)

    @staticmethod
    def join(upsampled, level):
        return torch.cat([upsampled, level], dim=1)


def init_inputs(in_channels, out_channels, features):
    return [in_channels, out_channels, features]


def inputs(make, batch_size, in_channels, height, width):
    return call(make.floats(batch_size, in_channels, height, width))


class PositivePlainConvolutions(Model):
    """Convolutions as products of unfolded patches, without the algorithms of oneDNN and cuDNN."""

    def forward(self, x):
        with torch.backends.mkldnn.flags(enabled=False), torch.backends.cudnn.flags(enabled=False):
            return super().forward(x)


class NegativeJoinedTheOtherWay(Model):
    """Joins the encoder's result in front."""

    @staticmethod
    def join(upsampled, level):
        return torch.cat([level, upsampled], dim=1)


class NegativeSoftmaxOverChannels(Model):
    """Takes the softmax over the channels."""

    def forward(self, x):
        for module in self.modules():
            if isinstance(module, nn.Softmax):
                module.dim = 1
        return super().forward(x)


class NegativeNoLastSoftmax(Model):
    """Leaves the last double convolution's second softmax out."""

    def forward(self, x):
        self.decoder1.double_conv[5] = nn.Identity()
        return super().forward(x)


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)
