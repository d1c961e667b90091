import torch
from flag_gems.ops.add import add
from flag_gems.ops.gelu import gelu
from flag_gems.ops.mm import general_mm
from flag_gems.ops.softmax import softmax
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        m, k, n = *x.shape, self.linear.out_features
        scores = torch.empty((m, n), device=x.device, dtype=x.dtype)
        general_mm(x, self.linear.weight.t(), scores, m, n, k)
        return softmax(gelu(add(scores, self.linear.bias)), 1)
