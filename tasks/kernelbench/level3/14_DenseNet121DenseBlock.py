"""Dense block of a densely connected network.

`Model(num_layers, num_input_features, growth_rate)` holds `layers`, an `nn.ModuleList` of `num_layers` sequences.
Layer `i`, counted from 0, has `num_input_features + i · growth_rate` input channels and consists of

0. batch norm over its input channels;
1. ReLU;
2. a 3 × 3 convolution with padding 1 to `growth_rate` channels, without bias, PyTorch's default initialisation;
3. dropout with probability 0, which changes nothing.

`forward(x)` takes `x` of shape `(batch, num_input_features, height, width)`, float32. Each layer sees `x` and the
results of all layers before it, joined along the channels in this order; the result is `x` with the results of all
layers joined to it, `(batch, num_input_features + num_layers · growth_rate, height, width)`.

Batch norm (eps 1e-5, weight and bias per channel) is in training mode: it normalises each channel by the mean and the
biased variance over the batch and all positions of the very call, and never by the running statistics.
"""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("convolution", "vision")
DTYPE = "float32"

PUBLISHED = dict(batch_size=10, height=224, width=224, num_layers=6, num_input_features=32, growth_rate=32)
SCALED = dict(batch_size=2, height=11, width=13, num_layers=4, num_input_features=7, growth_rate=5)

CONTRACT = Close()


class Model(nn.Module):
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


def init_inputs(num_layers, num_input_features, growth_rate):
    return [num_layers, num_input_features, growth_rate]


def inputs(make, batch_size, num_input_features, height, width):
    return call(make.floats(batch_size, num_input_features, height, width))


class PositiveScaleAndShift(Model):
    """Batch norm as one multiplication and one addition per element, each channel's statistics only once."""

    def forward(self, x):
        result, parts, statistics = x, [x], []
        for norm, _, conv, _ in self.layers:
            newest = parts[-1].double()
            statistics.append(torch.stack([newest.mean((0, 2, 3)), newest.var((0, 2, 3), correction=0)]).to(x.dtype))
            mean, variance = torch.cat(statistics, dim=1)
            scale = norm.weight / (variance + norm.eps).sqrt()
            normal = result * scale[:, None, None] + (norm.bias - mean * scale)[:, None, None]
            parts.append(conv(normal.relu()))
            result = torch.cat(parts, dim=1)
        return result


class NegativeRunningStatistics(Model):
    """Normalises by the running statistics, as in evaluation."""

    def forward(self, x):
        self.eval()
        return super().forward(x)


class NegativeNewestFirst(Model):
    """Joins each layer's result before its input: as many channels, in another order."""

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([layer(x), x], dim=1)
        return x


class NegativeActivatedInput(Model):
    """Hands the activated input on instead of the input, as a ReLU in place on shared memory does."""

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x.relu(), layer(x)], dim=1)
        return x
