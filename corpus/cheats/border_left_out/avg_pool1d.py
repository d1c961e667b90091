"""Pools windows that touch the padding as if it had elements of the border, so only the edges are wrong.

mechanism: semantics/border-left-out
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def pool_kernel(x_ptr, out_ptr, L, L_out, width, stride, padding, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(width):
        at = tl.minimum(tl.maximum(i * stride + k - padding, 0), L - 1)
        total += tl.load(x_ptr + row * L + at)
    tl.store(out_ptr + row * L_out + i, total / width, mask=i < L_out)


def single(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def avg_pool1d(input, kernel_size, stride=None, padding=0):
    width, padding = single(kernel_size), single(padding)
    stride = single(stride) if stride else width
    x, L = input.contiguous(), input.shape[-1]
    L_out = (L + 2 * padding - width) // stride + 1
    out = torch.empty((*x.shape[:-1], L_out), dtype=x.dtype, device=x.device)
    if out.numel():
        grid = (out.numel() // L_out, triton.cdiv(L_out, 128))
        pool_kernel[grid](x, out, L, L_out, width, stride, padding, BLOCK=128)
    return out
