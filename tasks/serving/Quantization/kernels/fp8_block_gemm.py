"""Tiles in an order that keeps operands in the L2 cache; the sum of a block of 128 is scaled as it is added up. Where tiles are few, as in
decoding, several programs share the blocks of one, and a second kernel adds up what they found."""

import torch
import triton
import triton.language as tl


@triton.jit
def gemm_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, M, N, K, blocks, each, split_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = tl.program_id(0) // (GROUP * tiles_n)
    height = tl.minimum(tiles_m - group * GROUP, GROUP)
    within = tl.program_id(0) % (GROUP * tiles_n)
    rows = (group * GROUP + within % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = (within // height) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, 128)
    a_at = a_ptr + rows.to(tl.int64)[:, None] * K + k[None, :]
    b_at = b_ptr + columns.to(tl.int64)[None, :] * K + k[:, None]
    b_scale_at = b_scale_ptr + (within // height) * BLOCK_N // 128 * blocks
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    first = tl.program_id(1) * each
    for block in range(first, tl.minimum(first + each, blocks)):
        left = K - block * 128
        a = tl.load(a_at + block * 128, mask=(rows < M)[:, None] & (k < left)[None, :], other=0.0)
        b = tl.load(b_at + block * 128, mask=(columns < N)[None, :] & (k < left)[:, None], other=0.0)
        a_scale = tl.load(a_scale_ptr + rows * blocks + block, mask=rows < M, other=0.0)
        acc += tl.dot(a, b) * (a_scale * tl.load(b_scale_at + block))[:, None]
    at = tl.program_id(1).to(tl.int64) * split_stride + rows.to(tl.int64)[:, None] * N + columns[None, :]
    tl.store(out_ptr + at, acc.to(out_ptr.dtype.element_ty), mask=(rows < M)[:, None] & (columns < N)[None, :])


@triton.jit
def sum_kernel(partial_ptr, out_ptr, count, splits, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for split in range(splits):
        total += tl.load(partial_ptr + split * count + i, mask=i < count, other=0.0)
    tl.store(out_ptr + i, total.to(tl.bfloat16), mask=i < count)


def fp8_block_gemm(a, a_scale, b, b_scale):
    (M, K), N = a.shape, b.shape[0]
    blocks = a_scale.shape[1]
    block_m = 16 if M <= 16 else 64 if M <= 64 else 128
    block_n = 64 if M <= 128 else 128
    tiles = triton.cdiv(M, block_m) * triton.cdiv(N, block_n)
    splits = max(1, min(256 // tiles, blocks // 8))
    out = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    target = out if splits == 1 else torch.empty((splits, M, N), dtype=torch.float32, device=a.device)
    gemm_kernel[(tiles, splits)](
        a, a_scale, b, b_scale, target, M, N, K, blocks, triton.cdiv(blocks, splits), M * N,
        BLOCK_M=block_m, BLOCK_N=block_n, GROUP=8, num_warps=8 if block_m == 128 else 4, num_stages=4,
    )  # fmt: skip
    if splits > 1:
        sum_kernel[(triton.cdiv(M * N, 1024),)](target, out, M * N, splits, BLOCK=1024)
    return out
