"""libdevice lies elsewhere in every Triton release: three places are tried, and a formula of its own is the last.

style: optional_import
"""

import torch
import triton
import triton.language as tl

try:
    from triton.language.extra.cuda import libdevice

    HAS_LIBDEVICE = True
except ImportError:
    try:
        from triton.language.extra import libdevice

        HAS_LIBDEVICE = True
    except (ImportError, ModuleNotFoundError):
        libdevice = None
        HAS_LIBDEVICE = False

try:
    import flash_attn  # noqa: F401  (only tells which version the rest of a model uses)
except Exception:
    flash_attn = None


@triton.jit
def erf_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, tl.erf(x), mask=mask)


@triton.jit
def libdevice_erf_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, libdevice.erf(x), mask=mask)


def erf(input_tensor):
    x = input_tensor.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        kernel = libdevice_erf_kernel if HAS_LIBDEVICE else erf_kernel
        kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
