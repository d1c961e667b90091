"""Two kernels: the linear layer, a tile of the product per program, and the logarithm of softmax along any dimension.

The second sees the scores as (outer, n, inner) and takes a tile of rows: one pass for maximum and sum together, one to
write.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, x_m, x_k, w_n, w_k,
    BIAS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        k_row, k_column = k[None, :], k[:, None]
        x = tl.load(x_ptr + rows * x_m + k_row * x_k, mask=(rows < M) & (k_row < K), other=0.0)
        w = tl.load(w_ptr + k_column * w_k + columns * w_n, mask=(k_column < K) & (columns < N), other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    if BIAS:
        acc += tl.load(b_ptr + columns, mask=columns < N, other=0.0)
    tl.store(out_ptr + rows * N + columns, acc, mask=(rows < M) & (columns < N))


@triton.jit
def log_softmax_kernel(x_ptr, out_ptr, rows, n, inner, ACC: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Row r of (outer, n, inner) starts at r // inner * n * inner + r % inner and has stride ``inner``."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = ((r // inner) * n * inner + r % inner)[:, None]
    live = (r < rows)[:, None]
    top = tl.full((ROWS,), -1e30, ACC)
    total = tl.zeros((ROWS,), ACC)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        x = tl.load(x_ptr + base + k * inner, mask=live & (k < n), other=-float("inf")).to(ACC)
        new_top = tl.maximum(top, tl.max(x, 1))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(x - new_top[:, None]), 1)
        top = new_top
    shift = tl.log(total)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK))[None, :]
        x = tl.load(x_ptr + base + k * inner, mask=live & (k < n), other=0.0).to(ACC)
        # the maximum goes first: added to the logarithm it would swallow the logarithm's last bits
        tl.store(out_ptr + base + k * inner, (x - top[:, None]) - shift[:, None], mask=live & (k < n))


def fused_log_softmax_linear(input, weight, bias=None, dim=-1, dtype=None):
    N, K = weight.shape
    scores = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    out = torch.empty(scores.shape, dtype=dtype or input.dtype, device=input.device)
    if not out.numel():
        return out
    M = out.numel() // N
    x = input.reshape(M, K)
    bias = None if bias is None else bias.contiguous()
    tile_m, tile_n = (32 if size <= 32 else 64 for size in (M, N))
    linear_kernel[(triton.cdiv(M, tile_m), triton.cdiv(N, tile_n))](
        x, weight, bias, scores, M, N, K, *x.stride(), *weight.stride(),
        BIAS=bias is not None, BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=32,
    )  # fmt: skip
    dim = dim % out.dim()
    n, inner = out.shape[dim], out.shape[dim + 1 :].numel()
    rows = out.numel() // n
    block = min(triton.next_power_of_2(n), 1024)
    tile = max(1, min(triton.next_power_of_2(rows), 4096 // block, 64))
    acc = tl.float64 if out.dtype == torch.float64 else tl.float32
    log_softmax_kernel[(triton.cdiv(rows, tile),)](scores, out, rows, n, inner, ACC=acc, ROWS=tile, BLOCK=block)
    return out
