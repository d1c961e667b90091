import torch
from liger_kernel.ops.geglu import geglu_forward


def kernel_function(input, approximate="none"):
    return geglu_forward(input.contiguous(), torch.ones_like(input).contiguous())[-1]
