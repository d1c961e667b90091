"""The plain style: one kernel, one wrapper. GELU, exact and tanh form.

style: plain
source: correctness-illusion
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    if TANH:
        # 0.5 * (1 + tanh(u)) is sigmoid(2u): one exponential, and no cancellation for negative u
        y = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + offsets, y, mask=mask)


def gelu(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_kernel[(triton.cdiv(n, 1024),)](x, out, n, TANH=approximate == "tanh", BLOCK=1024)
    return out
