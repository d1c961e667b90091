"""Shallow and wide multilayer perceptron.

`Model(input_size, hidden_layer_sizes, output_size)` holds `network`, an `nn.Sequential` of `nn.Linear` layers with
bias (PyTorch's default initialisation): from `input_size` through the widths in the list `hidden_layer_sizes`, a few
large ones, to `output_size`, with an `nn.ReLU` after each of them but the last. Parameters are therefore
`network.0.weight`, `network.0.bias`, `network.2.weight`, ...

`forward(x)` takes `x` of shape `(batch, input_size)`, float32, and returns `network(x)`, `(batch, output_size)`: each
layer computes `x @ weight.T + bias`, each hidden one is followed by `max(x, 0)`.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "perceptron")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, input_size=16384, hidden_layer_sizes=[32768, 32768], output_size=16384)
SCALED = dict(batch_size=5, input_size=61, hidden_layer_sizes=[127, 131], output_size=59)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, hidden_layer_sizes, output_size):
        super().__init__()
        widths = [input_size, *hidden_layer_sizes]
        layers = []
        for fan_in, fan_out in zip(widths[:-1], widths[1:], strict=True):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        self.network = nn.Sequential(*layers, nn.Linear(widths[-1], output_size))

    def forward(self, x):
        return self.network(x)


def init_inputs(input_size, hidden_layer_sizes, output_size):
    return [input_size, hidden_layer_sizes, output_size]


def inputs(make, batch_size, input_size):
    return call(make.floats(batch_size, input_size))


class PositiveColumns(Model):
    """Three blocks of output features for each layer, one row of the batch after the other."""

    def forward(self, x):
        for layer in self.network:
            if isinstance(layer, nn.Linear):
                blocks = zip(layer.weight.chunk(3), layer.bias.chunk(3), strict=True)
                x = torch.cat([torch.stack([w @ row + b for row in x]) for w, b in blocks], dim=1)
            else:
                x = x.clamp(min=0)
        return x


class NegativeNoActivation(Model):
    """Leaves out the last ReLU: the two layers around it become one linear map."""

    def forward(self, x):
        return self.network[-1](self.network[:-2](x))


class NegativeBiasAfterRelu(Model):
    """Adds the first layer's bias after the activation."""

    def forward(self, x):
        first = self.network[0]
        return self.network[2:](F.linear(x, first.weight).relu() + first.bias)
