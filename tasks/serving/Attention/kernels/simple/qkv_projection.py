"""Three plain tiled products, one for each part of the weights."""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(x_ptr, w_ptr, bias_ptr, out_ptr, T, N, K, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x_mask = (rows < T)[:, None] & (k < K)[None, :]
        w_mask = (columns < N)[None, :] & (k < K)[:, None]
        x = tl.load(x_ptr + rows[:, None].to(tl.int64) * K + k[None, :], mask=x_mask, other=0.0)
        w = tl.load(w_ptr + columns[None, :].to(tl.int64) * K + k[:, None], mask=w_mask, other=0.0)
        total = tl.dot(x, w, total)
    total += tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    at = out_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
    tl.store(at, total.to(tl.bfloat16), mask=(rows < T)[:, None] & (columns < N)[None, :])


def qkv_projection(x, w, bias, heads: int, kv_heads: int):
    T, K = x.shape
    D = w.shape[0] // (heads + 2 * kv_heads)
    results, first = [], 0
    for each in (heads, kv_heads, kv_heads):
        N = each * D
        out = torch.empty((T, each, D), dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(T, 32), triton.cdiv(N, 32))
        linear_kernel[grid](x, w[first : first + N], bias[first : first + N], out, T, N, K, BLOCK=32)
        results.append(out)
        first += N
    return tuple(results)
