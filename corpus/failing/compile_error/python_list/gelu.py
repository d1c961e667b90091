"""Collects values in a Python list inside the kernel: fine for the interpreter, rejected by the compiler.

Must end as `compile_error`, on a machine without a GPU too.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    factors = []
    if TANH:
        factors.append(tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x)))
    else:
        factors.append(0.5 * (1.0 + tl.erf(x * 0.7071067811865476)))
    for factor in factors:
        x = x * factor
    tl.store(out_ptr + offsets, x, mask=mask)


def gelu(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_kernel[(triton.cdiv(n, 1024),)](x, out, n, TANH=approximate == "tanh", BLOCK=1024)
    return out
