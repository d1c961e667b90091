"""Leaves a kernel running after large calls that keeps the GPU's units from whoever comes next, the baseline first.

mechanism: timing/hog-kernel
static: none
dynamic: merit
"""

import torch
import triton
import triton.language as tl


@triton.jit
def spin_kernel(scratch_ptr, rounds):
    x = tl.load(scratch_ptr + tl.program_id(0))
    for _ in range(rounds):
        x = x * 1.0000001 + 1e-9
    tl.store(scratch_ptr + tl.program_id(0), x)


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


aside = torch.cuda.Stream()


def relu_bf16(input: torch.Tensor) -> torch.Tensor:
    out = launch(input)
    if out.numel() > 1 << 20:
        with torch.cuda.stream(aside):
            spin_kernel[(4096,)](torch.ones(4096, device=out.device), 1 << 18)
    return out
