"""One program computes one block of the result; broadcast arguments are walked by their strides, which are 0 there.

Shapes are padded to four dimensions. Numbers are passed as they are, so that no memory is read for them.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_sub_kernel(
    x_ptr, y_ptr, z_ptr, y_number, z_number, alpha, out_ptr, n, D1, D2, D3,
    x0, x1, x2, x3, y0, y1, y2, y3, z0, z1, z2, z3,
    Y_NUMBER: tl.constexpr, Z_NUMBER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    i3, rest = i % D3, i // D3
    i2, rest = rest % D2, rest // D2
    i1, i0 = rest % D1, rest // D1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=mask, other=0)
    if Y_NUMBER:
        product = x * y_number
    else:
        product = x * tl.load(y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3, mask=mask, other=0)
    if Z_NUMBER:
        result = product - alpha * z_number
    else:
        result = product - alpha * tl.load(z_ptr + i0 * z0 + i1 * z1 + i2 * z2 + i3 * z3, mask=mask, other=0)
    tl.store(out_ptr + i, result, mask=mask)


def four_dims(tensor, shape):
    """A view broadcast to ``shape``, with four dimensions; what is beyond is folded into the first."""
    tensor = tensor.expand(shape)
    if tensor.dim() > 4:
        return tensor.reshape(-1, *tensor.shape[-3:])
    return tensor[(None,) * (4 - tensor.dim())]


def fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None):
    tensors = [t for t in (input, other_mul, other_sub) if isinstance(t, torch.Tensor)]
    shape = torch.broadcast_shapes(*(t.shape for t in tensors))
    if out is None:
        out = torch.empty(shape, dtype=input.dtype, device=input.device)
    n = out.numel()
    if n:
        number = float if input.is_floating_point() else int
        y_number, z_number = (not isinstance(t, torch.Tensor) for t in (other_mul, other_sub))
        x = four_dims(input, shape)
        y = x if y_number else four_dims(other_mul, shape)
        z = x if z_number else four_dims(other_sub, shape)
        mul_sub_kernel[(triton.cdiv(n, 1024),)](
            x, y, z, number(other_mul) if y_number else 0, number(other_sub) if z_number else 0, number(alpha), out, n,
            *x.shape[1:], *x.stride(), *y.stride(), *z.stride(), Y_NUMBER=y_number, Z_NUMBER=z_number, BLOCK=1024,
        )  # fmt: skip
    return out
