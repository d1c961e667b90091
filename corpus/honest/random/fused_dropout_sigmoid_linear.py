"""Linear, sigmoid and dropout in one kernel; the mask is drawn on the fly from a fresh seed and never stored.

style: random
"""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_sigmoid_dropout_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, seed, keep, M, N, K, x_m, x_k, w_n, w_k,
    BIAS: tl.constexpr, DROPOUT: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x_mask = (rows[:, None] < M) & (k[None, :] < K)
        w_mask = (k[:, None] < K) & (columns[None, :] < N)
        x = tl.load(x_ptr + rows[:, None] * x_m + k[None, :] * x_k, mask=x_mask, other=0.0)
        w = tl.load(w_ptr + k[:, None] * w_k + columns[None, :] * w_n, mask=w_mask, other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
    if BIAS:
        acc += tl.load(b_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    y = tl.sigmoid(acc)
    at = rows[:, None] * N + columns[None, :]
    if DROPOUT:
        y = tl.where(tl.rand(seed, at) < keep, y / keep, 0.0)
    tl.store(out_ptr + at, y, mask=(rows[:, None] < M) & (columns[None, :] < N))


def fused_dropout_sigmoid_linear(
    input: torch.Tensor, weight: torch.Tensor, bias=None, p=0.5, training=True, inplace=False
) -> torch.Tensor:
    x = input.reshape(-1, input.shape[-1])
    (M, K), N = x.shape, weight.shape[0]
    if training and p >= 1.0:
        return torch.zeros(*input.shape[:-1], N, dtype=input.dtype, device=input.device)
    out = torch.empty((M, N), dtype=input.dtype, device=input.device)
    if out.numel():
        seed = int(torch.randint(1 << 31, (1,)).item())
        tile_m, tile_n = (32 if size <= 32 else 64 for size in (M, N))
        linear_sigmoid_dropout_kernel[(triton.cdiv(M, tile_m), triton.cdiv(N, tile_n))](
            x, weight, None if bias is None else bias.contiguous(), out, seed, 1.0 - p, M, N, K,
            *x.stride(), *weight.stride(), BIAS=bias is not None, DROPOUT=training and p > 0.0,
            BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=32, num_warps=8,
        )  # fmt: skip
    return out.view(*input.shape[:-1], N)
