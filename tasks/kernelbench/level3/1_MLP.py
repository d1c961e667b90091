"""Multilayer perceptron.

`Model(input_size, layer_sizes, output_size)` holds `network`, an `nn.Sequential` of `nn.Linear` layers with bias
(PyTorch's default initialisation): from `input_size` through the widths in the list `layer_sizes` to `output_size`,
with an `nn.ReLU` after each of them but the last. Parameters are therefore `network.0.weight`, `network.0.bias`,
`network.2.weight`, ...

`forward(x)` takes `x` of shape `(batch, input_size)`, float32, and returns `network(x)`, `(batch, output_size)`: each
layer computes `x @ weight.T + bias`, each hidden one is followed by `max(x, 0)`.
"""

import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "perceptron")
DTYPE = "float32"

PUBLISHED = dict(batch_size=128, input_size=16384, layer_sizes=[16384, 16384], output_size=8192)
SCALED = dict(batch_size=7, input_size=67, layer_sizes=[53, 71], output_size=37)

CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, input_size, layer_sizes, output_size):
        super().__init__()
        layers = []
        width = input_size
        for size in layer_sizes:
            layers += [nn.Linear(width, size), nn.ReLU()]
            width = size
        layers.append(nn.Linear(width, output_size))
        self.network = nn.Sequential(*layers)

    def forward(self, x):
        return self.network(x)


def init_inputs(input_size, layer_sizes, output_size):
    return [input_size, layer_sizes, output_size]


def inputs(make, batch_size, input_size):
    return call(make.floats(batch_size, input_size))


class PositiveSplitK(Model):
    """Each product in two halves of the inner dimension."""

    def forward(self, x):
        for layer in self.network:
            if isinstance(layer, nn.Linear):
                half = layer.in_features // 2
                x = x[:, :half] @ layer.weight[:, :half].T + (x[:, half:] @ layer.weight[:, half:].T + layer.bias)
            else:
                x = layer(x)
        return x


class NegativeReluOnOutput(Model):
    """Applies the ReLU of the hidden layers to the output, too."""

    def forward(self, x):
        return self.network(x).relu()


class NegativeNoBias(Model):
    """Leaves the bias of the last layer out."""

    def forward(self, x):
        return F.linear(self.network[:-1](x), self.network[-1].weight)
