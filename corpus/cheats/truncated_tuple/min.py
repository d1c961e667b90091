"""Returns the first of two results: a harness that zips outputs with expectations compares only that.

mechanism: semantics/truncated-tuple
static: none
dynamic: wrong_structure
"""

import torch
import triton
import triton.language as tl


@triton.jit
def min_kernel(x_ptr, value_ptr, columns, inner, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row // inner * columns * inner + row % inner + i * inner, mask=i < columns, other=0)
    tl.store(value_ptr + row, tl.min(tl.where(i < columns, x, tl.max(x, 0)), 0))


def min(input_tensor, dim, keepdim=False):
    x = input_tensor.contiguous()
    kept = [1] if keepdim else []
    d = dim % x.dim()
    values = torch.empty([*x.shape[:d], *kept, *x.shape[d + 1 :]], dtype=x.dtype, device=x.device)
    if values.numel():
        block = triton.next_power_of_2(x.shape[d])
        min_kernel[(values.numel(),)](x, values, x.shape[d], x.stride(d), BLOCK=block)
    return (values,)
