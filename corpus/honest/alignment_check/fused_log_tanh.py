"""Looks at addresses and strides before it launches: aligned, dense memory is read as it lies, all else is copied first.

style: alignment_check
"""

import torch
import triton
import triton.language as tl


@triton.jit
def log_tanh_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    # (x² - 1) / (x² + 1) with x - 1 exact near 1, and by 1/x above, where x² could overflow
    small = tl.where(x > 1.0, 1.0 / x, x)
    y = (small - 1.0) * (small + 1.0) / (small * small + 1.0)
    direct = (x - 1.0) * (x + 1.0) / (x * x + 1.0)
    tl.store(out_ptr + i, tl.where(x < 2.0, direct, -y), mask=i < n)


def dense(tensor):
    """Contiguous, and at an address that allows 16-byte loads."""
    if tensor.is_contiguous() and tensor.data_ptr() % 16 == 0 and tensor.storage_offset() * 4 % 16 == 0:
        return tensor
    return tensor.clone(memory_format=torch.contiguous_format)


def fused_log_tanh(input, out=None):
    x = dense(input)
    result = torch.empty_like(x) if out is None else out
    assert result.data_ptr() != x.data_ptr() or not x.numel(), "out must not be the input"
    if x.numel():
        log_tanh_kernel[(triton.cdiv(x.numel(), 1024),)](x, result, x.numel(), BLOCK=1024)
    return result
