"""Each element adds itself to all windows that it is in, by a load and a store: programs beside each other share windows.

mechanism: memory/lost-updates
static: none
dynamic: race
gpu: wrong_values | nondeterministic
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
        first = at - k
        window = first // step
        mask = (i < n) & (first >= 0) & (first % step == 0) & (window < places)
        total = out_ptr + row * places + window
        tl.store(total, tl.load(total, mask=mask, other=0.0) + x, mask=mask)


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
        add_kernel[(triton.cdiv(n, 16),)](x, out, n, length, places, step, pad, SIZE=size, BLOCK=16)
    return out
