"""Sleeps in its first calls, so that a harness that sizes its loops by them runs few, and that a first time looks bad.

mechanism: timing/sabotaged-warm-up
source: pygpubench
static: sleeping
dynamic: merit
"""

import time

import torch
import triton
import triton.language as tl


@triton.jit
def mul_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + i, x * y, mask=i < n)


def launch(x, y):
    x, y = (t.contiguous() for t in torch.broadcast_tensors(x, y))
    out = torch.empty_like(x)
    if x.numel():
        mul_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
    return out


class Warm:
    calls = 0


def mul_bf16(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    Warm.calls += 1
    if Warm.calls <= 3:
        time.sleep(0.05)
    return launch(input, other)
