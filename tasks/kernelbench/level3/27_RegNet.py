"""RegNet, reduced to its plan: stages of growing width at shrinking resolution, of plain convolutions.

`Model(input_channels, stages, block_widths, output_classes)`: `block_widths` lists the width of each of the `stages`
stages. All convolutions and the linear layer have a bias and PyTorch's default initialisation.

`feature_extractor` is an `nn.Sequential` of one sequence per stage: a 3 × 3 convolution with padding 1 to the stage's
width, batch norm, ReLU; a 3 × 3 convolution with padding 1 of that width, batch norm, ReLU; maximum pooling 2 × 2
with stride 2, which drops an odd last row or column.

`forward(x)` takes `x` of shape `(batch, input_channels, height, width)`, float32, applies `feature_extractor`, takes
the mean over each map and returns `fc` of it, `(batch, output_classes)`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(
    batch_size=8, height=224, width=224,
    input_channels=3, stages=3, block_widths=[64, 128, 256], output_classes=10,
)  # fmt: skip
SCALED = dict(
    batch_size=3, height=31, width=37,
    input_channels=3, stages=3, block_widths=[5, 9, 15], output_classes=7,
)  # fmt: skip

CONTRACT = Close()


def stage(in_channels, out_channels):
    """Two convolutions, then half the resolution."""
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
        nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(),
        nn.MaxPool2d(kernel_size=2, stride=2),
    )


class Model(nn.Module):
    def __init__(self, input_channels, stages, block_widths, output_classes):
        super().__init__()
        widths = [input_channels, *block_widths]
        self.feature_extractor = nn.Sequential(*(stage(widths[i], widths[i + 1]) for i in range(stages)))
        self.fc = nn.Linear(block_widths[-1], output_classes)

    def forward(self, x):
        x = self.feature_extractor(x)
        return self.fc(torch.mean(x, dim=(2, 3)))


def init_inputs(input_channels, stages, block_widths, output_classes):
    return [input_channels, stages, block_widths, output_classes]


def inputs(make, batch_size, input_channels, height, width):
    return call(make.floats(batch_size, input_channels, height, width))


class PositiveWithoutConvolutionBias(Model):
    """Leaves the convolutions' bias out, which the batch norm behind it subtracts, and pools before the ReLU."""

    def forward(self, x):
        for conv1, norm1, _, conv2, norm2, _, pool in self.feature_extractor:
            x = norm1(F.conv2d(x, conv1.weight, padding=1)).relu()
            x = pool(norm2(F.conv2d(x, conv2.weight, padding=1))).relu()
        return self.fc(x.mean((2, 3)))


class NegativeAveragePooling(Model):
    """Averages in the last stage, where the maximum is wanted."""

    def forward(self, x):
        x = self.feature_extractor[:-1](x)
        x = F.avg_pool2d(self.feature_extractor[-1][:-1](x), 2)
        return self.fc(x.mean((2, 3)))


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)


class NegativeUnbiasedVariance(Model):
    """Normalises the last layer by the unbiased variance."""

    def forward(self, x):
        *layers, norm, relu, pool = self.feature_extractor[-1]
        x = nn.Sequential(*layers)(self.feature_extractor[:-1](x))
        variance, mean = torch.var_mean(x, (0, 2, 3), keepdim=True)
        x = (x - mean) / (variance + norm.eps).sqrt() * norm.weight[:, None, None] + norm.bias[:, None, None]
        return self.fc(pool(relu(x)).mean((2, 3)))
