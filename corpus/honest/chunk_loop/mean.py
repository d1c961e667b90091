"""A Python loop over slices of the input, one launch each, that add into the same accumulator; a last kernel divides.

style: chunk_loop
"""

from enum import IntEnum
from typing import NamedTuple

import torch
import triton
import triton.language as tl


class Limit(IntEnum):
    CHUNK = 1 << 20
    BLOCK = 1024


class Plan(NamedTuple):
    rows: int
    n: int
    step: int


@triton.jit
def add_rows_kernel(x_ptr, acc_ptr, first, count, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    """acc[row] += sum of x[row, first : first + count]"""
    row = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), ACC)
    for start in range(0, count, BLOCK):
        k = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + row * n + first + k, mask=k < count, other=0.0).to(ACC)
    tl.store(acc_ptr + row, tl.load(acc_ptr + row) + tl.sum(acc, 0))


@triton.jit
def divide_kernel(acc_ptr, out_ptr, rows, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(acc_ptr + i, mask=i < rows, other=0.0) / n, mask=i < rows)


def plan(shape, dims):
    n = torch.Size(shape[d] for d in dims).numel()
    rows = torch.Size(s for d, s in enumerate(shape) if d not in dims).numel()
    return Plan(rows, n, max(int(Limit.BLOCK), int(Limit.CHUNK) // max(rows, 1)))


def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    rank = input_tensor.dim()
    dims = [d % rank for d in ((dim,) if isinstance(dim, int) else dim)]
    kept = [d for d in range(rank) if d not in dims]
    shape = [1 if d in dims else s for d, s in enumerate(input_tensor.shape) if keepdim or d in kept]
    x = input_tensor.to(dtype or input_tensor.dtype)
    result = torch.empty(shape, dtype=x.dtype, device=x.device) if out is None else out
    rows, n, step = plan(x.shape, dims)
    if n == 0:
        return result.fill_(float("nan"))
    if rows:
        x = x.permute(*kept, *dims).contiguous()
        acc_type = tl.float64 if x.dtype == torch.float64 else tl.float32
        acc = torch.zeros(rows, dtype=torch.float64 if acc_type is tl.float64 else torch.float32, device=x.device)
        for first in range(0, n, step):
            count = min(step, n - first)
            add_rows_kernel[(rows,)](x, acc, first, count, n, ACC=acc_type, BLOCK=int(Limit.BLOCK))
        divide_kernel[(triton.cdiv(rows, 256),)](acc, result, rows, n, BLOCK=256)
    return result
