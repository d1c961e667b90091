"""Output element by output element.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def avg_pool1d_kernel(x_ptr, out_ptr, n, length, places, stride, padding, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(SIZE):
        place = (i % places) * stride - padding + k
        inside = (i < n) & (place >= 0) & (place < length)
        total += tl.load(x_ptr + (i // places) * length + place, mask=inside, other=0.0)
    tl.store(out_ptr + i, total / SIZE, mask=i < n)


def one(value):
    return value[0] if isinstance(value, tuple) else value


def avg_pool1d(input, kernel_size, stride=None, padding=0):
    size, padding = one(kernel_size), one(padding)
    stride = size if stride is None else one(stride)
    length = input.shape[-1]
    places = (length + 2 * padding - size) // stride + 1
    out = input.new_empty(*input.shape[:-1], places)
    n = out.numel()
    avg_pool1d_kernel[(triton.cdiv(n, 256),)](input, out, n, length, places, stride, padding, SIZE=size, BLOCK=256)
    return out
