"""Weights are unpacked in registers, by moving the bits of a code to where float32 has them, and multiplied as bfloat16. Where tiles are few, as
in decoding, several programs share the sum of one, and a second kernel adds up what they found."""

import torch
import triton
import triton.language as tl


@triton.jit
def numbers(code):
    """E2M1 as float32: two bits of exponent and one of mantissa, whose bias is 126 less than float32's."""
    size = ((code & 7) << 22).to(tl.float32, bitcast=True) * 8.507059173023462e37
    return tl.where(code > 7, -size, size)


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, scale_ptr, bias_ptr, out_ptr, M, N, K, each, split_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(M, BLOCK_M)
    rows = tl.program_id(0) % tiles_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0) // tiles_m * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    first = tl.program_id(1) * each
    for start in range(first, tl.minimum(first + each, K), BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        byte = start // 2 + tl.arange(0, BLOCK_K // 2)
        block = start // 32 + tl.arange(0, BLOCK_K // 32)
        x = tl.load(
            x_ptr + rows.to(tl.int64)[:, None] * K + k[None, :], mask=(rows < M)[:, None] & (k < K)[None, :], other=0.0
        )
        packed = tl.load(
            w_ptr + columns.to(tl.int64)[:, None] * (K // 2) + byte[None, :],
            mask=(columns < N)[:, None] & (byte < K // 2)[None, :], other=0,
        ).to(tl.int32)  # fmt: skip
        power = tl.load(
            scale_ptr + columns.to(tl.int64)[:, None] * (K // 32) + block[None, :],
            mask=(columns < N)[:, None] & (block < K // 32)[None, :], other=0,
        ).to(tl.int32)  # fmt: skip
        scale = (power << 23).to(tl.float32, bitcast=True)
        w = tl.join(numbers(packed & 15), numbers(packed >> 4))
        w = tl.reshape(w, (BLOCK_N, BLOCK_K // 32, 32)) * scale[:, :, None]
        acc = tl.dot(x, tl.trans(tl.reshape(w, (BLOCK_N, BLOCK_K)).to(tl.bfloat16)), acc)
    if not SPLIT:
        acc += tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    at = tl.program_id(1).to(tl.int64) * split_stride + rows.to(tl.int64)[:, None] * N + columns[None, :]
    tl.store(out_ptr + at, acc.to(out_ptr.dtype.element_ty), mask=(rows < M)[:, None] & (columns < N)[None, :])


@triton.jit
def sum_kernel(partial_ptr, bias_ptr, out_ptr, count, N, splits, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(bias_ptr + i % N, mask=i < count, other=0.0).to(tl.float32)
    for split in range(splits):
        total += tl.load(partial_ptr + split * count + i, mask=i < count, other=0.0)
    tl.store(out_ptr + i, total.to(tl.bfloat16), mask=i < count)


def mxfp4_linear(x, weight, scale, bias):
    (M, K), N = x.shape, weight.shape[0]
    block_m = 16 if M <= 16 else 64 if M <= 64 else 128
    block_n, block_k = 64 if M <= 64 else 128, 128 if M <= 64 else 64
    tiles = triton.cdiv(M, block_m) * triton.cdiv(N, block_n)
    splits = max(1, min(512 // tiles, K // 512))
    each = triton.cdiv(triton.cdiv(K, block_k), splits) * block_k
    out = torch.empty((M, N), dtype=torch.bfloat16, device=x.device)
    target = out if splits == 1 else torch.empty((splits, M, N), dtype=torch.float32, device=x.device)
    linear_kernel[(tiles, splits)](
        x, weight, scale, bias, target, M, N, K, each, M * N,
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, SPLIT=splits > 1, num_warps=8 if M > 64 else 4, num_stages=3,
    )  # fmt: skip
    if splits > 1:
        sum_kernel[(triton.cdiv(M * N, 1024),)](target, bias, out, M * N, N, splits, BLOCK=1024)
    return out
