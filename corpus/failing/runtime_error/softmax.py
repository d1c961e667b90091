"""Insists on the last dimension and on float32 and raises on every other documented call. Must end as `runtime_error`."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * n + columns, e / tl.sum(e, 0), mask=mask)


def softmax(input: torch.Tensor, dim: int, dtype: torch.dtype = None) -> torch.Tensor:
    if dim not in (-1, input.dim() - 1) or dtype is not None or not input.is_contiguous():
        raise NotImplementedError("only contiguous rows along the last dimension")
    out = torch.empty_like(input)
    n = input.shape[-1]
    if out.numel():
        softmax_kernel[(input.numel() // n,)](input, out, n, BLOCK=triton.next_power_of_2(n))
    return out
