"""Deep and narrow multilayer perceptron.

`Model(input_size, hidden_layer_sizes, output_size)` holds `network`, an `nn.Sequential` of `nn.Linear` layers with
bias (PyTorch's default initialisation): from `input_size` through the widths in the list `hidden_layer_sizes`, many
small ones, to `output_size`, with an `nn.ReLU` after each of them but the last. Parameters are therefore
`network.0.weight`, `network.0.bias`, `network.2.weight`, ...

`forward(x)` takes `x` of shape `(batch, input_size)`, float32, and returns `network(x)`, `(batch, output_size)`: each
layer computes `x @ weight.T + bias`, each hidden one is followed by `max(x, 0)`.
"""

import torch.nn.functional as F
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul", "perceptron")
DTYPE = "float32"

PUBLISHED = dict(batch_size=1024, input_size=8192, hidden_layer_sizes=[1024] * 16, output_size=8192)
SCALED = dict(batch_size=9, input_size=83, hidden_layer_sizes=[29] * 16, output_size=85)

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


class PositiveBiasFirst(Model):
    """Accumulators start from the bias, and products come in two halves of the inner dimension."""

    def forward(self, x):
        for layer in self.network:
            if isinstance(layer, nn.Linear):
                half = layer.in_features // 2
                x = layer.bias + x[:, :half] @ layer.weight[:, :half].T + x[:, half:] @ layer.weight[:, half:].T
            else:
                x = x * (x > 0)
        return x


class NegativeSkipsLayer(Model):
    """Runs one hidden layer too few."""

    def forward(self, x):
        return self.network[-1](self.network[:-3](x))


class NegativeNoBias(Model):
    """Leaves the bias of the last layer out."""

    def forward(self, x):
        return F.linear(self.network[:-1](x), self.network[-1].weight)
