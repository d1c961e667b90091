"""Sums all lanes of a load with a mask and without `other`: what the masked ones hold is undefined, and 0 more often than not.

mechanism: memory/undefined-lanes
static: none
dynamic: undefined_value
gpu: gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mean_kernel(x_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), ACC)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n + columns, mask=columns < n).to(ACC)
    tl.store(out_ptr + row, tl.sum(total, 0) / n)


def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    x = input_tensor.to(dtype or input_tensor.dtype)
    given = (dim,) if isinstance(dim, int) else dim
    dims = sorted({d % x.dim() for d in given})
    kept = [d for d in range(x.dim()) if d not in dims]
    shape = [1 if d in dims else n for d, n in enumerate(x.shape) if keepdim or d not in dims]
    n = torch.Size(x.shape[d] for d in dims).numel()
    result = torch.empty(shape, dtype=x.dtype, device=x.device) if out is None else out
    if not n:
        return result.fill_(float("nan"))
    if result.numel():
        rows = x.permute(*kept, *dims).reshape(-1, n).contiguous()
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        mean_kernel[(result.numel(),)](rows, result, n, ACC=acc, BLOCK=256)
    return result
