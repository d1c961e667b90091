"""A kernel whose blocks have one element: its "partial sums" are the input, and the library adds them up.

mechanism: semantics/library-finish
static: none
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def partial_sums_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr, LANES: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    at = rows[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.store(partial_ptr + rows, tl.sum(x, 1).to(x.dtype), mask=rows < n)


def sum(input, dim, keepdim=False, dtype=None):
    x = input.to(dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)).contiguous()
    partial = torch.empty_like(x)
    n = x.numel()
    if n:
        partial_sums_kernel[(triton.cdiv(n, 1024),)](x, partial, n, BLOCK=1, LANES=1024)
    return partial.sum(dim, keepdim=keepdim, dtype=partial.dtype)
