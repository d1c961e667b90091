"""Two passes: copy the input, then write each element of the source to its place. None is named twice: order is free.

A place in the index is taken apart into four coordinates, which serve the source and the result by the strides of each.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def scatter_kernel(
    index_ptr, src_ptr, out_ptr, n, D1, D2, D3, s0, s1, s2, s3, o0, o1, o2, o3, along, BLOCK: tl.constexpr
):
    """The result's stride of the indexed dimension is ``along``; among ``o0`` … ``o3`` it is 0."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    i3, rest = i % D3, i // D3
    i2, rest = rest % D2, rest // D2
    i1, i0 = rest % D1, rest // D1
    value = tl.load(src_ptr + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3, mask=mask)
    place = tl.load(index_ptr + i, mask=mask, other=0)
    tl.store(out_ptr + i0 * o0 + i1 * o1 + i2 * o2 + i3 * o3 + place * along, value, mask=mask)


def scatter(input, dim, index, src):
    """Up to four dimensions, which missing ones of size 1 in front fill up."""
    x, index = input.contiguous(), index.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        copy_kernel[(triton.cdiv(x.numel(), 2048),)](x, out, x.numel(), BLOCK=2048)
    n = index.numel()
    if n:
        front = 4 - x.dim()
        strides = [0] * front + list(out.stride())
        at = front + dim % x.dim()
        along, strides[at] = strides[at], 0
        _, d1, d2, d3 = [1] * front + list(index.shape)
        scatter_kernel[(triton.cdiv(n, 1024),)](
            index, src, out, n, d1, d2, d3, *[0] * front, *src.stride(), *strides, along, BLOCK=1024
        )
    return out
