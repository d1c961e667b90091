"""Two passes over a few rows in each program: the norms first, then the distance of the normalized rows."""

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
    a_ptr, b_ptr, out_ptr, rows, n, p, eps_norm, eps_distance, stride_am, stride_an, stride_bm, stride_bn,
    KIND: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = (row < rows)[:, None]
    a_ptr += row[:, None] * stride_am
    b_ptr += row[:, None] * stride_bm
    a_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    b_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        col = (start + tl.arange(0, BLOCK))[None, :]
        mask = live & (col < n)
        a_sum = add_powers(a_sum, tl.load(a_ptr + col * stride_an, mask=mask, other=0.0), p, KIND)
        b_sum = add_powers(b_sum, tl.load(b_ptr + col * stride_bn, mask=mask, other=0.0), p, KIND)
    a_size = tl.maximum(norm_of(a_sum, p, KIND), eps_norm)[:, None]
    b_size = tl.maximum(norm_of(b_sum, p, KIND), eps_norm)[:, None]
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        col = (start + tl.arange(0, BLOCK))[None, :]
        mask = live & (col < n)
        u = tl.load(a_ptr + col * stride_an, mask=mask, other=0.0) / a_size
        v = tl.load(b_ptr + col * stride_bn, mask=mask, other=0.0) / b_size
        acc = add_powers(acc, tl.where(mask, u - v + eps_distance, 0.0), p, KIND)
    tl.store(out_ptr + row, norm_of(acc, p, KIND), mask=row < rows)


def fused_pairwise_distance_normalize(
    x1: torch.Tensor,
    x2: torch.Tensor,
    p_norm: float = 2.0,
    eps_norm: float = 1e-12,
    eps_distance: float = 1e-06,
    keepdim: bool = False,
) -> torch.Tensor:
    x1, x2 = torch.broadcast_tensors(x1, x2)
    rows, n = x1.shape
    out = torch.empty((rows, 1) if keepdim else (rows,), dtype=x1.dtype, device=x1.device)
    if rows:
        kind = {1: "sum", 2: "squares", float("inf"): "max"}.get(p_norm, "powers")
        block = min(triton.next_power_of_2(n), 512)
        tile = min(triton.next_power_of_2(rows), max(2048 // block, 1))
        distance_kernel[(triton.cdiv(rows, tile),)](
            x1, x2, out, rows, n, float(p_norm), eps_norm, eps_distance, *x1.stride(), *x2.stride(),
            KIND=kind, ROWS=tile, BLOCK=block,
        )  # fmt: skip
    return out
