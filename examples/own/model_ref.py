"""A reference as KernelBench has them: ./kbx eval examples/own/model_new.py --reference examples/own/model_ref.py"""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(features))

    def forward(self, x):
        return nn.functional.silu(x) * self.scale


def get_inputs():
    return [torch.randn(64, 300)]


def get_init_inputs():
    return [300]
