"""One program makes a tile of the result: it keeps a tile of each projection in registers and multiplies them there."""

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
def swiglu_kernel(x_ptr, w_ptr, out_ptr, T, N, K, BLOCK_T: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row, column = place_of(tl.program_id(0), tl.cdiv(T, BLOCK_T), tl.cdiv(N, BLOCK_N))
    rows = row * BLOCK_T + tl.arange(0, BLOCK_T)
    columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_at = x_ptr + rows[:, None].to(tl.int64) * K + k[None, :]
    gate_at = w_ptr + columns[None, :].to(tl.int64) * K + k[:, None]
    up_at = w_ptr + (N + columns[None, :]).to(tl.int64) * K + k[:, None]
    gate = tl.zeros((BLOCK_T, BLOCK_N), tl.float32)
    up = tl.zeros((BLOCK_T, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        left = K - start
        x = tl.load(x_at, mask=(rows < T)[:, None] & (k < left)[None, :], other=0.0)
        mask = (columns < N)[None, :] & (k < left)[:, None]
        gate = tl.dot(x, tl.load(gate_at, mask=mask, other=0.0), gate)
        up = tl.dot(x, tl.load(up_at, mask=mask, other=0.0), up)
        x_at += BLOCK_K
        gate_at += BLOCK_K
        up_at += BLOCK_K
    result = gate * tl.sigmoid(gate) * up
    at = out_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
    tl.store(at, result.to(tl.bfloat16), mask=(rows < T)[:, None] & (columns < N)[None, :])


def swiglu(x, w):
    (T, K), N = x.shape, w.shape[0] // 2
    out = torch.empty((T, N), dtype=x.dtype, device=x.device)
    block_t, block_n, warps = (16, 64, 4) if T <= 16 else (64, 64, 4) if T <= 64 else (128, 128, 8)
    grid = (triton.cdiv(T, block_t) * triton.cdiv(N, block_n),)
    swiglu_kernel[grid](x, w, out, T, N, K, BLOCK_T=block_t, BLOCK_N=block_n, BLOCK_K=64, num_warps=warps, num_stages=3)
    return out
