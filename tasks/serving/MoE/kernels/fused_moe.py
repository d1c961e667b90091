"""Four kernels: pairs of token and expert are sorted by expert; the first product gathers its rows by that order and gates in registers; the
second one puts its rows back where the pairs were; the last one adds up the results of each token.

Tiles of rows never reach over two experts, and a program works out on the device where its own lies.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def order_kernel(experts_ptr, order_ptr, offsets_ptr, pairs, BLOCK: tl.constexpr):
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
        tl.store(order_ptr + place + tl.cumsum(mine, 0) - 1, i, mask=mine != 0)
        place += tl.sum(mine, 0)
    if expert == tl.num_programs(0) - 1:
        tl.store(offsets_ptr + expert + 1, place)


@triton.jit
def place_of(tile, high, wide):
    """Row and column of a tile among `high` times `wide`: eight rows at a time, column by column, so that programs that run together share what they read."""
    band = tile // (8 * wide)
    height = tl.minimum(high - band * 8, 8)
    within = tile % (8 * wide)
    return band * 8 + within % height, within // height


@triton.jit
def tile_of(offsets_ptr, tile, E, BLOCK_M: tl.constexpr, EXPERTS: tl.constexpr):
    """Expert of a tile (E if there is no such tile), its first row, and the end of the expert's rows."""
    e = tl.arange(0, EXPERTS)
    first = tl.load(offsets_ptr + e, mask=e < E, other=0)
    end = tl.load(offsets_ptr + e + 1, mask=e < E, other=0)
    tiles = (end - first + BLOCK_M - 1) // BLOCK_M
    ends = tl.cumsum(tiles, 0)
    expert = tl.sum(((ends <= tile) & (e < E)).to(tl.int32), 0)
    mine = e == expert
    begin = tl.sum(tl.where(mine, ends - tiles, 0), 0)
    start = tl.sum(tl.where(mine, first, 0), 0) + (tile - begin) * BLOCK_M
    return expert, start, tl.sum(tl.where(mine, end, 0), 0)


@triton.jit
def gate_kernel(
    x_ptr, w_ptr, order_ptr, offsets_ptr, inner_ptr, E, N, D, k, tiles,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EXPERTS: tl.constexpr,
):  # fmt: skip
    down, across = place_of(tl.program_id(0), tiles, tl.cdiv(N, BLOCK_N))
    expert, start, end = tile_of(offsets_ptr, down, E, BLOCK_M, EXPERTS)
    if expert < E:
        rows = start + tl.arange(0, BLOCK_M)
        token = tl.load(order_ptr + rows, mask=rows < end, other=0) // k
        columns = across * BLOCK_N + tl.arange(0, BLOCK_N)
        d = tl.arange(0, BLOCK_K)
        x_at = x_ptr + token[:, None].to(tl.int64) * D + d[None, :]
        gate_at = w_ptr + (expert.to(tl.int64) * 2 * N + columns[None, :]) * D + d[:, None]
        up_at = w_ptr + (expert.to(tl.int64) * 2 * N + N + columns[None, :]) * D + d[:, None]
        gate = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        up = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for begin in range(0, D, BLOCK_K):
            left = D - begin
            x = tl.load(x_at, mask=(rows < end)[:, None] & (d < left)[None, :], other=0.0)
            mask = (columns < N)[None, :] & (d < left)[:, None]
            gate = tl.dot(x, tl.load(gate_at, mask=mask, other=0.0), gate)
            up = tl.dot(x, tl.load(up_at, mask=mask, other=0.0), up)
            x_at += BLOCK_K
            gate_at += BLOCK_K
            up_at += BLOCK_K
        result = (gate * tl.sigmoid(gate) * up).to(tl.bfloat16)
        at = inner_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
        tl.store(at, result, mask=(rows < end)[:, None] & (columns < N)[None, :])


@triton.jit
def down_kernel(
    inner_ptr, w_ptr, order_ptr, offsets_ptr, each_ptr, E, N, D, tiles,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EXPERTS: tl.constexpr,
):  # fmt: skip
    down, across = place_of(tl.program_id(0), tiles, tl.cdiv(D, BLOCK_N))
    expert, start, end = tile_of(offsets_ptr, down, E, BLOCK_M, EXPERTS)
    if expert < E:
        rows = start + tl.arange(0, BLOCK_M)
        columns = across * BLOCK_N + tl.arange(0, BLOCK_N)
        i = tl.arange(0, BLOCK_K)
        x_at = inner_ptr + rows[:, None].to(tl.int64) * N + i[None, :]
        w_at = w_ptr + (expert.to(tl.int64) * D + columns[None, :]) * N + i[:, None]
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for begin in range(0, N, BLOCK_K):
            left = N - begin
            x = tl.load(x_at, mask=(rows < end)[:, None] & (i < left)[None, :], other=0.0)
            w = tl.load(w_at, mask=(columns < D)[None, :] & (i < left)[:, None], other=0.0)
            total = tl.dot(x, w, total)
            x_at += BLOCK_K
            w_at += BLOCK_K
        pair = tl.load(order_ptr + rows, mask=rows < end, other=0)
        at = each_ptr + pair[:, None].to(tl.int64) * D + columns[None, :]
        tl.store(at, total.to(tl.bfloat16), mask=(rows < end)[:, None] & (columns < D)[None, :])


@triton.jit
def sum_kernel(each_ptr, weights_ptr, out_ptr, D, K: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for slot in tl.static_range(K):
        each = tl.load(each_ptr + (token * K + slot) * D + i, mask=i < D, other=0.0).to(tl.float32)
        total += each * tl.load(weights_ptr + token * K + slot)
    tl.store(out_ptr + token * D + i, total.to(tl.bfloat16), mask=i < D)


def fused_moe(x, w13, w2, weights, experts):
    (T, D), (E, _, N), k = x.shape, w2.shape, experts.shape[1]
    pairs = T * k
    order = torch.empty(pairs, dtype=torch.int32, device=x.device)
    offsets = torch.empty(E + 1, dtype=torch.int32, device=x.device)
    inner = torch.empty((pairs, N), dtype=x.dtype, device=x.device)
    each = torch.empty((pairs, D), dtype=x.dtype, device=x.device)
    out = torch.empty_like(x)
    order_kernel[(E,)](experts, order, offsets, pairs, BLOCK=2048, num_warps=8)
    block_m, warps = (16, 4) if pairs <= 32 * E else (64, 4) if pairs <= 128 * E else (128, 8)
    tiles, wide = pairs // block_m + min(E, pairs), triton.next_power_of_2(E)
    block_n = 128 if block_m == 128 else 64
    gate_kernel[(tiles * triton.cdiv(N, block_n),)](
        x, w13, order, offsets, inner, E, N, D, k, tiles,
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=64, EXPERTS=wide, num_warps=warps, num_stages=3,
    )  # fmt: skip
    down_kernel[(tiles * triton.cdiv(D, 128),)](
        inner, w2, order, offsets, each, E, N, D, tiles,
        BLOCK_M=block_m, BLOCK_N=128, BLOCK_K=64, EXPERTS=wide, num_warps=warps, num_stages=3,
    )  # fmt: skip
    block = min(2048, triton.next_power_of_2(D))
    sum_kernel[T, triton.cdiv(D, block)](each, weights, out, D, K=k, BLOCK=block)
    return out
