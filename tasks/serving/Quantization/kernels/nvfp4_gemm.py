"""Both operands are unpacked in registers, by moving the bits of a code to where float32 has them, and multiplied as bfloat16, which is exact.
Where tiles are few, as in decoding, several programs share the sum of one, and a second kernel adds up what they found."""

import torch
import triton
import triton.language as tl


@triton.jit
def numbers(code):
    """E2M1 as float32: two bits of exponent and one of mantissa, whose bias is 126 less than float32's."""
    size = ((code & 7) << 22).to(tl.float32, bitcast=True) * 8.507059173023462e37
    return tl.where(code > 7, -size, size)


@triton.jit
def operand(packed_ptr, scale_ptr, rows, count, start, K, ROWS: tl.constexpr, BLOCK_K: tl.constexpr):
    """A tile `(ROWS, BLOCK_K)` from column `start` on, in bfloat16."""
    byte = start // 2 + tl.arange(0, BLOCK_K // 2)
    block = start // 16 + tl.arange(0, BLOCK_K // 16)
    inside = (rows < count)[:, None]
    at = packed_ptr + rows.to(tl.int64)[:, None] * (K // 2) + byte[None, :]
    packed = tl.load(at, mask=inside & (byte < K // 2)[None, :], other=0).to(tl.int32)
    at = scale_ptr + rows.to(tl.int64)[:, None] * (K // 16) + block[None, :]
    scale = tl.load(at, mask=inside & (block < K // 16)[None, :], other=0.0).to(tl.float32)
    values = tl.join(numbers(packed & 15), numbers(packed >> 4))
    values = tl.reshape(values, (ROWS, BLOCK_K // 16, 16)) * scale[:, :, None]
    return tl.reshape(values, (ROWS, BLOCK_K)).to(tl.bfloat16)


@triton.jit
def gemm_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, alpha_ptr, out_ptr, M, N, K, each, split_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(M, BLOCK_M)
    rows = tl.program_id(0) % tiles_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0) // tiles_m * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    first = tl.program_id(1) * each
    for start in range(first, tl.minimum(first + each, K), BLOCK_K):
        a = operand(a_ptr, a_scale_ptr, rows, M, start, K, BLOCK_M, BLOCK_K)
        b = operand(b_ptr, b_scale_ptr, columns, N, start, K, BLOCK_N, BLOCK_K)
        acc = tl.dot(a, tl.trans(b), acc)
    acc *= tl.load(alpha_ptr)
    at = tl.program_id(1).to(tl.int64) * split_stride + rows.to(tl.int64)[:, None] * N + columns[None, :]
    tl.store(out_ptr + at, acc.to(out_ptr.dtype.element_ty), mask=(rows < M)[:, None] & (columns < N)[None, :])


@triton.jit
def sum_kernel(partial_ptr, out_ptr, count, splits, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for split in range(splits):
        total += tl.load(partial_ptr + split * count + i, mask=i < count, other=0.0)
    tl.store(out_ptr + i, total.to(tl.bfloat16), mask=i < count)


def nvfp4_gemm(a, a_scale, b, b_scale, alpha):
    M, N, K = a.shape[0], b.shape[0], 2 * a.shape[1]
    block_m = 16 if M <= 16 else 64 if M <= 64 else 128
    block_n, block_k = 64 if M <= 64 else 128, 128 if M <= 64 else 64
    tiles = triton.cdiv(M, block_m) * triton.cdiv(N, block_n)
    splits = max(1, min(512 // tiles, K // 512))
    each = triton.cdiv(triton.cdiv(K, block_k), splits) * block_k
    out = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    target = out if splits == 1 else torch.empty((splits, M, N), dtype=torch.float32, device=a.device)
    gemm_kernel[(tiles, splits)](
        a, a_scale, b, b_scale, alpha, target, M, N, K, each, M * N,
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, num_warps=8 if M > 64 else 4, num_stages=3,
    )  # fmt: skip
    if splits > 1:
        sum_kernel[(triton.cdiv(M * N, 1024),)](target, out, M * N, splits, BLOCK=1024)
    return out
