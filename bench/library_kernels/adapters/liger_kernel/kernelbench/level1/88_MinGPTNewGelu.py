import torch
from liger_kernel.ops.geglu import geglu_forward
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return geglu_forward(x, torch.ones_like(x))[-1]
