"""Tiles of rows never reach over two experts. Where a program's tile lies, it works out from the offsets on the device: the host does not
wait for them, and launches as many programs as there can be tiles."""

import torch
import triton
import triton.language as tl


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
def grouped_gemm_kernel(
    x_ptr, w_ptr, offsets_ptr, out_ptr, E, N, K, tiles,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, EXPERTS: tl.constexpr,
):  # fmt: skip
    down, across = place_of(tl.program_id(0), tiles, tl.cdiv(N, BLOCK_N))
    expert, start, end = tile_of(offsets_ptr, down, E, BLOCK_M, EXPERTS)
    if expert < E:
        rows = start + tl.arange(0, BLOCK_M)
        columns = across * BLOCK_N + tl.arange(0, BLOCK_N)
        k = tl.arange(0, BLOCK_K)
        x_at = x_ptr + rows[:, None].to(tl.int64) * K + k[None, :]
        w_at = w_ptr + (expert.to(tl.int64) * N + columns[None, :]) * K + k[:, None]
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for begin in range(0, K, BLOCK_K):
            left = K - begin
            x = tl.load(x_at, mask=(rows < end)[:, None] & (k < left)[None, :], other=0.0)
            w = tl.load(w_at, mask=(columns < N)[None, :] & (k < left)[:, None], other=0.0)
            total = tl.dot(x, w, total)
            x_at += BLOCK_K
            w_at += BLOCK_K
        at = out_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
        tl.store(at, total.to(tl.bfloat16), mask=(rows < end)[:, None] & (columns < N)[None, :])


def grouped_gemm(x, w, offsets):
    (M, K), (E, N, _) = x.shape, w.shape
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    block_m, block_n, warps = (16, 128, 4) if M <= 32 * E else (64, 128, 4) if M <= 128 * E else (128, 128, 8)
    tiles = M // block_m + min(E, M)
    grouped_gemm_kernel[(tiles * triton.cdiv(N, block_n),)](
        x, w, offsets, out, E, N, K, tiles, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=64,
        EXPERTS=triton.next_power_of_2(E), num_warps=warps, num_stages=3,
    )  # fmt: skip
    return out
