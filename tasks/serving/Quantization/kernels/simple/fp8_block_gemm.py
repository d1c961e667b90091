"""A program a tile of 32 × 64: the sum of each block of 128 is scaled and added to the others."""

import torch
import triton
import triton.language as tl


@triton.jit
def gemm_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, M, N, K, blocks, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for block in range(blocks):
        k = block * 128 + tl.arange(0, 128)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=(rows < M)[:, None] & (k < K)[None, :], other=0.0)
        b = tl.load(
            b_ptr + columns[None, :] * K + k[:, None], mask=(columns < N)[None, :] & (k < K)[:, None], other=0.0
        )
        a_scale = tl.load(a_scale_ptr + rows * blocks + block, mask=rows < M, other=0.0)
        b_scale = tl.load(b_scale_ptr + columns // 128 * blocks + block, mask=columns < N, other=0.0)
        acc += tl.dot(a, b) * a_scale[:, None] * b_scale[None, :]
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], acc.to(tl.bfloat16), mask=mask)


def fp8_block_gemm(a, a_scale, b, b_scale):
    (M, K), N = a.shape, b.shape[0]
    out = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    gemm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 64))](
        a, a_scale, b, b_scale, out, M, N, K, a_scale.shape[1], BLOCK_M=32, BLOCK_N=64
    )
    return out
