"""One program makes a tile of the product, in which gates and their partners are neighbours, and splits it in registers."""

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
def geglu_kernel(x_ptr, w_ptr, out_ptr, T, N, K, BLOCK_T: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row, column = place_of(tl.program_id(0), tl.cdiv(T, BLOCK_T), tl.cdiv(N, BLOCK_N))
    rows = row * BLOCK_T + tl.arange(0, BLOCK_T)
    both = column * 2 * BLOCK_N + tl.arange(0, 2 * BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_at = x_ptr + rows[:, None].to(tl.int64) * K + k[None, :]
    w_at = w_ptr + both[None, :].to(tl.int64) * K + k[:, None]
    total = tl.zeros((BLOCK_T, 2 * BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        left = K - start
        x = tl.load(x_at, mask=(rows < T)[:, None] & (k < left)[None, :], other=0.0)
        w = tl.load(w_at, mask=(both < 2 * N)[None, :] & (k < left)[:, None], other=0.0)
        total = tl.dot(x, w, total)
        x_at += BLOCK_K
        w_at += BLOCK_K
    gate, up = tl.split(tl.reshape(total, (BLOCK_T, BLOCK_N, 2)))
    result = gate * tl.sigmoid(1.5957691216057308 * (gate + 0.044715 * gate * gate * gate)) * up
    columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    at = out_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
    tl.store(at, result.to(tl.bfloat16), mask=(rows < T)[:, None] & (columns < N)[None, :])


def geglu(x, w):
    (T, K), N = x.shape, w.shape[0] // 2
    out = torch.empty((T, N), dtype=x.dtype, device=x.device)
    block_t, block_n, warps = (16, 64, 4) if T <= 16 else (64, 64, 4) if T <= 64 else (128, 128, 8)
    grid = (triton.cdiv(T, block_t) * triton.cdiv(N, block_n),)
    geglu_kernel[grid](x, w, out, T, N, K, BLOCK_T=block_t, BLOCK_N=block_n, BLOCK_K=64, num_warps=warps, num_stages=3)
    return out
