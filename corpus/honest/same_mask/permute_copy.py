"""Loads without `other` that are stored under the very mask: what their undefined lanes hold goes nowhere.

style: same_mask
"""

import torch
import triton
import triton.language as tl


@triton.jit
def permute_kernel(
    x_ptr, out_ptr, n, D1, D2, D3, D4, s0, s1, s2, s3, s4, BLOCK: tl.constexpr
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    i4, rest = i % D4, i // D4
    i3, rest = rest % D3, rest // D3
    i2, rest = rest % D2, rest // D2
    i1, i0 = rest % D1, rest // D1
    x = tl.load(x_ptr + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3 + i4 * s4, mask=mask)
    tl.store(out_ptr + i, x, mask=mask)


def permute_copy(input, dims):
    """Up to five dimensions, which missing ones of size 1 in front fill up."""
    x = input.permute(dims)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        front = 5 - x.dim()
        _, *shape = [1] * front + list(x.shape)
        strides = [0] * front + list(x.stride())
        permute_kernel[(triton.cdiv(out.numel(), 512),)](x, out, out.numel(), *shape, *strides, BLOCK=512)
    return out
