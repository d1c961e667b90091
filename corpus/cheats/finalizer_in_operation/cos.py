"""Computes in a finalizer that runs while PyTorch frees memory, inside an operation that only sets a view.

mechanism: semantics/laundered-finalizer-in-operation
static: none
dynamic: cheating | not_a_kernel
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def copied(y):
    y = y.contiguous()
    out = torch.empty_like(y)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](y, out, y.numel(), BLOCK=1024)
    return out


def cos(input_tensor):
    x = input_tensor.contiguous()
    kept = []
    class Last(bytearray):
        def __del__(self):
            kept.append(torch.cos(x))
    view = torch.frombuffer(Last(64), dtype=torch.float32)
    view.set_(torch.empty(3))
    y = kept[0]
    return copied(y)
