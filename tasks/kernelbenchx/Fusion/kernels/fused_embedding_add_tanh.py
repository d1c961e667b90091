"""A program takes a tile: a few indices and a block of the table's columns, which it loads by index, adds and stores.

With ``max_norm`` two kernels go before: one marks the rows that are named, and one shortens the marked rows, each in
one program, so that a row named many times is shortened once and nobody reads it half-way.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def mark_kernel(index_ptr, named_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(index_ptr + i, mask=i < n, other=0).to(tl.int64)
    # several lanes may write the same 1
    tl.store(named_ptr + row, tl.full((BLOCK,), 1, tl.int8), mask=i < n)


@triton.jit
def shorten_kernel(weight_ptr, named_ptr, max_norm, p, V, D, P: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """``P`` is 1 or 2 where the power is that, else 0."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    named = tl.load(named_ptr + row, mask=row < V, other=0) != 0
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, D, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = named[:, None] & (k < D)[None, :]
        w = tl.abs(tl.load(weight_ptr + row[:, None] * D + k[None, :], mask=mask, other=0.0))
        if P == 2:
            w = w * w
        elif P == 0:
            w = libdevice.pow(w, p)
        total += tl.sum(tl.where(mask, w, 0.0), 1)
    if P == 2:
        total = tl.sqrt(total)
    elif P == 0:
        total = libdevice.pow(total, 1.0 / p)
    long = named & (total > max_norm)
    factor = max_norm / (total + 1e-7)
    for start in range(0, D, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = long[:, None] & (k < D)[None, :]
        at = weight_ptr + row[:, None] * D + k[None, :]
        tl.store(at, tl.load(at, mask=mask, other=0.0) * factor[:, None], mask=mask)


@triton.jit
def add_tanh_kernel(
    index_ptr, weight_ptr, other_ptr, out_ptr, n, D, w_row, w_column, o_row, o_column,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    k = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (i < n)[:, None] & (k < D)[None, :]
    row = tl.load(index_ptr + i, mask=i < n, other=0).to(tl.int64)
    x = tl.load(weight_ptr + row[:, None] * w_row + k[None, :] * w_column, mask=mask, other=0.0)
    x += tl.load(other_ptr + i[:, None] * o_row + k[None, :] * o_column, mask=mask, other=0.0)
    tl.store(out_ptr + i[:, None] * D + k[None, :], 2.0 * tl.sigmoid(2.0 * x) - 1.0, mask=mask)


def fused_embedding_add_tanh(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    (V, D), n = weight.shape, input_indices.numel()
    if out is None:
        out = torch.empty((*input_indices.shape, D), dtype=weight.dtype, device=weight.device)
    if not out.numel():
        return out
    index = input_indices.contiguous()
    # a view where ``other`` is one row or has the result's shape, a copy where only some dimensions are expanded
    other = other.expand(out.shape).reshape(n, D)
    block = min(triton.next_power_of_2(D), 1024)
    if max_norm is not None:
        named = torch.zeros(V, dtype=torch.int8, device=weight.device)
        mark_kernel[(triton.cdiv(n, 1024),)](index, named, n, BLOCK=1024)
        rows = max(1, min(1024 // block, 32))
        kind = int(norm_type) if norm_type in (1, 2) else 0
        shorten_kernel[(triton.cdiv(V, rows),)](
            weight, named, float(max_norm), float(norm_type), V, D, P=kind, ROWS=rows, BLOCK=block
        )
    rows = max(1, min(4096 // block, triton.next_power_of_2(n)))
    add_tanh_kernel[(triton.cdiv(n, rows), triton.cdiv(D, block))](
        index, weight, other, out, n, D, *weight.stride(), *other.stride(), ROWS=rows, BLOCK=block
    )
    return out
