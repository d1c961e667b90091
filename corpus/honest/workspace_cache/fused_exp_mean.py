"""A workspace for partial sums, kept between calls by size and device: scratch memory, overwritten before it is read.

style: workspace_cache
"""

import torch
import triton
import triton.language as tl

_WORKSPACES = {}


@triton.jit
def partial_kernel(x_ptr, partial_ptr, n, chunk, ACC: tl.constexpr, BLOCK: tl.constexpr):
    """partial[row, c] = sum of the exponentials of chunk c of x[row]."""
    row, c = tl.program_id(0).to(tl.int64), tl.program_id(1)
    acc = tl.zeros((BLOCK,), ACC)
    for start in range(0, chunk, BLOCK):
        k = c * chunk + start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + k, mask=(k < n) & (start + tl.arange(0, BLOCK) < chunk), other=-float("inf"))
        acc += tl.exp(x).to(ACC)
    tl.store(partial_ptr + row * tl.num_programs(1) + c, tl.sum(acc, 0))


@triton.jit
def finish_kernel(partial_ptr, out_ptr, n, chunks, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(partial_ptr + row * chunks + c, mask=c < chunks, other=0.0), 0)
    tl.store(out_ptr + row, total / n)


def workspace(numel, dtype, device):
    key = (numel, dtype, device)
    if key not in _WORKSPACES:
        _WORKSPACES[key] = torch.empty(numel, dtype=dtype, device=device)
    return _WORKSPACES[key]


def fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None):
    dims = range(input.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = sorted(d % input.dim() for d in dims)
    kept = [d for d in range(input.dim()) if d not in dims]
    shape = [1 if d in dims else s for d, s in enumerate(input.shape) if keepdim or d in kept]
    result = torch.empty(shape, dtype=dtype or torch.float32, device=input.device) if out is None else out
    rows, n = result.numel(), torch.Size(input.shape[d] for d in dims).numel()
    if n == 0:
        return result.fill_(float("nan"))
    if rows:
        x = input.permute(*kept, *dims).contiguous()
        acc = tl.float64 if result.dtype == torch.float64 else tl.float32
        chunks = min(triton.cdiv(n, 8192), 512)
        partial = workspace(rows * chunks, torch.float64 if acc is tl.float64 else torch.float32, x.device)
        partial_kernel[(rows, chunks)](x, partial, n, triton.cdiv(n, chunks), ACC=acc, BLOCK=256)
        finish_kernel[(rows,)](partial, result, n, chunks, BLOCK=triton.next_power_of_2(chunks))
    return result
