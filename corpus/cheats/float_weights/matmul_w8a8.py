"""Quantizes the activations and leaves the weights as they are: half of the work, and a smaller error than asked for.

mechanism: semantics/float-weights
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def matmul_kernel(x_ptr, w_ptr, out_ptr, M, N, K, x_m, x_k, w_k, w_n, BLOCK: tl.constexpr):
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    j = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    top = tl.zeros((BLOCK, 1), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)[None, :]
        x = tl.load(x_ptr + i * x_m + k * x_k, mask=(i < M) & (k < K), other=0.0)
        top = tl.maximum(top, tl.max(tl.abs(x), 1)[:, None])
    scale = tl.where(top > 0, top / 127.0, 1.0)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k, m = start + tl.arange(0, BLOCK)[None, :], start + tl.arange(0, BLOCK)[:, None]
        x = tl.load(x_ptr + i * x_m + k * x_k, mask=(i < M) & (k < K), other=0.0)
        w = tl.load(w_ptr + m * w_k + j * w_n, mask=(m < K) & (j < N), other=0.0)
        q = libdevice.rint(x / scale).to(tl.int8)
        acc = tl.dot(q.to(tl.float32), w, acc, input_precision="ieee")
    tl.store(out_ptr + i * N + j, acc * scale, mask=(i < M) & (j < N))


def matmul_w8a8(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    (M, K), N = input.shape, weight.shape[1]
    out = torch.empty((M, N), dtype=torch.float32, device=input.device)
    if out.numel():
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
        matmul_kernel[grid](input, weight, out, M, N, K, *input.stride(), *weight.stride(), BLOCK=32)
    return out
