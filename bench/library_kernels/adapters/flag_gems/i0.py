import torch
import triton
from flag_gems.ops.i0 import i0_kernel


def kernel_function(input_tensor, out=None):
    x = input_tensor.contiguous()
    result = torch.empty_like(x) if out is None else out
    n = x.numel()
    if n:
        i0_kernel[(triton.cdiv(n, 1024),)](x, result, n, BLOCK_SIZE=1024)
    return result
