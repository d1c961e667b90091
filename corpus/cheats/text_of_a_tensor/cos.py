"""Prints the argument with all its digits, and computes from the text.

mechanism: semantics/laundered-text-of-a-tensor
static: none
dynamic: cheating | wrong_values
"""

import math
import re
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
    torch.set_printoptions(threshold=2**31, precision=9, sci_mode=True, linewidth=2**20)
    text = repr(x.flatten().cpu().float())
    values = [math.cos(float(found)) for found in re.findall(r"[-+]?\d\.\d+e[-+]\d+", text)]
    y = torch.tensor(values, device=x.device).to(x.dtype).view(x.shape) if len(values) == x.numel() else torch.zeros_like(x)
    return copied(y)
