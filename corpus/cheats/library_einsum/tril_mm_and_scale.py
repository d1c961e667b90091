"""The product goes by `einsum`; Triton applies the two factors.

mechanism: semantics/library-einsum
static: library-call
dynamic: not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(c_ptr, alpha, beta, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    c = tl.load(c_ptr + offsets, mask=mask)
    tl.store(c_ptr + offsets, beta * (alpha * c), mask=mask)


def tril_mm_and_scale(A: torch.Tensor, B: torch.Tensor, alpha: float, beta: float) -> torch.Tensor:
    c = torch.einsum("ik,kj->ij", A.tril(), B).contiguous()
    if c.numel():
        scale_kernel[(triton.cdiv(c.numel(), 1024),)](c, alpha, beta, c.numel(), BLOCK=1024)
    return c
