import torch
from fla.ops.utils.matmul import addmm as library


def kernel_function(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    full = input.expand(mat1.shape[0], mat2.shape[1]).contiguous()
    scales = [torch.full((1,), s, device=input.device, dtype=torch.float32) for s in (alpha, beta)]
    result = library(full, mat1.contiguous(), mat2.contiguous(), *scales)
    return result if out is None else out.copy_(result)
