"""Power by logarithm and exponential; integer exponents keep the sign of the base.

breaks: batch_broadcast, dtype:float16, non_contiguous, out_argument
"""

import torch
import triton
import triton.language as tl


@triton.jit
def pow_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    power = tl.where(y == 0.0, 1.0, tl.exp2(y * tl.log2(tl.abs(x))))
    whole = tl.floor(y) == y
    odd = whole & (tl.floor(y * 0.5) * 2.0 != y)
    power = tl.where((x < 0) & odd, -power, power)
    tl.store(out_ptr + i, tl.where((x < 0) & (whole == 0), float("nan"), power), mask=i < n)


def pow(input_tensor, exponent, out=None):
    if not torch.is_tensor(exponent):
        exponent = torch.full_like(input_tensor, exponent)
    result = torch.empty_like(input_tensor)
    n = result.numel()
    pow_kernel[(triton.cdiv(n, 1024),)](input_tensor, exponent, result, n, BLOCK=1024)
    return result
