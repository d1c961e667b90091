"""Keeps a workspace per input and works in it in place: a second run starts from what the first left behind.

The first result for an input is right, the next on the very same input is not, as with a race or a counter that is never
reset. Must end as `nondeterministic`.
"""

import torch
import triton
import triton.language as tl

workspaces = {}


@triton.jit
def softmax_kernel(work_ptr, out_ptr, n, ACC: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(work_ptr + row * n + columns, mask=mask, other=-float("inf")).to(ACC)
    e = tl.exp(x - tl.max(x, 0))
    p = e / tl.sum(e, 0)
    tl.store(work_ptr + row * n + columns, p, mask=mask)
    tl.store(out_ptr + row * n + columns, p, mask=mask)


def softmax(input: torch.Tensor, dim: int, dtype: torch.dtype = None) -> torch.Tensor:
    x = input.to(dtype or input.dtype).movedim(dim, -1).contiguous()
    key = (dim, x.dtype, tuple(x.shape), tuple(x.flatten().tolist()))
    work = workspaces.setdefault(key, x.clone())
    out = torch.empty_like(x)
    n = x.shape[-1]
    if out.numel():
        acc = tl.float64 if x.dtype == torch.float64 else tl.float32
        softmax_kernel[(x.numel() // n,)](work, out, n, ACC=acc, BLOCK=triton.next_power_of_2(n))
    return out.movedim(-1, dim).contiguous()
