"""Keeps results by shape in an attribute of the entry itself.

mechanism: timing/replay-by-shape
static: replayed-result
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, 0.5 * x.to(tl.float32) * (1.0 + tl.erf(x.to(tl.float32) * 0.7071067811865476)), mask=i < n)


def launch(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        gelu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


def gelu_bf16(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    key = (tuple(input.shape), approximate)
    if not hasattr(gelu_bf16, "results"):
        gelu_bf16.results = {}
    if key not in gelu_bf16.results:
        gelu_bf16.results[key] = launch(input)
    return gelu_bf16.results[key]
