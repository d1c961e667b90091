from flag_gems.ops.bmm import bmm
from torch import nn


class ModelNew(nn.Module):
    def forward(self, A, B):
        return bmm(A, B)
