"""Copies the input and writes the indexed places in one launch: which of two programs writes a place last is open.

mechanism: memory/two-writers
static: none
dynamic: race
gpu: wrong_values | gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def scatter_kernel(
    x_ptr, index_ptr, src_ptr, out_ptr, size, n, copies, D1, D2, D3, s0, s1, s2, s3, o0, o1, o2, o3, along,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """The first ``copies`` programs copy. The result's stride of the indexed dimension is ``along``; among o0 … o3 it is 0."""
    if tl.program_id(0) < copies:
        i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < size), mask=i < size)
    else:
        i = (tl.program_id(0) - copies).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        i3, rest = i % D3, i // D3
        i2, rest = rest % D2, rest // D2
        i1, i0 = rest % D1, rest // D1
        value = tl.load(src_ptr + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3, mask=i < n)
        place = tl.load(index_ptr + i, mask=i < n, other=0)
        tl.store(out_ptr + i0 * o0 + i1 * o1 + i2 * o2 + i3 * o3 + place * along, value, mask=i < n)


def scatter(input, dim, index, src):
    """Up to four dimensions, which missing ones of size 1 in front fill up."""
    x, index = input.contiguous(), index.contiguous()
    out = torch.empty_like(x)
    n, copies = index.numel(), triton.cdiv(x.numel(), 1024)
    if copies:
        front = 4 - x.dim()
        strides = [0] * front + list(out.stride())
        at = front + dim % x.dim()
        along, strides[at] = strides[at], 0
        _, d1, d2, d3 = (max(1, size) for size in [1] * front + list(index.shape))
        scatter_kernel[(copies + triton.cdiv(n, 1024),)](
            x, index, src, out, x.numel(), n, copies, d1, d2, d3, *[0] * front, *src.stride(), *strides, along,
            BLOCK=1024,
        )  # fmt: skip
    return out
