"""DenseNet-121, a densely connected classifier whose dense layers have one 3 × 3 convolution each.

`Model(growth_rate=32, num_classes=1000)`: convolutions have no bias; the linear layer has one; all have PyTorch's
default initialisation. With `g = growth_rate`, `forward(x)` takes images `x` of shape `(batch, 3, height, width)`,
float32:

1. `features`: a 7 × 7 convolution, stride 2, padding 3, 3 to 64 channels; batch norm; ReLU; maximum pooling 3 × 3,
   stride 2, padding 1.
2. Four `dense_blocks` of 6, 12, 24 and 16 layers. A layer is a sequence of batch norm, ReLU, a 3 × 3 convolution with
   padding 1 to `g` channels, and dropout with probability 0, which changes nothing; its result is joined to its input
   along the channels, behind it, and both together are the next layer's input. There is no bottleneck of 1 × 1
   convolutions.
3. After each block but the last follows its part of `transition_layers`: a sequence `transition` of batch norm, ReLU,
   a 1 × 1 convolution to half of the channels (rounded down) and average pooling 2 × 2 with stride 2, which drops an
   odd last row or column.
4. `final_bn`, ReLU, mean over each map, `classifier` to `num_classes`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=10, height=224, width=224, growth_rate=32, num_classes=10)
SCALED = dict(batch_size=3, height=69, width=77, growth_rate=3, num_classes=11)

CONTRACT = Close()

BLOCKS = (6, 12, 24, 16)


class DenseBlock(nn.Module):
    """Layers that each see the block's input and all results before them."""

    def __init__(self, num_layers: int, num_input_features: int, growth_rate: int):
        super().__init__()
        self.layers = nn.ModuleList(
            self._layer(num_input_features + i * growth_rate, growth_rate) for i in range(num_layers)
        )

    @staticmethod
    def _layer(in_features: int, growth_rate: int):
        return nn.Sequential(
            nn.BatchNorm2d(in_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(in_features, growth_rate, kernel_size=3, padding=1, bias=False),
            nn.Dropout(0.0),
        )

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x, layer(x)], dim=1)
        return x


class TransitionLayer(nn.Module):
    """Fewer channels, half the resolution."""

    def __init__(self, num_input_features: int, num_output_features: int):
        super().__init__()
        self.transition = nn.Sequential(
            nn.BatchNorm2d(num_input_features),
            nn.ReLU(inplace=True),
            nn.Conv2d(num_input_features, num_output_features, kernel_size=1, bias=False),
            nn.AvgPool2d(kernel_size=2, stride=2),
        )

    def forward(self, x):
        return self.transition(x)


class Model(nn.Module):
    def __init__(self, growth_rate: int = 32, num_classes: int = 1000):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
        )
        self.dense_blocks = nn.ModuleList()
        self.transition_layers = nn.ModuleList()
        width = 64
        for i, num_layers in enumerate(BLOCKS):
            self.dense_blocks.append(DenseBlock(num_layers, width, growth_rate))
            width += num_layers * growth_rate
            if i < len(BLOCKS) - 1:
                self.transition_layers.append(TransitionLayer(width, width // 2))
                width //= 2
        self.final_bn = nn.BatchNorm2d(width)
        self.classifier = nn.Linear(width, num_classes)

    def trunk(self, x):
        x = self.features(x)
        for block, transition in zip(self.dense_blocks, [*self.transition_layers, nn.Identity()], strict=True):
            x = transition(block(x))
        return self.final_bn(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.adaptive_avg_pool2d(F.relu(self.trunk(x)), 1)
        return self.classifier(torch.flatten(x, 1))


def init_inputs(growth_rate, num_classes):
    return [growth_rate, num_classes]


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


class NegativeNoFinalActivation(Model):
    """Leaves out the ReLU before the mean."""

    def forward(self, x):
        return self.classifier(self.trunk(x).mean((2, 3)))


class NegativeNoBias(Model):
    """Leaves the classifier's bias out."""

    def forward(self, x):
        return F.linear(self.trunk(x).relu().mean((2, 3)), self.classifier.weight)
