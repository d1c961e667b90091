"""Each program computes a tile of distances, in two passes over its rows of both matrices.

The first pass finds the rows' norms, the second adds up the differences of the normalized rows.
"""

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
    """Norms from sums along the last axis."""
    axis: tl.constexpr = len(acc.shape) - 1
    result = tl.max(acc, axis) if KIND == "max" else tl.sum(acc, axis)
    if KIND == "squares":
        result = tl.sqrt_rn(result)
    if KIND == "powers":
        result = libdevice.pow(result, tl.zeros_like(result) + 1.0 / p)
    return result


@triton.jit
def row_norms(ptr, live, n, stride, p, KIND: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        col = (start + tl.arange(0, BLOCK))[None, :]
        acc = add_powers(acc, tl.load(ptr + col * stride, mask=live & (col < n), other=0.0), p, KIND)
    return norm_of(acc, p, KIND)


@triton.jit
def distance_kernel(
    a_ptr, b_ptr, out_ptr, rows, columns, n, p, eps_norm, eps_distance, stride_am, stride_an, stride_bm, stride_bn,
    KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    a_live, b_live = (i < rows)[:, None], (j < columns)[:, None]
    a_ptr += i[:, None] * stride_am
    b_ptr += j[:, None] * stride_bm
    a_size = tl.maximum(row_norms(a_ptr, a_live, n, stride_an, p, KIND, ROWS, BLOCK), eps_norm)[:, None]
    b_size = tl.maximum(row_norms(b_ptr, b_live, n, stride_bn, p, KIND, COLUMNS, BLOCK), eps_norm)[:, None]
    acc = tl.zeros((ROWS, COLUMNS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        col = (start + tl.arange(0, BLOCK))[None, :]
        u = tl.load(a_ptr + col * stride_an, mask=a_live & (col < n), other=0.0) / a_size
        v = tl.load(b_ptr + col * stride_bn, mask=b_live & (col < n), other=0.0) / b_size
        acc = add_powers(acc, u[:, None, :] - v[None, :, :], p, KIND)
    distance = tl.maximum(norm_of(acc, p, KIND), eps_distance)
    tl.store(out_ptr + i[:, None] * columns + j[None, :], distance, mask=a_live & (j < columns)[None, :])


def fused_pairwise_distance_normalize(
    x1: torch.Tensor,
    x2: torch.Tensor,
    p_norm: float = 2.0,
    eps_norm: float = 1e-12,
    eps_distance: float = 1e-06,
    keepdim: bool = False,
) -> torch.Tensor:
    (rows, n), columns = x1.shape, x2.shape[0]
    out = torch.empty((rows, columns, 1) if keepdim else (rows, columns), dtype=x1.dtype, device=x1.device)
    if out.numel():
        kind = {1: "sum", 2: "squares", float("inf"): "max"}.get(p_norm, "powers")
        distance_kernel[(triton.cdiv(rows, 32), triton.cdiv(columns, 32))](
            x1, x2, out, rows, columns, n, float(p_norm), eps_norm, eps_distance, *x1.stride(), *x2.stride(),
            KIND=kind, ROWS=32, COLUMNS=32, BLOCK=8,
        )  # fmt: skip
    return out
