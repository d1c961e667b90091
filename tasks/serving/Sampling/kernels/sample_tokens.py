"""A program a row, or several short ones, and no sort: a limit of top-k or top-p is found as a number, four bits of it with every pass over the row, as the largest
one above which there are enough tokens, or enough probability. A last pass draws, by a race: a token wins with the largest of its probability over an
exponential variate.

Floats are compared by their bits, turned into unsigned integers of the same order.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def ordered(z):
    bits = z.to(tl.int32, bitcast=True)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.int64) + 0x80000000


@triton.jit
def limit_of(
    logits_ptr, at, rows, inverse, top, least, wanted, V,
    BY_PROBABILITY: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The largest key at or above which there is `wanted`: tokens, or the part of what lies above `least`."""
    limit = tl.zeros((ROWS,), tl.int64)
    digits = tl.arange(0, 16)
    for step in range(8):
        shift = 28 - 4 * step
        trial = limit[:, None] + (digits.to(tl.int64) << shift)[None, :]
        found = tl.zeros((ROWS, 16), tl.float32)
        for begin in range(0, V, BLOCK):
            i = begin + tl.arange(0, BLOCK)
            mask = rows[:, None] & (i < V)[None, :]
            z = tl.load(logits_ptr + at[:, None] + i[None, :], mask=mask, other=0.0) * inverse[:, None]
            key = tl.where(mask, ordered(z), -1)
            amount = tl.full((ROWS, BLOCK), 1.0, tl.float32)
            if BY_PROBABILITY:
                amount = tl.where(key >= least[:, None], tl.exp(z - top[:, None]), 0.0)
            reached = key[:, :, None] >= trial[:, None, :]
            found += tl.sum(tl.where(reached, amount[:, :, None], 0.0), 1)
        if BY_PROBABILITY and step == 0:
            # The first trial lies below everything: its sum is that of all.
            wanted = wanted * tl.max(found, 1)
        enough = tl.sum((found >= wanted[:, None]).to(tl.int64), 1)
        limit += tl.maximum(enough - 1, 0) << shift
    return limit


@triton.jit(do_not_specialize=["seed"])
def sample_kernel(
    logits_ptr, temperature_ptr, k_ptr, p_ptr, m_ptr, out_ptr, seed, B, V,
    ROWS: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    rows = row < B
    at = row.to(tl.int64) * V
    temperature = tl.load(temperature_ptr + row, mask=rows, other=1.0)
    inverse = 1.0 / temperature
    k = tl.load(k_ptr + row, mask=rows, other=1)
    p = tl.load(p_ptr + row, mask=rows, other=1.0)
    least_share = tl.load(m_ptr + row, mask=rows, other=0.0)
    top = tl.full((ROWS,), float("-inf"), tl.float32)
    for begin in range(0, V, WIDE):
        i = begin + tl.arange(0, WIDE)
        mask = rows[:, None] & (i < V)[None, :]
        z = tl.load(logits_ptr + at[:, None] + i[None, :], mask=mask, other=float("-inf")) * inverse[:, None]
        top = tl.maximum(top, tl.max(z, 1))
    top = tl.where(rows, top, 0.0)
    limit = tl.zeros((ROWS,), tl.int64)
    if tl.min(tl.where(rows, k, V), 0) < V:
        limit = limit_of(logits_ptr, at, rows, inverse, top, limit, k.to(tl.float32), V, False, ROWS, BLOCK)
    if tl.min(p, 0) < 1.0:
        by_p = limit_of(logits_ptr, at, rows, inverse, top, limit, p, V, True, ROWS, BLOCK)
        limit = tl.maximum(limit, by_p)
    best = tl.full((ROWS,), -1.0, tl.float32)
    token = tl.zeros((ROWS,), tl.int32)
    for begin in range(0, V, WIDE):
        i = begin + tl.arange(0, WIDE)
        mask = rows[:, None] & (i < V)[None, :]
        z = tl.load(logits_ptr + at[:, None] + i[None, :], mask=mask, other=0.0) * inverse[:, None]
        share = tl.exp(z - top[:, None])
        kept = mask & (ordered(z) >= limit[:, None]) & (share >= least_share[:, None])
        number = tl.rand(seed, (at[:, None] + i[None, :]).to(tl.int32))
        race = tl.where(kept, share / tl.maximum(-tl.log(1.0 - number), 1e-30), -1.0)
        first, place = tl.max(race, 1, return_indices=True)
        token = tl.where(first > best, begin + place, token)
        best = tl.maximum(best, first)
    tl.store(out_ptr + row, token.to(tl.int64), mask=rows)


def sample_tokens(logits, temperature, top_k, top_p, min_p):
    B, V = logits.shape
    out = torch.empty(B, dtype=torch.int64, device=logits.device)
    rows = 16 if V <= 256 else 1
    block = triton.next_power_of_2(V) if V <= 256 else 1024
    seed = int(torch.randint(1 << 31, (1,)))
    sample_kernel[(triton.cdiv(B, rows),)](
        logits, temperature, top_k, top_p, min_p, out, seed, B, V,
        ROWS=rows, WIDE=block if V <= 256 else 4096, BLOCK=block, num_warps=8,
    )  # fmt: skip
    return out
