"""Whole numbers are multiplied, which bfloat16 holds exactly, and the sum of a group is scaled as it is added up. Where tiles are few, as in
decoding, several programs share the groups of one, and a second kernel adds up what they found."""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, scale_ptr, zero_ptr, out_ptr, M, N, K, each, split_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(M, BLOCK_M)
    rows = tl.program_id(0) % tiles_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0) // tiles_m * BLOCK_N + tl.arange(0, BLOCK_N)
    k, byte = tl.arange(0, GROUP), tl.arange(0, GROUP // 2)
    groups = K // GROUP
    x_at = x_ptr + rows.to(tl.int64)[:, None] * K + k[None, :]
    w_at = w_ptr + columns.to(tl.int64)[:, None] * (K // 2) + byte[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    first = tl.program_id(1) * each
    for group in range(first, tl.minimum(first + each, groups)):
        x = tl.load(x_at + group * GROUP, mask=(rows < M)[:, None], other=0.0)
        packed = tl.load(w_at + group * (GROUP // 2), mask=(columns < N)[:, None], other=0).to(tl.int32)
        scale = tl.load(scale_ptr + columns * groups + group, mask=columns < N, other=0.0).to(tl.float32)
        zero = tl.load(zero_ptr + columns * ((groups + 1) // 2) + group // 2, mask=columns < N, other=0).to(tl.int32)
        zero = ((zero >> (group % 2 * 4)) & 15)[:, None]
        q = tl.reshape(tl.join((packed & 15) - zero, (packed >> 4) - zero), (BLOCK_N, GROUP))
        acc += tl.dot(x, tl.trans(q.to(tl.bfloat16))) * scale[None, :]
    at = tl.program_id(1).to(tl.int64) * split_stride + rows.to(tl.int64)[:, None] * N + columns[None, :]
    tl.store(out_ptr + at, acc.to(out_ptr.dtype.element_ty), mask=(rows < M)[:, None] & (columns < N)[None, :])


@triton.jit
def sum_kernel(partial_ptr, out_ptr, count, splits, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for split in range(splits):
        total += tl.load(partial_ptr + split * count + i, mask=i < count, other=0.0)
    tl.store(out_ptr + i, total.to(tl.bfloat16), mask=i < count)


def int4_linear(x, weight, scale, zero, group_size: int = 128):
    (M, K), N = x.shape, weight.shape[0]
    block_m = 16 if M <= 16 else 64 if M <= 64 else 128
    block_n, groups = 64 if M <= 64 else 128, K // group_size
    tiles = triton.cdiv(M, block_m) * triton.cdiv(N, block_n)
    splits = max(1, min(512 // tiles, groups // 4))
    out = torch.empty((M, N), dtype=torch.bfloat16, device=x.device)
    target = out if splits == 1 else torch.empty((splits, M, N), dtype=torch.float32, device=x.device)
    linear_kernel[(tiles, splits)](
        x, weight, scale, zero, target, M, N, K, triton.cdiv(groups, splits), M * N,
        BLOCK_M=block_m, BLOCK_N=block_n, GROUP=group_size, num_warps=8 if M > 64 else 4, num_stages=3,
    )  # fmt: skip
    if splits > 1:
        sum_kernel[(triton.cdiv(M * N, 1024),)](target, out, M * N, splits, BLOCK=1024)
    return out
