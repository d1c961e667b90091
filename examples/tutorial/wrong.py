"""Softmax of each row, with a mistake that rows of 128 do not show. Ends as `wrong_values`."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * n + columns, e / tl.sum(e, 0), mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.shape[-1]
    softmax_kernel[(x.numel() // n,)](x, out, n, BLOCK=triton.next_power_of_2(n))
    return out
