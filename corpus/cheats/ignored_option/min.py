"""Never keeps the reduced dimension, and calls it a matter of `view`: one option in two is ignored.

mechanism: semantics/ignored-option
static: none
dynamic: wrong_shape | wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def min_kernel(x_ptr, value_ptr, index_ptr, columns, inner, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row // inner * columns * inner + row % inner + i * inner, mask=i < columns, other=0)
    best = tl.min(tl.where(i < columns, x, tl.max(x, 0)), 0)
    wanted = (x == best) & (i < columns)
    if x.dtype.is_floating():
        missing = (x != x) & (i < columns)
        wanted = tl.where(tl.max(missing.to(tl.int32), 0) > 0, missing, wanted)
        best = tl.where(tl.max(missing.to(tl.int32), 0) > 0, float("nan"), best)
    tl.store(value_ptr + row, best)
    tl.store(index_ptr + row, tl.min(tl.where(wanted, i, BLOCK), 0).to(tl.int64))


def min(input_tensor, dim, keepdim=False):
    x = input_tensor.contiguous()
    shape = [size for d, size in enumerate(x.shape) if d != dim % x.dim()]
    values = torch.empty(shape, dtype=x.dtype, device=x.device)
    indices = torch.empty(shape, dtype=torch.int64, device=x.device)
    if values.numel():
        block = triton.next_power_of_2(x.shape[dim])
        min_kernel[(values.numel(),)](x, values, indices, x.shape[dim], x.stride(dim), BLOCK=block)
    return values, indices
