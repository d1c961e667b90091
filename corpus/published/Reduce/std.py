"""Standard deviation of lines, in two passes over registers.

breaks: empty, out_argument
"""

import torch
import triton
import triton.language as tl


@triton.jit
def std_kernel(x_ptr, out_ptr, size, correction, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * size + k, mask=k < size, other=0)
    deviation = tl.where(k < size, x - tl.sum(x, 0) / size, 0.0)
    tl.store(out_ptr + row, tl.sqrt(tl.sum(deviation * deviation, 0) / tl.maximum(size - correction, 0)))


def std(input, dim=None, correction=1, keepdim=False, out=None):
    dims = [
        d % input.dim() for d in (tuple(range(input.dim())) if dim is None else (dim,) if isinstance(dim, int) else dim)
    ]
    kept = [d for d in range(input.dim()) if d not in dims]
    lines = input.permute(kept + dims).reshape(*(input.shape[d] for d in kept), -1).contiguous()
    out = torch.empty(lines.shape[:-1], dtype=input.dtype, device=input.device)
    size = lines.shape[-1]
    std_kernel[(out.numel(),)](lines, out, size, correction, BLOCK=triton.next_power_of_2(size))
    return out.reshape([1 if d in dims else input.shape[d] for d in range(input.dim())]) if keepdim else out
