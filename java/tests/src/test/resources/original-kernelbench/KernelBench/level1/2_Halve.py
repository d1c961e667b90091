import torch
import torch.nn as nn


def factor():
    return 0.5


class Model(nn.Module):
    def __init__(self, offset=1.0):
        super().__init__()
        self.offset = offset

    def forward(self, x):
        return x * factor() + self.offset


batch_size = 5
dim = 301


def get_inputs():
    return [torch.rand(batch_size, dim) * 8 + 1]


def get_init_inputs():
    return [2.0]
