"""A program has a tile of 32 × 32 and goes over all places, with zeros for what is not there."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(x_ptr, neighbours_ptr, weight_ptr, out_ptr, M, P, C, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for place in range(P):
        found = tl.load(neighbours_ptr + rows * P + place, mask=rows < M, other=-1)[:, None]
        for start in range(0, C, 16):
            c = start + tl.arange(0, 16)
            a = tl.load(x_ptr + found * C + c[None, :], mask=(found >= 0) & (c < C)[None, :], other=0.0)
            at = (place * C + c)[:, None] * N + columns[None, :]
            b = tl.load(weight_ptr + at, mask=(c < C)[:, None] & (columns < N)[None, :], other=0.0)
            acc += tl.dot(a, b)
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], acc.to(tl.bfloat16), mask=mask)


def gather_gemm(x, neighbours, weight):
    (M, P), (_, C, N) = neighbours.shape, weight.shape
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    gather_kernel[grid](x, neighbours, weight, out, M, P, C, N, BLOCK=32)
    return out
