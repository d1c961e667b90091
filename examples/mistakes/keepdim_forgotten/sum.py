"""Drops the dimension that `keepdim` keeps. Ends as `wrong_shape`."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_rows(x_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), ACC)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n + columns, mask=columns < n, other=0).to(ACC)
    tl.store(out_ptr + row, tl.sum(total, 0))


def sum(input, dim, keepdim=False, dtype=None):
    result_dtype = dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)
    acc = {torch.float64: tl.float64, torch.int64: tl.int64}.get(result_dtype, tl.float32)
    x = input.to(result_dtype)
    dims = sorted({d % x.dim() for d in ((dim,) if isinstance(dim, int) else dim)})
    kept = [d for d in range(x.dim()) if d not in dims]
    n = torch.Size(x.shape[d] for d in dims).numel()
    rows = x.permute(*kept, *dims).reshape(-1, n) if n else x.new_zeros(torch.Size(x.shape[d] for d in kept).numel(), 1)
    out = torch.empty(rows.shape[0], dtype=result_dtype, device=x.device)
    if out.numel():
        sum_rows[(out.numel(),)](rows.contiguous(), out, rows.shape[1], ACC=acc, BLOCK=1024)
    return out.view([x.shape[d] for d in kept])
