"""A tiled product whose tiles are stored where their columns belong: no tensor of all three parts is ever written."""

import torch
import triton
import triton.language as tl


@triton.jit
def place_of(tile, high, wide):
    """Row and column of a tile among `high` times `wide`: eight rows at a time, column by column, so that programs that run together share what they read."""
    band = tile // (8 * wide)
    height = tl.minimum(high - band * 8, 8)
    within = tile % (8 * wide)
    return band * 8 + within % height, within // height


@triton.jit
def qkv_kernel(
    x_ptr, w_ptr, bias_ptr, q_ptr, k_ptr, v_ptr, T, N, Q, KV, K,
    BLOCK_T: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    down, across = place_of(tl.program_id(0), tl.cdiv(T, BLOCK_T), tl.cdiv(N, BLOCK_N))
    rows = down * BLOCK_T + tl.arange(0, BLOCK_T)
    columns = across * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_at = x_ptr + rows[:, None].to(tl.int64) * K + k[None, :]
    w_at = w_ptr + columns[None, :].to(tl.int64) * K + k[:, None]
    total = tl.zeros((BLOCK_T, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        left = K - start
        x = tl.load(x_at, mask=(rows < T)[:, None] & (k < left)[None, :], other=0.0)
        w = tl.load(w_at, mask=(columns < N)[None, :] & (k < left)[:, None], other=0.0)
        total = tl.dot(x, w, total)
        x_at += BLOCK_K
        w_at += BLOCK_K
    bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
    result = (total + bias[None, :]).to(tl.bfloat16)
    row, column, inside = rows[:, None].to(tl.int64), columns[None, :], (rows < T)[:, None]
    of_q, of_k = column < Q, (column >= Q) & (column < Q + KV)
    tl.store(q_ptr + row * Q + column, result, mask=inside & of_q)
    tl.store(k_ptr + row * KV + column - Q, result, mask=inside & of_k)
    tl.store(v_ptr + row * KV + column - Q - KV, result, mask=inside & (column >= Q + KV) & (column < N))


def qkv_projection(x, w, bias, heads: int, kv_heads: int):
    (T, K), N = x.shape, w.shape[0]
    D = N // (heads + 2 * kv_heads)
    q, k, v = (torch.empty((T, each, D), dtype=x.dtype, device=x.device) for each in (heads, kv_heads, kv_heads))
    block_t, block_n, warps = (16, 64, 4) if T <= 16 else (64, 64, 4) if T <= 256 else (128, 128, 8)
    grid = (triton.cdiv(T, block_t) * triton.cdiv(N, block_n),)
    qkv_kernel[grid](
        x, w, bias, q, k, v, T, N, heads * D, kv_heads * D, K,
        BLOCK_T=block_t, BLOCK_N=block_n, BLOCK_K=64, num_warps=warps, num_stages=4,
    )  # fmt: skip
    return q, k, v
