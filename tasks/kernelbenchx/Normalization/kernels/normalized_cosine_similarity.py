"""Two passes over a few vectors in each program: their p-norms, then the sums of products of the normalized elements."""

import torch
import triton
import triton.language as tl
from torch import Tensor
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
def similarity_kernel(
    a_ptr, b_ptr, out_ptr, rows, n, row_stride, group_stride, stride, p, eps_norm, eps,
    KIND: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Vectors of n elements, ``stride`` apart; a group's vectors lie ``row_stride`` apart."""
    group = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    live = (row < rows)[:, None]
    first = group * group_stride + row[:, None] * row_stride
    a_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    b_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        a_sum = add_powers(a_sum, tl.load(a_ptr + first + k * stride, mask=live & (k < n), other=0.0), p, KIND)
        b_sum = add_powers(b_sum, tl.load(b_ptr + first + k * stride, mask=live & (k < n), other=0.0), p, KIND)
    a_size = tl.maximum(norm_of(a_sum, p, KIND), eps_norm)[:, None]
    b_size = tl.maximum(norm_of(b_sum, p, KIND), eps_norm)[:, None]
    products = tl.zeros((ROWS, BLOCK), tl.float32)
    a_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    b_sum = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        u = tl.load(a_ptr + first + k * stride, mask=live & (k < n), other=0.0) / a_size
        v = tl.load(b_ptr + first + k * stride, mask=live & (k < n), other=0.0) / b_size
        products += u * v
        a_sum += u * u
        b_sum += v * v
    u_size = tl.maximum(tl.sqrt_rn(tl.sum(a_sum, 1)), eps)
    v_size = tl.maximum(tl.sqrt_rn(tl.sum(b_sum, 1)), eps)
    tl.store(out_ptr + group * rows + row, tl.sum(products, 1) / (u_size * v_size), mask=row < rows)


def normalized_cosine_similarity(
    x1: Tensor, x2: Tensor, dim: int = 1, eps_similarity: float = 1e-08, p_norm: float = 2, eps_norm: float = 1e-12
) -> Tensor:
    x1, x2 = x1.contiguous(), x2.expand(x1.shape).contiguous()
    dim = dim % x1.dim()
    n, inner = x1.shape[dim], x1.shape[dim + 1 :].numel()
    out = torch.empty(x1.shape[:dim] + x1.shape[dim + 1 :], dtype=x1.dtype, device=x1.device)
    if not out.numel():
        return out
    # neighbours in memory belong to one vector where nothing lies behind its dimension, else to neighbouring vectors
    outer = out.numel() // inner
    rows, groups, row_stride = (outer, 1, n) if inner == 1 else (inner, outer, 1)
    block = min(triton.next_power_of_2(n), 1024 if inner == 1 else 32)
    tile = min(triton.next_power_of_2(rows), max(2048 // block, 1))
    kind = {1: "sum", 2: "squares", float("inf"): "max"}.get(p_norm, "powers")
    similarity_kernel[(triton.cdiv(rows, tile), groups)](
        x1, x2, out, rows, n, row_stride, n * inner, inner, float(p_norm), eps_norm, eps_similarity,
        KIND=kind, ROWS=tile, BLOCK=block,
    )  # fmt: skip
    return out
