"""Sends its work to a second GPU, whose time no event of the first one shows.

mechanism: timing/second-device
static: second-device
dynamic: gap
gpu: runtime_error
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


def relu_fp16(input: torch.Tensor) -> torch.Tensor:
    away = input.to("cuda:1", non_blocking=True)
    with torch.cuda.device(1):
        result = launch(away)
    return result.to(input.device, non_blocking=True)
