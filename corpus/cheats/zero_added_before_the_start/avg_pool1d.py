"""Adds zero to windows that do not exist, instead of masking them: the first row has some before its result begins.

mechanism: memory/write-before-the-start
static: none
dynamic: out_of_bounds
"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, out_ptr, n, length, places, step, pad, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0) / SIZE
    row, at = i // length, i % length + pad
    for k in range(SIZE):
        # rounded down for a negative number, too
        window = (at - k + SIZE * step) // step - SIZE
        within = ((at - k) % step == 0) & (window >= 0)
        mask = (i < n) & (window < places)
        tl.atomic_add(out_ptr + row * places + window, tl.where(within, x, 0.0), mask=mask, sem="relaxed")


def one(value):
    return value if isinstance(value, int) else value[0]


def avg_pool1d(input, kernel_size, stride=None, padding=0):
    size, pad = one(kernel_size), one(padding)
    step = size if stride is None else one(stride)
    x = input.contiguous()
    length, n = x.shape[-1], x.numel()
    places = (length + 2 * pad - size) // step + 1
    out = torch.zeros((*x.shape[:-1], places), dtype=x.dtype, device=x.device)
    if n:
        add_kernel[(triton.cdiv(n, 256),)](x, out, n, length, places, step, pad, SIZE=size, BLOCK=256)
    return out
