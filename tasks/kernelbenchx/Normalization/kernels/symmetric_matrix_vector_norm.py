"""Matrix-vector product by blocks of rows; each program leaves the sum of its powers, and a second launch adds these up."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def product_kernel(
    a_ptr, x_ptr, partial_ptr, n, alpha, beta, p, stride_am, stride_an, stride_x,
    KIND: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Elements of y for ROWS rows, and the sum (or the largest) of their powers."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    at = a_ptr + row.to(tl.int64)[:, None] * stride_am
    for start in range(0, n, BLOCK):
        col = start + tl.arange(0, BLOCK)
        mask = (row < n)[:, None] & (col < n)[None, :]
        x = tl.load(x_ptr + col * stride_x, mask=col < n, other=0.0)
        acc += tl.load(at + col[None, :] * stride_an, mask=mask, other=0.0) * x[None, :]
    y = alpha * tl.sum(acc, 1)
    y = tl.abs(y + beta * y)
    if KIND == "max":
        result = tl.max(y, 0)
    elif KIND == "sum":
        result = tl.sum(y, 0)
    elif KIND == "squares":
        result = tl.sum(y * y, 0)
    else:
        result = tl.sum(libdevice.pow(y, tl.zeros_like(y) + p), 0)
    tl.store(partial_ptr + tl.program_id(0), result)


@triton.jit
def finish_kernel(partial_ptr, out_ptr, count, p, KIND: tl.constexpr, BLOCK: tl.constexpr):
    """One program in a fixed order: the same bits at every run."""
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        part = tl.load(partial_ptr + i, mask=i < count, other=0.0)
        acc = tl.maximum(acc, part) if KIND == "max" else acc + part
    result = tl.max(acc, 0) if KIND == "max" else tl.sum(acc, 0)
    if KIND == "squares":
        result = tl.sqrt_rn(result)
    if KIND == "powers":
        result = libdevice.pow(result, 1.0 / p)
    tl.store(out_ptr, result)


def symmetric_matrix_vector_norm(
    A: torch.Tensor, x: torch.Tensor, alpha: float, beta: float, p: float = 2.0
) -> torch.Tensor:
    n = x.shape[0]
    kind = {1: "sum", 2: "squares", float("inf"): "max"}.get(p, "powers")
    rows = 16
    partial = torch.empty(triton.cdiv(n, rows), dtype=torch.float32, device=x.device)
    out = torch.empty((), dtype=torch.float32, device=x.device)
    # a symmetric matrix may be read by rows or by columns: by what is contiguous
    stride_m, stride_n = sorted(A.stride(), reverse=True)
    numbers = float(alpha), float(beta), float(p)
    if n:
        product_kernel[(len(partial),)](
            A, x, partial, n, *numbers, stride_m, stride_n, x.stride(0), KIND=kind, ROWS=rows, BLOCK=128
        )
    finish_kernel[(1,)](partial, out, len(partial), numbers[2], KIND=kind, BLOCK=1024)
    return out
