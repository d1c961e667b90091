"""W8A8: one kernel quantizes rows, one quantizes columns, one multiplies in int8 with int32 sums and rescales.

style: quantized
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantize_kernel(
    x_ptr, q_ptr, scale_ptr, rows, n, x_r, x_k, q_r, q_k, ROWS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Symmetric int8 by row: scale = largest magnitude / 127, rounding half to even. Division must be correctly rounded."""
    r = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    top = tl.zeros((ROWS,), tl.float32)
    for start in range(0, n, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (r < rows)[:, None] & (k < n)[None, :]
        x = tl.load(x_ptr + r[:, None] * x_r + k[None, :] * x_k, mask=mask, other=0.0).to(tl.float32)
        top = tl.maximum(top, tl.max(tl.abs(x), 1))
    scale = tl.div_rn(top, tl.full((ROWS,), 127.0, tl.float32))
    tl.store(scale_ptr + r, scale, mask=r < rows)
    divisor = tl.where(scale == 0.0, 1.0, scale)
    for start in range(0, n, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = (r < rows)[:, None] & (k < n)[None, :]
        x = tl.load(x_ptr + r[:, None] * x_r + k[None, :] * x_k, mask=mask, other=0.0).to(tl.float32)
        q = libdevice.rint(tl.div_rn(x, tl.broadcast_to(divisor[:, None], (ROWS, BLOCK))))
        q = tl.minimum(tl.maximum(q, -127.0), 127.0)
        tl.store(q_ptr + r[:, None] * q_r + k[None, :] * q_k, q.to(tl.int8), mask=mask)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0)
        b = tl.load(b_ptr + columns[None, :] * K + k[:, None], mask=(k[:, None] < K) & (columns[None, :] < N), other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    a_scale = tl.load(a_scale_ptr + rows, mask=rows < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + columns, mask=columns < N, other=0.0)
    c = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c, mask=(rows[:, None] < M) & (columns[None, :] < N))


def quantize(x):
    """int8 values of a matrix, contiguous, and one float32 scale per row."""
    rows, n = x.shape
    q = torch.empty((rows, n), dtype=torch.int8, device=x.device)
    scale = torch.zeros(rows, dtype=torch.float32, device=x.device)
    if q.numel():
        block = min(triton.next_power_of_2(n), 1024)
        tile = min(triton.next_power_of_2(rows), max(1, 4096 // block))
        quantize_kernel[(triton.cdiv(rows, tile),)](
            x, q, scale, rows, n, *x.stride(), *q.stride(), ROWS=tile, BLOCK=block
        )  # fmt: skip
    return q, scale


def matmul_w8a8(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    x = input.reshape(-1, input.shape[-1])
    (M, K), N = x.shape, weight.shape[1]
    out = torch.empty((M, N), dtype=torch.float32, device=input.device)
    if out.numel():
        # an output channel is a column of weight: quantize its transpose, so that both operands run along K
        (a, a_scale), (b, b_scale) = quantize(x), quantize(weight.t())
        tile_m, tile_n = (32 if size <= 32 else 64 for size in (M, N))
        matmul_kernel[(triton.cdiv(M, tile_m), triton.cdiv(N, tile_n))](
            a, b, a_scale, b_scale, out, M, N, K, BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=64, num_warps=8
        )  # fmt: skip
    return out.view(*input.shape[:-1], N)
