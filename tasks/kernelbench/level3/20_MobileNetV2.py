"""MobileNet version 2, a classifier of inverted bottlenecks, here without their shortcuts.

`Model(num_classes=1000)`. `forward(x)` takes images `x` of shape `(batch, 3, height, width)`, float32. The places in
the sequence `features` are

- 0 to 2: a 3 × 3 convolution, stride 2, padding 1, 3 to 32 channels; batch norm; ReLU6;
- 3 to 19: bottlenecks from `c` to `d` channels with expansion `t` and stride `s`: a sequence of a 1 × 1 convolution
  to `t c` channels, batch norm and ReLU6, these three only where `t` is not 1; a depthwise 3 × 3 convolution with
  stride `s` and padding 1, batch norm and ReLU6; a 1 × 1 convolution to `d` channels and batch norm, with no
  activation. The input is never added to the result. `(t, d, number, s)`, where only the first bottleneck of each
  line has the stride `s` and the others 1, is (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
  (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1);
- 20 to 22: a 1 × 1 convolution, 320 to 1280; batch norm; ReLU6;
- 23: the mean over each map.

The result, flattened, goes through `classifier`, a sequence of dropout with probability 0, which changes nothing, and
a linear layer, 1280 to `num_classes`. ReLU6 is `min(max(x, 0), 6)`. Convolutions have no bias.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.

Initialisation: convolutions by `nn.init.kaiming_normal_` with `mode="fan_out"`, the linear layer's weight normal with
standard deviation 0.01 and its bias 0, in the order of the modules, after all layers were made with PyTorch's
defaults.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=10, height=224, width=224, num_classes=1000)
SCALED = dict(batch_size=4, height=67, width=71, num_classes=43)

CONTRACT = Close()

# Expansion, output channels, number of bottlenecks and stride of the first one.
BOTTLENECKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def activated(in_channels, out_channels, kernel_size, stride=1, groups=1):
    """The layers of a convolution with batch norm and ReLU6."""
    padding = kernel_size // 2
    return [
        nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, groups=groups, bias=False),
        nn.BatchNorm2d(out_channels),
        nn.ReLU6(inplace=True),
    ]


def bottleneck(in_channels, out_channels, stride, expansion):
    """Expands, convolves each channel, projects."""
    width = in_channels * expansion
    return nn.Sequential(
        *(activated(in_channels, width, 1) if expansion != 1 else []),
        *activated(width, width, 3, stride, groups=width),
        nn.Conv2d(width, out_channels, kernel_size=1, bias=False),
        nn.BatchNorm2d(out_channels),
    )


class Model(nn.Module):
    def __init__(self, num_classes=1000):
        super().__init__()
        features = activated(3, 32, 3, stride=2)
        width = 32
        for expansion, out_channels, number, stride in BOTTLENECKS:
            for i in range(number):
                features.append(bottleneck(width, out_channels, stride if i == 0 else 1, expansion))
                width = out_channels
        features += activated(width, 1280, 1)
        self.features = nn.Sequential(*features, nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(1280, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
                nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


def init_inputs(num_classes):
    return [num_classes]


def inputs(make, batch_size, height, width):
    return call(make.floats(batch_size, 3, height, width))


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


class NegativeShortcuts(Model):
    """Adds the input where the shapes agree, as the network usually does."""

    def forward(self, x):
        for layer in self.features:
            out = layer(x)
            x = x + out if isinstance(layer, nn.Sequential) and x.shape == out.shape else out
        return self.classifier(x.flatten(1))


class NegativeNoLastActivation(Model):
    """Leaves the last ReLU6 out."""

    def forward(self, x):
        return self.classifier(self.features[:-2](x).mean((2, 3)))
