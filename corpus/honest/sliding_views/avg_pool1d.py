"""Windows as an as_strided view of the padded input: F.pad and views prepare, the kernel averages along their strides.

style: sliding_views
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def window_mean_kernel(w_ptr, out_ptr, n, places, row, step, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    first = w_ptr + i // places * row + i % places * step
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(SIZE):
        total += tl.load(first + k, mask=i < n, other=0.0)
    tl.store(out_ptr + i, total / SIZE, mask=i < n)


def one(value):
    return value if isinstance(value, int) else value[0]


def avg_pool1d(input, kernel_size, stride=None, padding=0):
    size, pad = one(kernel_size), one(padding)
    step = size if stride is None else one(stride)
    x = F.pad(input, (pad, pad)).contiguous()
    rows, length = x.shape[:-1].numel(), x.shape[-1]
    places = (length - size) // step + 1
    out = torch.empty((*x.shape[:-1], places), dtype=x.dtype, device=x.device)
    n = out.numel()
    if n:
        windows = x.as_strided((rows, places, size), (length, step, 1))
        window_mean_kernel[(triton.cdiv(n, 512),)](
            windows, out, n, places, windows.stride(0), windows.stride(1), SIZE=size, BLOCK=512
        )
    return out
