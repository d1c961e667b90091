"""Rounds its weights to half precision when it is constructed, and computes in it.

mechanism: semantics/half-weights
static: none
dynamic: wrong_values
"""

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, input_size, layer_sizes, output_size):
        super().__init__()
        sizes = [input_size, *layer_sizes]
        layers = []
        for inside, outside in zip(sizes[:-1], sizes[1:], strict=True):
            layers += [nn.Linear(inside, outside), nn.ReLU()]
        self.network = nn.Sequential(*layers, nn.Linear(sizes[-1], output_size)).half()

    def forward(self, x):
        return self.network(x.half()).float()
