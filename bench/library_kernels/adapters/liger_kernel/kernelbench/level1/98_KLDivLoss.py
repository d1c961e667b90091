import torch
from liger_kernel.ops.kl_div import kldiv_forward_triton
from torch import nn


class ModelNew(nn.Module):
    def forward(self, predictions, targets):
        return kldiv_forward_triton(torch.log(predictions), targets, False, "batchmean", 1e-10)
