"""A program a tile of 32 × 64: low and high halves of the bytes meet every other activation each, as weights rounded to bfloat16."""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, scale_ptr, zero_ptr, out_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    groups = K // GROUP
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, 32):
        group, byte = start // GROUP, start // 2 + tl.arange(0, 16)
        packed = tl.load(w_ptr + columns[None, :] * (K // 2) + byte[:, None], mask=(columns < N)[None, :], other=0)
        scale = tl.load(scale_ptr + columns * groups + group, mask=columns < N, other=0.0).to(tl.float32)[None, :]
        zero = tl.load(zero_ptr + columns * ((groups + 1) // 2) + group // 2, mask=columns < N, other=0).to(tl.int32)
        zero = tl.where(group % 2 == 0, zero & 15, zero >> 4)[None, :]
        low = ((packed.to(tl.int32) & 15) - zero).to(tl.float32) * scale
        high = ((packed.to(tl.int32) >> 4) - zero).to(tl.float32) * scale
        x = x_ptr + rows[:, None] * K + 2 * byte[None, :]
        acc = tl.dot(tl.load(x, mask=(rows < M)[:, None], other=0.0), low.to(tl.bfloat16), acc)
        acc = tl.dot(tl.load(x + 1, mask=(rows < M)[:, None], other=0.0), high.to(tl.bfloat16), acc)
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], acc.to(tl.bfloat16), mask=mask)


def int4_linear(x, weight, scale, zero, group_size: int = 128):
    (M, K), N = x.shape, weight.shape[0]
    out = torch.empty((M, N), dtype=torch.bfloat16, device=x.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 64))
    linear_kernel[grid](x, weight, scale, zero, out, M, N, K, BLOCK_M=32, BLOCK_N=64, GROUP=group_size)
    return out
