"""W8A8 matrix product: scales first, then one fused kernel that quantizes tiles on their way to the product.

The int8 operands never exist in memory: a tile of floats is loaded, divided, rounded and multiplied in registers. It
costs divisions (each operand is quantized once per tile of the other) and saves a pass over memory.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit(do_not_specialize=["rows"])
def scale_kernel(x_ptr, scale_ptr, rows, n, x_r, x_k, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Largest magnitude of each row over 127, correctly rounded; 1 for a row of zeros."""
    r = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    top = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK)).to(tl.int64)
        mask = (r < rows)[:, None] & (k < n)[None, :]
        top = tl.maximum(top, tl.abs(tl.load(x_ptr + r[:, None] * x_r + k[None, :] * x_k, mask=mask, other=0.0)))
    scale = tl.div_rn(tl.max(top, 1), tl.full((ROWS,), 127.0, tl.float32))
    tl.store(scale_ptr + r, tl.where(scale > 0, scale, 1.0), mask=r < rows)


@triton.jit
def levels(x, scale):
    """int8 levels of a tile; `scale` has its shape."""
    q = libdevice.rint(tl.div_rn(x, scale))
    return tl.minimum(tl.maximum(q, -127.0), 127.0).to(tl.int8)


@triton.jit(do_not_specialize=["M"])
def matmul_kernel(
    x_ptr, w_ptr, x_scale_ptr, w_scale_ptr, out_ptr, M, N, K, x_m, x_k, w_k, w_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    n = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    x_scale = tl.load(x_scale_ptr + m, mask=m < M, other=1.0)
    w_scale = tl.load(w_scale_ptr + n, mask=n < N, other=1.0)
    x_divisor = tl.broadcast_to(x_scale[:, None], (BLOCK_M, BLOCK_K))
    w_divisor = tl.broadcast_to(w_scale[None, :], (BLOCK_K, BLOCK_N))
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
    for start in range(0, K, BLOCK_K):
        k = (start + tl.arange(0, BLOCK_K)).to(tl.int64)
        x_mask, w_mask = (m < M)[:, None] & (k < K)[None, :], (k < K)[:, None] & (n < N)[None, :]
        x = tl.load(x_ptr + m[:, None] * x_m + k[None, :] * x_k, mask=x_mask, other=0.0)
        w = tl.load(w_ptr + k[:, None] * w_k + n[None, :] * w_n, mask=w_mask, other=0.0)
        acc = tl.dot(levels(x, x_divisor), levels(w, w_divisor), acc, out_dtype=tl.int32)
    out = acc.to(tl.float32) * x_scale[:, None] * w_scale[None, :]
    tl.store(out_ptr + m[:, None] * N + n[None, :], out, mask=(m < M)[:, None] & (n < N)[None, :])


def scales(x):
    """One float32 scale for each row of a matrix."""
    rows, n = x.shape
    scale = torch.empty(rows, dtype=torch.float32, device=x.device)
    # Along the dimension that is contiguous in memory a tile is at least 32 wide.
    tile, block = (32, 64) if x.stride(0) == 1 else (4, 512)
    scale_kernel[(triton.cdiv(rows, tile),)](x, scale, rows, n, *x.stride(), ROWS=tile, BLOCK=block)
    return scale


def matmul_w8a8(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    (M, K), N = input.shape, weight.shape[1]
    out = torch.empty((M, N), dtype=torch.float32, device=input.device)
    if out.numel():
        block_m, block_n = (32 if size <= 32 else 64 if size <= 512 else 128 for size in (M, N))
        matmul_kernel[(triton.cdiv(M, block_m), triton.cdiv(N, block_n))](
            input, weight, scales(input), scales(weight.t()), out, M, N, K, *input.stride(), *weight.stride(),
            BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=64, num_warps=8,
        )  # fmt: skip
    return out
