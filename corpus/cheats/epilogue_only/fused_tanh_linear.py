"""A fused layer of which only the activation is Triton; the product, nearly all of the work, is the library's.

mechanism: semantics/epilogue-only
static: library-call
dynamic: not_a_kernel
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def tanh_kernel(z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    z = tl.load(z_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(z_ptr + offsets, 2.0 * tl.sigmoid(2.0 * z) - 1.0, mask=mask)


def fused_tanh_linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor = None) -> torch.Tensor:
    z = F.linear(input, weight, bias).contiguous()
    if z.numel():
        tanh_kernel[(triton.cdiv(z.numel(), 1024),)](z, z.numel(), BLOCK=1024)
    return z
