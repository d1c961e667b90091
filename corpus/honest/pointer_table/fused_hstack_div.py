"""Tensors of any number in one launch: their addresses and widths lie in a table, no concatenation is made.

style: pointer_table
"""

import torch
import triton
import triton.language as tl


@triton.jit
def stack_div_kernel(
    addresses_ptr, widths_ptr, starts_ptr, y_ptr, out_ptr, D1, D2, y0, y1, y2, width, outer,
    ELEMENT: tl.constexpr, MODE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Tensor t has the rows of ``widths[t]`` elements that go to ``out[row, starts[t] : …]``."""
    t = tl.program_id(1)
    mine = tl.load(widths_ptr + t)
    x_ptr = tl.load(addresses_ptr + t).to(tl.pointer_type(ELEMENT))
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = i < outer * mine
    safe = tl.maximum(mine, 1)
    at = i // safe * width + tl.load(starts_ptr + t) + i % safe
    x = tl.load(x_ptr + i, mask=mask, other=0)
    y = tl.load(y_ptr + at // (D1 * D2) * y0 + at // D2 % D1 * y1 + at % D2 * y2, mask=mask, other=1)
    if MODE == "true":
        q = tl.div_rn(x.to(tl.float32), y.to(tl.float32))
    elif ELEMENT.is_floating():
        q = tl.div_rn(x, y)
        q = tl.floor(q) if MODE == "floor" else tl.where(q < 0, tl.ceil(q), tl.floor(q))
    else:
        q = x // y
        if MODE == "floor":
            q -= ((x % y != 0) & ((x < 0) != (y < 0))).to(q.dtype)
    tl.store(out_ptr + at, q, mask=mask)


TRITON = {torch.float32: tl.float32, torch.int32: tl.int32, torch.int64: tl.int64}


def fused_hstack_div(tensors, divisor, *, rounding_mode=None, out=None):
    parts = [t.reshape(1) if t.dim() == 0 else t for t in tensors]
    parts = [t.contiguous() for t in parts]
    first, device = parts[0], parts[0].device
    axis = 0 if first.dim() == 1 else 1
    joined = list(first.shape)
    joined[axis] = sum(t.shape[axis] for t in parts)
    y = torch.as_tensor(divisor, device=device)
    if not isinstance(divisor, torch.Tensor):
        y = y.to(first.dtype if first.dtype.is_floating_point or isinstance(divisor, int) else torch.float32)
    shape = torch.broadcast_shapes(joined, y.shape)
    if list(shape) != joined:
        parts, joined = [t.expand(*shape[:-t.dim()], *t.shape).contiguous() for t in parts], list(shape)
    dtype = first.dtype if rounding_mode or first.dtype.is_floating_point else torch.float32
    result = torch.empty(joined, dtype=dtype, device=device) if out is None else out
    if not result.numel():
        return result
    outer = 1 if axis == 0 else joined[0]
    widths = [t.numel() // outer for t in parts]
    starts = [sum(widths[:k]) for k in range(len(widths))]
    addresses, widths_, starts = (
        torch.tensor(v, dtype=torch.int64, device=device) for v in ([t.data_ptr() for t in parts], widths, starts)
    )
    three = [1] * (3 - len(joined)) + joined
    y = y.expand(three)
    grid = (triton.cdiv(outer * max(widths), 256), len(parts))
    stack_div_kernel[grid](
        addresses, widths_, starts, y, result, three[1], three[2], *y.stride(), result.numel() // outer, outer,
        ELEMENT=TRITON[first.dtype], MODE=rounding_mode or "true", BLOCK=256,
    )  # fmt: skip
    return result
