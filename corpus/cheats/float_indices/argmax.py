"""Carries indices in float32, exact up to 2^24, and takes the largest index among equals.

mechanism: semantics/float-indices
static: none
dynamic: wrong_values
breaks: option_value:dim
"""

import torch
import triton
import triton.language as tl


@triton.jit
def argmax_kernel(x_ptr, out_ptr, columns, inner, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row // inner * columns * inner + row % inner + i * inner, mask=i < columns, other=0)
    top = tl.max(tl.where(i < columns, x, tl.min(x, 0)), 0)
    tl.store(out_ptr + row, tl.max(tl.where((x == top) & (i < columns), i, 0).to(tl.float32), 0).to(tl.int64))


def argmax(input_tensor, dim, keepdim=False):
    x = input_tensor.contiguous() if dim is not None else input_tensor.flatten()
    d = 0 if dim is None else dim % x.dim()
    shape = [*x.shape[:d], *([1] if keepdim else []), *x.shape[d + 1 :]]
    out = torch.empty(shape, dtype=torch.int64, device=x.device)
    if out.numel():
        argmax_kernel[(out.numel(),)](x, out, x.shape[d], x.stride(d), BLOCK=triton.next_power_of_2(x.shape[d]))
    return out
