"""lru_cache around what chooses block and warps for a row length: settings are remembered, results are not.

style: cached_config
source: kernelguard
"""

from functools import lru_cache

import torch
import triton
import triton.language as tl


@triton.jit
def std_kernel(x_ptr, out_ptr, n, correction, BLOCK: tl.constexpr):
    """Two passes over the row: the mean, then the squares of what is left."""
    row = x_ptr + tl.program_id(0).to(tl.int64) * n
    k = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        acc += tl.load(row + start + k, mask=start + k < n, other=0.0)
    mean = tl.sum(acc, 0) / n
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        d = tl.load(row + start + k, mask=start + k < n, other=0.0) - mean
        acc += tl.where(start + k < n, d * d, 0.0)
    divisor = tl.maximum(n - correction, 0).to(tl.float32)
    tl.store(out_ptr + tl.program_id(0), tl.sqrt(tl.sum(acc, 0) / divisor))


@lru_cache(maxsize=128)
def choose_config(n: int) -> tuple:
    block = max(16, min(4096, triton.next_power_of_2(n)))
    return block, 4 if block <= 2048 else 8


def std(input, dim=None, correction=1, keepdim=False, out=None):
    rank = input.dim()
    dims = set(range(rank)) if dim is None else {dim % rank} if isinstance(dim, int) else {d % rank for d in dim}
    kept = [d for d in range(rank) if d not in dims]
    shape = [1 if d in dims else input.shape[d] for d in range(rank) if keepdim or d not in dims]
    result = out if out is not None else torch.empty(shape, dtype=input.dtype, device=input.device)
    n = torch.Size(input.shape[d] for d in dims).numel()
    if n == 0:
        result.fill_(float("nan"))
    elif result.numel():
        x = input.permute(*kept, *sorted(dims)).contiguous()
        block, warps = choose_config(n)
        std_kernel[(result.numel(),)](x, result, n, correction, BLOCK=block, num_warps=warps)
    return result
