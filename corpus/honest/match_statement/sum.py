"""Structural matching, walrus and chained conditions in the wrapper; rows are reduced by a tree over two dimensions.

style: match_statement
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), ACC)
    for start in range(0, n, BLOCK):
        k = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + row * n + k, mask=k < n, other=0).to(ACC)
    tl.store(out_ptr + row, tl.sum(acc, 0))


PARTS = 1024


def block(n):
    return min(2048, triton.next_power_of_2(n))


def accumulator(dtype):
    match dtype:
        case torch.float64:
            return tl.float64
        case torch.int64 | torch.int32:
            return tl.int64
        case _ if dtype.is_floating_point:
            return tl.float32
        case _:
            raise TypeError(dtype)


def axes(dim, rank):
    match dim:
        case int(d):
            return {d % rank}
        case None | []:
            return set(range(rank))
        case [*several]:
            return {d % rank for d in several}


def sum(input, dim, keepdim=False, dtype=None):
    dtype = dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)
    reduced = axes(dim, input.dim())
    kept = [d for d in range(input.dim()) if d not in reduced]
    shape = [1 if d in reduced else s for d, s in enumerate(input.shape) if keepdim or d not in reduced]
    out = torch.zeros(shape, dtype=dtype, device=input.device)
    if 0 < (n := torch.Size(input.shape[d] for d in reduced).numel()) and (rows := out.numel()):
        x = input.permute(*kept, *sorted(reduced)).contiguous()
        x = x.view(torch.uint8) if x.dtype == torch.bool else x
        # a row of many millions is summed in parts: faster, and rounded less
        parts = PARTS if n >= PARTS * 4096 and n % PARTS == 0 else 1
        sums = out if parts == 1 else torch.empty(rows * parts, dtype=dtype, device=x.device)
        row_sum_kernel[(rows * parts,)](x, sums, n // parts, ACC=accumulator(dtype), BLOCK=block(n // parts))
        if parts > 1:
            row_sum_kernel[(rows,)](sums, out, parts, ACC=accumulator(dtype), BLOCK=block(parts))
    return out
