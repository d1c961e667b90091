"""Scales as an int8 kernel does and never rounds: "simulated quantization" that multiplies the floats themselves.

mechanism: semantics/float-rounding-off
static: never-quantizes
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def bmm_kernel(a_ptr, b_ptr, s_ptr, t_ptr, out_ptr, M, N, K, a_b, a_m, a_k, b_b, b_k, b_n, BLOCK: tl.constexpr):
    z = tl.program_id(2)
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    j = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    s = tl.load(s_ptr + z * M + i, mask=i < M, other=1.0)
    t = tl.load(t_ptr + z * N + j, mask=j < N, other=1.0)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k, m = start + tl.arange(0, BLOCK)[None, :], start + tl.arange(0, BLOCK)[:, None]
        a = tl.load(a_ptr + z * a_b + i * a_m + k * a_k, mask=(i < M) & (k < K), other=0.0)
        b = tl.load(b_ptr + z * b_b + m * b_k + j * b_n, mask=(m < K) & (j < N), other=0.0)
        a_int8 = tl.minimum(tl.maximum(a / s, -127.0), 127.0)
        b_int8 = tl.minimum(tl.maximum(b / t, -127.0), 127.0)
        acc = tl.dot(a_int8, b_int8, acc, input_precision="ieee")
    tl.store(out_ptr + (z * M + i) * N + j, acc * s * t, mask=(i < M) & (j < N))


def scales(x, dim):
    top = x.abs().amax(dim) / 127.0 if x.numel() else x.new_zeros(x.amax(dim).shape)
    return torch.where(top > 0, top, 1.0)


def bmm_w8a8(input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    (B, M, K), N = input.shape, mat2.shape[2]
    out = torch.empty((B, M, N), dtype=torch.float32, device=input.device)
    if out.numel():
        bmm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32), B)](
            input, mat2, scales(input, 2), scales(mat2, 1), out, M, N, K, *input.stride(), *mat2.stride(), BLOCK=32
        )  # fmt: skip
    return out
