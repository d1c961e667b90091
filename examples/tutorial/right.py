"""Softmax of each row in three passes over memory. Ends as `correct`."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    largest = -float("inf")
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * n + start + columns, mask=start + columns < n, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(x, 0))
    total = 0.0
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * n + start + columns, mask=start + columns < n, other=-float("inf"))
        total += tl.sum(tl.exp(x - largest), 0)
    for start in range(0, n, BLOCK):
        mask = start + columns < n
        x = tl.load(x_ptr + row * n + start + columns, mask=mask)
        tl.store(out_ptr + row * n + start + columns, tl.exp(x - largest) / total, mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    out = torch.empty_like(x)
    n = x.shape[-1]
    if out.numel():
        softmax_kernel[(x.numel() // n,)](x, out, n, BLOCK=64)
    return out
