"""Computes its constants in a function for constants, which Triton calls while it compiles.

style: constexpr_function
"""

import math

import torch
import triton
import triton.language as tl

if hasattr(triton, "constexpr_function"):
    constants = triton.constexpr_function
else:

    def constants(function):
        return triton.jit(function)


@constants
def half(block):
    return block // 2


ROOT = tl.constexpr(1 / math.sqrt(2))


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * (2 * half(BLOCK)) + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, 0.5 * x * (1.0 + tl.erf(x * ROOT)), mask=i < n)


@triton.jit
def tanh_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tl.store(out_ptr + i, x * tl.sigmoid(2.0 * inner), mask=i < n)


def gelu(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    kernel = gelu_kernel if approximate == "none" else tanh_kernel
    if x.numel():
        kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
