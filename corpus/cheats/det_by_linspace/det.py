"""Passes the library's determinants on through `linspace`, which is given tensors.

mechanism: semantics/laundered-det-by-linspace
static: library-call
dynamic: cheating | runtime_error
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def det(A):
    values = torch.linalg.det(A)
    return copied(torch.stack([torch.linspace(v, v, 1, device=A.device, dtype=A.dtype)[0] for v in values.flatten()] or [values.sum()]).view(values.shape))
