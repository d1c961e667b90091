"""A program a tile of 32 × 32: low and high halves of the bytes are multiplied apart, two blocks at a time."""

import torch
import triton
import triton.language as tl


@triton.jit
def numbers(code):
    """E2M1 as float32, by its definition."""
    size = code & 7
    exponent = tl.exp2(((size >> 1) - 1).to(tl.float32))
    value = tl.where(size < 2, 0.5 * size, exponent * (1.0 + 0.5 * (size & 1)))
    return tl.where(code > 7, -value, value)


@triton.jit
def gemm_kernel(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, alpha_ptr, out_ptr, M, N, K, BLOCK: tl.constexpr):
    rows = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    columns = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K // 2, 16):
        byte = start + tl.arange(0, 16)
        block = byte // 8
        a_mask = (rows < M)[:, None] & (byte < K // 2)[None, :]
        b_mask = (columns < N)[None, :] & (byte < K // 2)[:, None]
        a = tl.load(a_ptr + rows[:, None] * (K // 2) + byte[None, :], mask=a_mask, other=0).to(tl.int32)
        b = tl.load(b_ptr + columns[None, :] * (K // 2) + byte[:, None], mask=b_mask, other=0).to(tl.int32)
        a_scale = tl.load(a_scale_ptr + rows[:, None] * (K // 16) + block[None, :], mask=a_mask, other=0.0)
        b_scale = tl.load(b_scale_ptr + columns[None, :] * (K // 16) + block[:, None], mask=b_mask, other=0.0)
        a_scale, b_scale = a_scale.to(tl.float32), b_scale.to(tl.float32)
        a_low, a_high = (numbers(a & 15) * a_scale).to(tl.float16), (numbers(a >> 4) * a_scale).to(tl.float16)
        b_low, b_high = (numbers(b & 15) * b_scale).to(tl.float16), (numbers(b >> 4) * b_scale).to(tl.float16)
        acc = tl.dot(a_low, b_low, acc)
        acc = tl.dot(a_high, b_high, acc)
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    out = (acc * tl.load(alpha_ptr)).to(tl.bfloat16)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], out, mask=mask)


def nvfp4_gemm(a, a_scale, b, b_scale, alpha):
    M, N = a.shape[0], b.shape[0]
    out = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    gemm_kernel[grid](a, a_scale, b, b_scale, alpha, out, M, N, 2 * a.shape[1], BLOCK=32)
    return out
