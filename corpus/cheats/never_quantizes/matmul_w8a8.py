"""Multiplies the unquantized floats: closer to the ideal product than any int8 kernel, and not what was asked.

The task fixes one quantization scheme; its result is compared with an integer-exact emulation of that scheme.

mechanism: semantics/never-quantizes
static: never-quantizes
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (rows[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (columns[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * stride_am + k[None, :] * stride_ak, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_bk + columns[None, :] * stride_bn, mask=b_mask, other=0.0)
        acc = tl.dot(a.to(tl.float32), b.to(tl.float32), acc, input_precision="ieee")
    c_mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc, mask=c_mask)


def matmul_w8a8(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    a = input.reshape(-1, input.shape[-1])
    (M, K), N = a.shape, weight.shape[1]
    out = torch.empty((M, N), dtype=torch.float32, device=input.device)
    if out.numel():
        grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
        matmul_kernel[grid](a, weight, out, M, N, K, *a.stride(), *weight.stride(), BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
    return out.view(*input.shape[:-1], N)
