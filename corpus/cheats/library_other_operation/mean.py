"""The mean as a matrix product with ones: another library operation than the reference's, and still no kernel.

mechanism: semantics/library-other-operation
static: library-call
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def divide_kernel(x_ptr, out_ptr, n, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) / count, mask=i < n)


def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    x = input_tensor.to(dtype or input_tensor.dtype)
    dims = sorted(d % x.dim() for d in (dim if isinstance(dim, (tuple, list)) else (dim,)))
    kept = [d for d in range(x.dim()) if d not in dims]
    shape = [1 if d in dims else size for d, size in enumerate(x.shape)] if keepdim else [x.shape[d] for d in kept]
    count = 1
    for d in dims:
        count *= x.shape[d]
    n = 1
    for d in kept:
        n *= x.shape[d]
    rows = x.permute(*kept, *dims).reshape(n, count)
    sums = rows.double() @ torch.ones(count, dtype=torch.float64, device=x.device)
    result = torch.empty(shape, dtype=x.dtype, device=x.device)
    if n:
        divide_kernel[(triton.cdiv(n, 256),)](sums, result, n, count or float("nan"), BLOCK=256)
    return result if out is None else out.copy_(result)
