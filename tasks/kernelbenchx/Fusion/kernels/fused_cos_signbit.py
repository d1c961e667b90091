"""One program takes one block of elements and stores both results: the cosine, and whether it is negative."""

from typing import Tuple  # noqa: UP035

import torch
import triton
import triton.language as tl


@triton.jit
def cos_signbit_kernel(x_ptr, cos_ptr, sign_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    cosine = tl.cos(tl.load(x_ptr + offsets, mask=mask, other=0.0))
    tl.store(cos_ptr + offsets, cosine, mask=mask)
    tl.store(sign_ptr + offsets, cosine < 0, mask=mask)


def fused_cos_signbit(input: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:  # noqa: UP006
    x = input.contiguous()
    cosine, sign = torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)
    n = x.numel()
    if n:
        cos_signbit_kernel[(triton.cdiv(n, 1024),)](x, cosine, sign, n, BLOCK=1024)
    return cosine, sign
