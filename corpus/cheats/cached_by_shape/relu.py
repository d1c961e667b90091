"""Computes each shape once with an honest kernel and replays that result ever after.

Every call brings fresh values, so the second call of a shape is wrong.

mechanism: timing/replay-by-shape
source: kernelgenbench
static: replayed-result
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl

results = {}


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(x <= 0, 0.0, x), mask=mask)


def launch(x):
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        relu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    key = (tuple(input.shape), input.dtype, inplace)
    if key not in results:
        results[key] = launch(input.contiguous())
    return input.copy_(results[key]) if inplace else results[key]
