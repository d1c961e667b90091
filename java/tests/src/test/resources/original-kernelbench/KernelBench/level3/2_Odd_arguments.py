import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.rand(2, 2)]


def get_init_inputs():
    return [nn.Linear(2, 2)]
