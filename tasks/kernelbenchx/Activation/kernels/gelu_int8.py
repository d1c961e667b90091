"""GELU of int8 values, element by element, in float32; what is left of the fraction is dropped."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.float32)
    if TANH:
        y = 0.5 * x * (1 + libdevice.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    else:
        y = 0.5 * x * (1 + libdevice.erf(x * 0.7071067811865476))
    tl.store(out_ptr + i, y.to(tl.int8), mask=i < n)


def gelu_int8(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_kernel[(triton.cdiv(n, 2048),)](x, out, n, TANH=approximate == "tanh", BLOCK=2048, num_warps=8)
    return out
