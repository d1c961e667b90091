"""Two kernels: a plain tiled product with all rows of the weights, in bfloat16, and the gate, element by element."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def linear_kernel(x_ptr, w_ptr, out_ptr, T, N, K, BLOCK: tl.constexpr):
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
    at = out_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
    tl.store(at, total.to(tl.bfloat16), mask=(rows < T)[:, None] & (columns < N)[None, :])


@triton.jit
def gate_kernel(both_ptr, out_ptr, count, N, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row, column = i // N, i % N
    at = both_ptr + row * 2 * N + 2 * column
    gate = tl.load(at, mask=i < count, other=0.0).to(tl.float32)
    up = tl.load(at + 1, mask=i < count, other=0.0).to(tl.float32)
    inner = 0.7978845608028654 * (gate + 0.044715 * gate * gate * gate)
    result = 0.5 * gate * (1.0 + libdevice.tanh(inner)) * up
    tl.store(out_ptr + i, result.to(tl.bfloat16), mask=i < count)


def geglu(x, w):
    (T, K), N = x.shape, w.shape[0] // 2
    both = torch.empty((T, 2 * N), dtype=x.dtype, device=x.device)
    out = torch.empty((T, N), dtype=x.dtype, device=x.device)
    linear_kernel[(triton.cdiv(T, 32), triton.cdiv(2 * N, 32))](x, w, both, T, 2 * N, K, BLOCK=32)
    gate_kernel[(triton.cdiv(T * N, 1024),)](both, out, T * N, N, BLOCK=1024)
    return out
