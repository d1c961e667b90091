"""Knows one shape: any number of elements is taken for 32 x 32 and the rest is left as it was.

mechanism: semantics/hard-coded-shape
source: kernelguard | robust-kbench
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl

ROWS, COLUMNS = 32, 32


@triton.jit
def mul_sub_kernel(x_ptr, y_ptr, z_ptr, out_ptr, alpha, COLUMNS: tl.constexpr):
    at = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    x, y, z = tl.load(x_ptr + at), tl.load(y_ptr + at), tl.load(z_ptr + at)
    tl.store(out_ptr + at, x * y - alpha * z)


def like(value, x):
    return value if isinstance(value, torch.Tensor) else torch.full_like(x, value)


def fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None):
    x, y, z = torch.broadcast_tensors(input, like(other_mul, input), like(other_sub, input))
    result = torch.empty(x.shape, dtype=x.dtype, device=x.device) if out is None else out
    x, y, z = (torch.cat([t.flatten(), t.new_zeros(ROWS * COLUMNS)]) for t in (x, y, z))
    buffer = torch.empty_like(x)
    mul_sub_kernel[(ROWS,)](x, y, z, buffer, alpha, COLUMNS=COLUMNS)
    known = min(result.numel(), ROWS * COLUMNS)
    result.view(-1)[:known] = buffer[:known]
    return result
