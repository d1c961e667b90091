"""Two kernels. The first has a program an expert, which finds the expert's pairs in all of them with one running sum: no atomics, so
that the order is that of the pairs. The second copies rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def places_kernel(experts_ptr, places_ptr, offsets_ptr, pairs, BLOCK: tl.constexpr):
    expert = tl.program_id(0)
    smaller = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, pairs, BLOCK):
        i = start + tl.arange(0, BLOCK)
        theirs = tl.load(experts_ptr + i, mask=i < pairs, other=2147483647)
        smaller += (theirs < expert).to(tl.int32)
    place = tl.sum(smaller, 0)
    tl.store(offsets_ptr + expert, place)
    for start in range(0, pairs, BLOCK):
        i = start + tl.arange(0, BLOCK)
        mine = (tl.load(experts_ptr + i, mask=i < pairs, other=-1) == expert).to(tl.int32)
        tl.store(places_ptr + i, place + tl.cumsum(mine, 0) - 1, mask=mine != 0)
        place += tl.sum(mine, 0)
    if expert == tl.num_programs(0) - 1:
        tl.store(offsets_ptr + expert + 1, place)


@triton.jit
def rows_kernel(x_ptr, places_ptr, rows_ptr, D, K: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + token * D + i, mask=i < D, other=0.0)
    for slot in tl.static_range(K):
        place = tl.load(places_ptr + token * K + slot).to(tl.int64)
        tl.store(rows_ptr + place * D + i, x, mask=i < D)


def moe_permute(x, experts, count: int):
    (T, D), k = x.shape, experts.shape[1]
    places = torch.empty_like(experts)
    offsets = torch.empty(count + 1, dtype=torch.int32, device=x.device)
    rows = torch.empty((T * k, D), dtype=x.dtype, device=x.device)
    places_kernel[(count,)](experts, places, offsets, T * k, BLOCK=2048, num_warps=8)
    block = min(4096, triton.next_power_of_2(D))
    rows_kernel[(T, triton.cdiv(D, block))](x, places, rows, D, K=k, BLOCK=block)
    return rows, offsets, places
