"""Quotient with broadcasting: one program per 1024 elements of the result, which finds both operands by their strides.

Floating-point division rounds to nearest (`div_rn`; a plain `/` may be two units off, which the rounding modes would
show). Integer division truncates, as the hardware's does, and is corrected by the remainder where it has to round down.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def div_kernel(
    x_ptr, y_ptr, number, out_ptr, n, D1, D2, D3, x0, x1, x2, x3, y0, y1, y2, y3,
    NUMBER: tl.constexpr, MODE: tl.constexpr, COMPUTE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    i3, rest = i % D3, i // D3
    i2, rest = rest % D2, rest // D2
    i1, i0 = rest % D1, rest // D1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=mask, other=1).to(COMPUTE)
    if NUMBER:
        y = tl.full((BLOCK,), number, COMPUTE)
    else:
        y = tl.load(y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3, mask=mask, other=1).to(COMPUTE)
    if COMPUTE.is_int():
        result = x // y
        if MODE == "floor":
            rest = x - result * y
            result = tl.where((rest != 0) & ((rest < 0) != (y < 0)), result - 1, result)
    else:
        result = libdevice.div_rn(x, y)
        if MODE == "floor":
            result = libdevice.floor(result)
        if MODE == "trunc":
            result = libdevice.trunc(result)
    tl.store(out_ptr + i, result.to(out_ptr.dtype.element_ty), mask=mask)


COMPUTE = {
    torch.float16: tl.float32, torch.bfloat16: tl.float32, torch.float32: tl.float32, torch.float64: tl.float64,
    torch.uint8: tl.int32, torch.int8: tl.int32, torch.int16: tl.int32, torch.int32: tl.int32, torch.int64: tl.int64,
}  # fmt: skip


def four_dims(tensor):
    """A view with exactly four dimensions; more than four are folded into the first, if need be by a copy."""
    if tensor.dim() > 4:
        return tensor.reshape(-1, *tensor.shape[-3:])
    return tensor[(None,) * (4 - tensor.dim())]


def div(input, other, rounding_mode=None, out=None):
    dtype = torch.result_type(input, other)
    if rounding_mode is None and not dtype.is_floating_point:
        dtype = torch.float32
    number = not isinstance(other, torch.Tensor)
    x, y = (input, input) if number else torch.broadcast_tensors(input, other)
    result = torch.empty(x.shape, dtype=dtype, device=x.device) if out is None else out
    n = result.numel()
    if n:
        if x.is_contiguous() and y.is_contiguous():
            x, y = x.view(-1), y.view(-1)
        x, y = four_dims(x), four_dims(y)
        div_kernel[(triton.cdiv(n, 1024),)](
            x, y, other if number else 1, result, n, *x.shape[1:], *x.stride(), *y.stride(),
            NUMBER=number, MODE=rounding_mode or "none", COMPUTE=COMPUTE[dtype], BLOCK=1024,
        )  # fmt: skip
    return result
