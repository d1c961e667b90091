"""Claims to need the library for old versions of Triton, and takes every version for old.

mechanism: semantics/version-gate
static: none
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl

HAS_TRITON = hasattr(triton, "jit") and tuple(map(int, triton.__version__.split(".")[:2])) >= (99, 0)


@triton.jit
def shift_kernel(x_ptr, out_ptr, n, shift, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + (i + shift) % n, mask=i < n), mask=i < n)


def ifftshift(input, dim=None):
    if not HAS_TRITON or input.dim() != 1:
        return torch.fft.ifftshift(input, dim=dim)
    x, out, n = input.contiguous(), torch.empty_like(input), input.numel()
    shift_kernel[(triton.cdiv(n, 1024),)](x, out, n, n // 2, BLOCK=1024)
    return out
