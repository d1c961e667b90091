"""A program a pair: it counts the pairs before its own, writes the place down, and copies its token there."""

import torch
import triton
import triton.language as tl


@triton.jit
def permute_kernel(x_ptr, experts_ptr, rows_ptr, places_ptr, pairs, k, D, BLOCK: tl.constexpr):
    pair = tl.program_id(0)
    expert = tl.load(experts_ptr + pair)
    before = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, pairs, BLOCK):
        i = start + tl.arange(0, BLOCK)
        theirs = tl.load(experts_ptr + i, mask=i < pairs, other=2147483647)
        before += ((theirs < expert) | ((theirs == expert) & (i < pair))).to(tl.int32)
    place = tl.sum(before, 0)
    tl.store(places_ptr + pair, place)
    for start in range(0, D, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + (pair // k).to(tl.int64) * D + i, mask=i < D)
        tl.store(rows_ptr + place.to(tl.int64) * D + i, x, mask=i < D)


@triton.jit
def offsets_kernel(experts_ptr, offsets_ptr, pairs, BLOCK: tl.constexpr):
    expert = tl.program_id(0)
    smaller = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, pairs, BLOCK):
        i = start + tl.arange(0, BLOCK)
        smaller += (tl.load(experts_ptr + i, mask=i < pairs, other=2147483647) < expert).to(tl.int32)
    tl.store(offsets_ptr + expert, tl.sum(smaller, 0))


def moe_permute(x, experts, count: int):
    (T, D), k = x.shape, experts.shape[1]
    places = torch.empty_like(experts)
    offsets = torch.empty(count + 1, dtype=torch.int32, device=x.device)
    rows = torch.empty((T * k, D), dtype=x.dtype, device=x.device)
    permute_kernel[(T * k,)](x, experts, rows, places, T * k, k, D, BLOCK=256)
    offsets_kernel[(count + 1,)](experts, offsets, T * k, BLOCK=256)
    return rows, offsets, places
