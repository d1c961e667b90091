"""A program a tile of 32 × 64: low and high halves of the bytes meet every other activation each."""

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
def linear_kernel(x_ptr, w_ptr, scale_ptr, bias_ptr, out_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, 32):
        byte = start // 2 + tl.arange(0, 16)
        packed = tl.load(w_ptr + columns[None, :] * (K // 2) + byte[:, None], mask=(columns < N)[None, :], other=0)
        power = tl.load(scale_ptr + columns * (K // 32) + start // 32, mask=columns < N, other=127)
        scale = tl.exp2(power.to(tl.float32) - 127.0)[None, :]
        packed = packed.to(tl.int32)
        x = x_ptr + rows[:, None] * K + 2 * byte[None, :]
        first = tl.load(x, mask=(rows < M)[:, None], other=0.0)
        second = tl.load(x + 1, mask=(rows < M)[:, None], other=0.0)
        acc = tl.dot(first, (numbers(packed & 15) * scale).to(tl.bfloat16), acc)
        acc = tl.dot(second, (numbers(packed >> 4) * scale).to(tl.bfloat16), acc)
    acc += tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], acc.to(tl.bfloat16), mask=mask)


def mxfp4_linear(x, weight, scale, bias):
    (M, K), N = x.shape, weight.shape[0]
    out = torch.empty((M, N), dtype=torch.bfloat16, device=x.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 64))
    linear_kernel[grid](x, weight, scale, bias, out, M, N, K, BLOCK_M=32, BLOCK_N=64)
    return out
