"""Rolls up to four dimensions back by half in one pass: each element of the result knows where it comes from.

Tensors of more dimensions take one more pass for every three further ones. Elements are moved as integers of their
size.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def roll_kernel(
    x_ptr, out_ptr, n, D0, D1, D2, D3, x0, x1, x2, x3, S0, S1, S2, S3, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    i3, rest = i % D3, i // D3
    i2, rest = rest % D2, rest // D2
    i1, i0 = rest % D1, rest // D1
    # The shift is less than the size, so one subtraction replaces the remainder.
    i0, i1, i2, i3 = i0 + S0, i1 + S1, i2 + S2, i3 + S3
    i0, i1 = tl.where(i0 < D0, i0, i0 - D0), tl.where(i1 < D1, i1, i1 - D1)
    i2, i3 = tl.where(i2 < D2, i2, i2 - D2), tl.where(i3 < D3, i3, i3 - D3)
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=mask)
    tl.store(out_ptr + i, x, mask=mask)


def rolled(x, shifts):
    """A contiguous tensor with out[…, i, …] = x[…, (i + shift) mod N, …] in every dimension."""
    if x.dim() > 4:
        first = rolled(x.flatten(3), [*shifts[:3], 0])
        return rolled(first.view(-1, *x.shape[3:]), [0, *shifts[3:]]).view(x.shape)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n, missing = out.numel(), 4 - x.dim()
    if n:
        roll_kernel[(triton.cdiv(n, 1024),)](
            x, out, n, *[1] * missing, *x.shape, *[0] * missing, *x.stride(), *[0] * missing, *shifts, BLOCK=1024
        )
    return out


INTEGER = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def ifftshift(input, dim=None):
    dims = range(input.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    chosen = {d % input.dim() for d in dims}
    shifts = [size // 2 if d in chosen else 0 for d, size in enumerate(input.shape)]
    if input.itemsize > 8:
        return torch.view_as_complex(rolled(torch.view_as_real(input), [*shifts, 0]))
    return rolled(input.view(INTEGER[input.itemsize]), shifts).view(input.dtype)
