"""Batched W8A8 product: one kernel quantizes the rows of any batch of matrices, one multiplies int8 matrices.

`mat2` is quantized by columns, as rows of its transpose, so that both int8 operands run along K.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit(do_not_specialize=["rows", "height"])
def quantize_kernel(
    x_ptr, q_ptr, scale_ptr, rows, height, n, x_b, x_r, x_k, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Symmetric int8, one scale per row: largest magnitude over 127, correctly rounded; 1 for a row of zeros.

    `rows` counts those of all matrices, each `height` high.
    """
    r = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    source = x_ptr + (r // height * x_b + r % height * x_r)[:, None]
    top = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK)).to(tl.int64)
        mask = (r < rows)[:, None] & (k < n)[None, :]
        top = tl.maximum(top, tl.abs(tl.load(source + k[None, :] * x_k, mask=mask, other=0.0)))
    scale = tl.div_rn(tl.max(top, 1), tl.full((ROWS,), 127.0, tl.float32))
    scale = tl.where(scale > 0, scale, 1.0)
    tl.store(scale_ptr + r, scale, mask=r < rows)
    divisor = tl.broadcast_to(scale[:, None], (ROWS, BLOCK))
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK)).to(tl.int64)
        mask = (r < rows)[:, None] & (k < n)[None, :]
        q = libdevice.rint(tl.div_rn(tl.load(source + k[None, :] * x_k, mask=mask, other=0.0), divisor))
        q = tl.minimum(tl.maximum(q, -127.0), 127.0)
        tl.store(q_ptr + r[:, None] * n + k[None, :], q.to(tl.int8), mask=mask)


@triton.jit(do_not_specialize=["M"])
def bmm_kernel(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(2).to(tl.int64)
    i, j = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    # Offsets within a matrix fit into 32 bits, those of matrices may not.
    a_matrix, b_matrix, out_matrix = a_ptr + batch * M * K, b_ptr + batch * N * K, out_ptr + batch * M * N
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_matrix + (i[:, None] * K + k[None, :]), mask=(i < M)[:, None] & (k < K)[None, :], other=0)
        b = tl.load(b_matrix + (j[None, :] * K + k[:, None]), mask=(k < K)[:, None] & (j < N)[None, :], other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    a_scale = tl.load(a_scale_ptr + batch * M + i, mask=i < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + batch * N + j, mask=j < N, other=0.0)
    out = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    tl.store(out_matrix + (i[:, None] * N + j[None, :]), out, mask=(i < M)[:, None] & (j < N)[None, :])


def quantize(x):
    """Contiguous int8 matrices, and one float32 scale for each of their rows."""
    batch, height, n = x.shape
    rows = batch * height
    q = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    scale = torch.empty(rows, dtype=torch.float32, device=x.device)
    tile, block = (32, 64) if x.stride(1) == 1 else (4, 512)
    quantize_kernel[(triton.cdiv(rows, tile),)](x, q, scale, rows, height, n, *x.stride(), ROWS=tile, BLOCK=block)
    return q, scale


def bmm_w8a8(input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    (B, M, K), N = input.shape, mat2.shape[2]
    out = torch.empty((B, M, N), dtype=torch.float32, device=input.device)
    if out.numel():
        (a, a_scale), (b, b_scale) = quantize(input), quantize(mat2.transpose(1, 2))
        block_m, block_n = (32 if size <= 32 else 64 if size <= 256 else 128 for size in (M, N))
        bmm_kernel[(triton.cdiv(M, block_m), triton.cdiv(N, block_n), B)](
            a, b, a_scale, b_scale, out, M, N, K, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=64, num_warps=8
        )  # fmt: skip
    return out
