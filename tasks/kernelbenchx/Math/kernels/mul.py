"""Broadcasting without copies: the kernel walks both factors by their strides, 0 where they are expanded.

Where both are contiguous and of the result's shape, the kernel is compiled without that arithmetic. Complex numbers are
pairs of real ones, which Triton knows.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_kernel(
    x_ptr, y_ptr, out_ptr, n, D1, D2, D3, x0, x1, x2, x3, y0, y1, y2, y3,
    FLAT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    if FLAT:
        x_at, y_at = i, i
    else:
        i3, rest = i % D3, i // D3
        i2, rest = rest % D2, rest // D2
        i1, i0 = rest % D1, rest // D1
        x_at = i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3
        y_at = i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3
    # both factors become the result's dtype first; a product of halves is rounded once
    x = tl.load(x_ptr + x_at, mask=mask).to(out_ptr.dtype.element_ty)
    y = tl.load(y_ptr + y_at, mask=mask).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + i, x * y, mask=mask)


@triton.jit
def complex_mul_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a, b = tl.load(x_ptr + 2 * i, mask=mask), tl.load(x_ptr + 2 * i + 1, mask=mask)
    c, d = tl.load(y_ptr + 2 * i, mask=mask), tl.load(y_ptr + 2 * i + 1, mask=mask)
    tl.store(out_ptr + 2 * i, a * c - b * d, mask=mask)
    tl.store(out_ptr + 2 * i + 1, a * d + b * c, mask=mask)


def complex_mul(x, y, result):
    n = result.numel()
    if n:
        parts = (torch.view_as_real(t.to(result.dtype).contiguous()) for t in (x, y))
        complex_mul_kernel[(triton.cdiv(n, 1024),)](*parts, torch.view_as_real(result), n, BLOCK=1024)
    return result


def four_dims(tensor):
    """A view with exactly four dimensions; more than four are folded into the first, if need be by a copy."""
    if tensor.dim() > 4:
        return tensor.reshape(-1, *tensor.shape[-3:])
    return tensor[(None,) * (4 - tensor.dim())]


def mul(input, other, out=None):
    dtype = torch.result_type(input, other)
    if not isinstance(other, torch.Tensor):
        other = torch.tensor(other, dtype=dtype, device=input.device)
    x, y = torch.broadcast_tensors(input, other)
    result = torch.empty(x.shape, dtype=dtype, device=x.device) if out is None else out
    if dtype.is_complex:
        return complex_mul(x, y, result)
    n = result.numel()
    if n:
        flat = x.is_contiguous() and y.is_contiguous()
        x, y = four_dims(x), four_dims(y)
        mul_kernel[(triton.cdiv(n, 2048),)](
            x, y, result, n, *x.shape[1:], *x.stride(), *y.stride(), FLAT=flat, BLOCK=2048
        )  # fmt: skip
    return result
