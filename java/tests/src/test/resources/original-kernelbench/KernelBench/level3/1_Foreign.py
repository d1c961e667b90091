import torch.nn as nn
from no_such_package import Thing


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return Thing(x)


def get_inputs():
    return [1]


def get_init_inputs():
    return []
