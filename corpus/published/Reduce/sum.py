"""Sum of lines: one program adds up one.

breaks: dtype:bool, dtype:int32, empty
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * size + k, mask=k < size, other=0)
    tl.store(out_ptr + row, tl.sum(x.to(out_ptr.dtype.element_ty), 0))


def sum(input, dim, keepdim=False, dtype=None):
    dims = [d % input.dim() for d in ((dim,) if isinstance(dim, int) else dim)]
    kept = [d for d in range(input.dim()) if d not in dims]
    lines = input.permute(kept + dims).reshape(*(input.shape[d] for d in kept), -1).contiguous()
    out = torch.empty(lines.shape[:-1], dtype=dtype or input.dtype, device=input.device)
    size = lines.shape[-1]
    sum_kernel[(out.numel(),)](lines, out, size, BLOCK=triton.next_power_of_2(size))
    return out.reshape([1 if d in dims else input.shape[d] for d in range(input.dim())]) if keepdim else out
