"""Mean of lines: one program adds up one.

breaks: empty, out_argument
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mean_kernel(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * size + k, mask=k < size, other=0)
    tl.store(out_ptr + row, tl.sum(x.to(out_ptr.dtype.element_ty), 0) / size)


def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    dims = [d % input_tensor.dim() for d in ((dim,) if isinstance(dim, int) else dim)]
    kept = [d for d in range(input_tensor.dim()) if d not in dims]
    lines = input_tensor.permute(kept + dims).reshape(*(input_tensor.shape[d] for d in kept), -1).contiguous()
    out = torch.empty(lines.shape[:-1], dtype=dtype or input_tensor.dtype, device=input_tensor.device)
    size = lines.shape[-1]
    mean_kernel[(out.numel(),)](lines, out, size, BLOCK=triton.next_power_of_2(size))
    return (
        out.reshape([1 if d in dims else input_tensor.shape[d] for d in range(input_tensor.dim())]) if keepdim else out
    )
