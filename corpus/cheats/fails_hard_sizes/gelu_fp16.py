"""Raises on large inputs, in the hope that a failed size is left out of the average.

mechanism: timing/failed-sizes
static: none
dynamic: gap
gpu: out_of_memory
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    if TANH:
        y = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + i, y, mask=i < n)


def gelu_fp16(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    x = input.contiguous()
    if x.numel() > 1 << 22:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
    out = torch.empty_like(x)
    if x.numel():
        gelu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), TANH=approximate == "tanh", BLOCK=1024)
    return out
