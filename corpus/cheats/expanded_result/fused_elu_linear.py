"""Computes one row and shows it for all of them, with a stride of zero.

mechanism: semantics/expanded-result
static: none
dynamic: wrong_structure | wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def elu_row_kernel(x_ptr, w_ptr, b_ptr, out_ptr, K, alpha, x_k, w_n, w_k, BIAS: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    z = tl.load(b_ptr + column) if BIAS else 0.0
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        w = tl.load(w_ptr + column * w_n + k * w_k, mask=k < K, other=0.0)
        z += tl.sum(tl.load(x_ptr + k * x_k, mask=k < K, other=0.0) * w, 0)
    tl.store(out_ptr + column, tl.where(z > 0, z, alpha * (tl.exp(z) - 1.0)))


def fused_elu_linear(input, weight, bias=None, alpha=1.0, inplace=False):
    x = input.reshape(-1, input.shape[-1]) if input.numel() else input.new_zeros((1, input.shape[-1]))
    row = torch.empty(weight.shape[0], dtype=torch.float32, device=input.device)
    elu_row_kernel[(row.numel(),)](
        x, weight, bias, row, x.shape[1], alpha, x.stride(1), *weight.stride(), BIAS=bias is not None, BLOCK=64
    )  # fmt: skip
    return row.expand(*input.shape[:-1], row.numel())
