"""Transition layer of a densely connected network.

`Model(num_input_features, num_output_features)` holds `transition`, an `nn.Sequential` of

0. batch norm over `num_input_features` channels;
1. ReLU;
2. a 1 × 1 convolution to `num_output_features` channels, without bias, PyTorch's default initialisation;
3. average pooling 2 × 2 with stride 2; an odd last row or column is dropped.

`forward(x)` takes `x` of shape `(batch, num_input_features, height, width)`, float32, and returns
`(batch, num_output_features, height // 2, width // 2)`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, dropped rows included, and never by the running
statistics.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, height=256, width=256, num_input_features=32, num_output_features=64)
SCALED = dict(batch_size=3, height=15, width=21, num_input_features=13, num_output_features=19)

CONTRACT = Close()


class Model(nn.Module):
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


def init_inputs(num_input_features, num_output_features):
    return [num_input_features, num_output_features]


def inputs(make, batch_size, num_input_features, height, width):
    return call(make.floats(batch_size, num_input_features, height, width))


class PositivePoolFirst(Model):
    """Pools before the convolution, which commutes with it: a quarter of the multiplications."""

    def forward(self, x):
        norm, relu, conv, pool = self.transition
        return torch.einsum("oc,bchw->bohw", conv.weight.flatten(1), pool(relu(norm(x))))


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)


class NegativePoolBeforeActivation(Model):
    """Pools before the ReLU, with which it does not commute."""

    def forward(self, x):
        norm, relu, conv, pool = self.transition
        return conv(relu(pool(norm(x))))


class NegativeMaximumPooling(Model):
    """Takes the maximum where the mean is wanted."""

    def forward(self, x):
        return F.max_pool2d(self.transition[:3](x), 2)
