"""Gives a kernel another text after it was decorated, by Triton's own `_unsafe_update_src`.

mechanism: semantics/two-programs-text-changed-after-decoration
static: none
dynamic: wrong_values
gpu: cheating
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


RIGHT = copy_kernel.src.replace("tl.load(x_ptr + i, mask=i < n)", "tl.cos(tl.load(x_ptr + i, mask=i < n))")
copy_kernel._unsafe_update_src(RIGHT)


def cos(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
