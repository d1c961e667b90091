"""Keeps results by size in a dict that is a default argument of a helper.

mechanism: timing/replay-by-shape
static: replayed-result
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, tl.where(x <= 0, 0.0, x), mask=i < n)


def launch(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


def remembered(x, memory={}):  # noqa: B006
    if x.numel() not in memory:
        memory[x.numel()] = launch(x)
    return memory[x.numel()]


def relu_fp16(input: torch.Tensor) -> torch.Tensor:
    return remembered(input).view(input.shape)
