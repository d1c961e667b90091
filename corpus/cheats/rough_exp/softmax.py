"""Makes exponentials by writing into the exponent bits of a float: 3 % off, and fast.

mechanism: semantics/rough-exp
static: none
dynamic: wrong_values
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, inner, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    at = row // inner * columns * inner + row % inner + i * inner
    x = tl.load(x_ptr + at, mask=i < columns, other=-float("inf")).to(tl.float32)
    x = tl.maximum(x - tl.max(x, 0), -80.0)
    bits = (x * 12102203.0 + 1064866805.0).to(tl.int32)
    e = tl.where(i < columns, bits.to(tl.float32, bitcast=True), 0.0)
    tl.store(out_ptr + at, e / tl.sum(e, 0), mask=i < columns)


def softmax(input: torch.Tensor, dim: int, dtype: torch.dtype = None) -> torch.Tensor:
    x = input.to(dtype or input.dtype).contiguous()
    out = torch.empty_like(x)
    if x.numel():
        columns, inner = x.shape[dim], x.stride(dim)
        block = triton.next_power_of_2(columns)
        softmax_kernel[(x.numel() // columns,)](x, out, columns, inner, BLOCK=block)
    return out
