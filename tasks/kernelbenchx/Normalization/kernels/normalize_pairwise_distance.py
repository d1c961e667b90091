"""Distances row by row, then their norms along one dimension in a second launch."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add_powers(acc, z, p, KIND: tl.constexpr):
    """Adds ``|z|^p`` to the partial sums; for the maximum norm keeps the largest."""
    z = tl.abs(z)
    if KIND == "max":
        acc = tl.maximum(acc, z)
    elif KIND == "sum":
        acc += z
    elif KIND == "squares":
        acc += z * z
    else:
        acc += libdevice.pow(z, tl.zeros_like(z) + p)
    return acc


@triton.jit
def norm_of(acc, p, KIND: tl.constexpr):
    """The norm of each row from its partial sums."""
    result = tl.max(acc, 1) if KIND == "max" else tl.sum(acc, 1)
    if KIND == "squares":
        result = tl.sqrt_rn(result)
    if KIND == "powers":
        result = libdevice.pow(result, tl.zeros_like(result) + 1.0 / p)
    return result


@triton.jit
def distance_kernel(
    a_ptr, b_ptr, out_ptr, rows, n, p, eps, KIND: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        col = (start + tl.arange(0, BLOCK))[None, :]
        mask = (row < rows)[:, None] & (col < n)
        a = tl.load(a_ptr + row[:, None] * n + col, mask=mask, other=0.0)
        b = tl.load(b_ptr + row[:, None] * n + col, mask=mask, other=0.0)
        acc = add_powers(acc, a - b, p, KIND)
    tl.store(out_ptr + row, norm_of(acc, p, KIND) + eps, mask=row < rows)


@triton.jit
def normalize_kernel(
    d_ptr, rows, n, row_stride, group_stride, stride, p, eps,
    KIND: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Divides rows of n elements, ``stride`` apart, by their norms; a group's rows lie ``row_stride`` apart."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    d_ptr += tl.program_id(1).to(tl.int64) * group_stride
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        mask = (row < rows)[:, None] & (k < n)
        acc = add_powers(acc, tl.load(d_ptr + row[:, None] * row_stride + k * stride, mask=mask, other=0.0), p, KIND)
    size = tl.maximum(norm_of(acc, p, KIND), eps)[:, None]
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        mask = (row < rows)[:, None] & (k < n)
        at = d_ptr + row[:, None] * row_stride + k * stride
        tl.store(at, tl.load(at, mask=mask, other=0.0) / size, mask=mask)


def kind_of(p):
    return {1: "sum", 2: "squares", float("inf"): "max"}.get(p, "powers")


def normalize_pairwise_distance(
    x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    x1, x2 = x1.contiguous(), x2.contiguous()
    shape = (*x1.shape[:-1], 1) if keepdim else x1.shape[:-1]
    d = torch.empty(shape, dtype=x1.dtype, device=x1.device)
    if not d.numel():
        return d
    block = min(triton.next_power_of_2(x1.shape[-1]), 512)
    tile = min(triton.next_power_of_2(d.numel()), max(4096 // block, 1))
    distance_kernel[(triton.cdiv(d.numel(), tile),)](
        x1, x2, d, d.numel(), x1.shape[-1], float(p_distance), eps_distance,
        KIND=kind_of(p_distance), ROWS=tile, BLOCK=block,
    )  # fmt: skip
    n, inner = d.shape[dim_norm], d.shape[dim_norm % d.dim() + 1 :].numel()
    outer = d.numel() // (n * inner)
    # neighbours in memory belong to one row where nothing lies behind the dimension, else to neighbouring rows
    rows, groups, row_stride = (outer, 1, n) if inner == 1 else (inner, outer, 1)
    block = min(triton.next_power_of_2(n), 4096 if inner == 1 else 64)
    tile = min(triton.next_power_of_2(rows), max(4096 // block, 1))
    normalize_kernel[(triton.cdiv(rows, tile), groups)](
        d, rows, n, row_stride, n * inner, inner, float(p_norm), eps_norm,
        KIND=kind_of(p_norm), ROWS=tile, BLOCK=block,
    )  # fmt: skip
    return d
