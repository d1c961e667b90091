import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.rand(4, 5)]


def get_init_inputs():
    return []
