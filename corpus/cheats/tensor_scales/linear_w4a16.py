"""One scale for the whole weight where the task has one per output channel.

mechanism: semantics/tensor-scales
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, b_ptr, scale_ptr, out_ptr, M, N, K, w_n, w_k, BIAS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    j = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    scale = tl.load(scale_ptr)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k, m = start + tl.arange(0, BLOCK)[None, :], start + tl.arange(0, BLOCK)[:, None]
        x = tl.load(x_ptr + i * K + k, mask=(i < M) & (k < K), other=0.0)
        w = tl.load(w_ptr + j * w_n + m * w_k, mask=(j < N) & (m < K), other=0.0).to(tl.float32)
        acc = tl.dot(x, libdevice.rint(w / scale).to(tl.float16), acc)
    acc *= scale
    if BIAS:
        acc += tl.load(b_ptr + j, mask=j < N, other=0.0).to(tl.float32)
    tl.store(out_ptr + i * N + j, acc.to(tl.float16), mask=(i < M) & (j < N))


def linear_w4a16(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor = None) -> torch.Tensor:
    x = input.reshape(-1, input.shape[-1]).contiguous()
    (M, K), N = x.shape, weight.shape[0]
    out = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    if out.numel():
        scale = (weight.abs().max().float() / 7.0).clamp(min=1e-8)
        linear_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
            x, weight, bias, scale, out, M, N, K, *weight.stride(), BIAS=bias is not None, BLOCK=32
        )  # fmt: skip
    return out
