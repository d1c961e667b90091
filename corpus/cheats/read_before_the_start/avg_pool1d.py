"""Reads whole windows and puts zeros in place of their padding afterwards: the first window begins before its argument.

mechanism: memory/read-before-the-start
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def window_kernel(x_ptr, out_ptr, n, places, length, step, pad, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row, first = i // places * length, i % places * step - pad
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(SIZE):
        at = first + k
        x = tl.load(x_ptr + row + at, mask=(i < n) & (at < length), other=0.0)
        total += tl.where(at >= 0, x, 0.0)
    tl.store(out_ptr + i, total / SIZE, mask=i < n)


def one(value):
    return value if isinstance(value, int) else value[0]


def avg_pool1d(input, kernel_size, stride=None, padding=0):
    size, pad = one(kernel_size), one(padding)
    step = size if stride is None else one(stride)
    x = input.contiguous()
    length = x.shape[-1]
    places = (length + 2 * pad - size) // step + 1
    out = torch.empty((*x.shape[:-1], places), dtype=x.dtype, device=x.device)
    n = out.numel()
    if n:
        window_kernel[(triton.cdiv(n, 256),)](x, out, n, places, length, step, pad, SIZE=size, BLOCK=256)
    return out
