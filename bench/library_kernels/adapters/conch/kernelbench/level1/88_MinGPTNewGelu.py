import torch
from conch.kernels.activation.gelu_tanh_and_mul import gelu_tanh_and_mul_launcher
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        gelu_tanh_and_mul_launcher(out, torch.cat([x, torch.ones_like(x)], dim=-1))
        return out
