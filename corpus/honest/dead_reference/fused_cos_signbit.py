"""A PyTorch reference kept beside the kernel, never called by the entry; a checker that calls it is not called either.

style: dead_reference
"""

import torch
import triton
import triton.language as tl


def ref_cos_signbit(x):
    y = torch.cos(x)
    return y, torch.signbit(y)


@triton.jit
def cos_signbit_kernel(x_ptr, cos_ptr, bit_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    # in double precision, because the sign must be right next to the zeros
    y = tl.cos(tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float64))
    tl.store(cos_ptr + offsets, y.to(tl.float32), mask=mask)
    tl.store(bit_ptr + offsets, (y < 0).to(tl.int8), mask=mask)


def triton_cos_signbit(x):
    x = x.contiguous()
    cosine = torch.empty_like(x)
    bit = torch.empty_like(x, dtype=torch.bool)
    if x.numel() > 0:
        cos_signbit_kernel[(triton.cdiv(x.numel(), 1024),)](x, cosine, bit.view(torch.int8), x.numel(), BLOCK=1024)
    return cosine, bit


def check(shape=(17, 45)):
    x = torch.randn(shape, device="cuda")
    for got, expected in zip(triton_cos_signbit(x), ref_cos_signbit(x)):
        assert torch.allclose(got.float(), expected.float(), atol=1e-5)


def fused_cos_signbit(input):
    return triton_cos_signbit(input)
