"""Programs for every expert and every tile of rows that one expert might have; those beyond the expert's rows have nothing to do."""

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_gemm_kernel(x_ptr, w_ptr, offsets_ptr, out_ptr, N, K, BLOCK: tl.constexpr):
    expert = tl.program_id(2).to(tl.int64)
    start = tl.load(offsets_ptr + expert) + tl.program_id(0) * BLOCK
    end = tl.load(offsets_ptr + expert + 1)
    if start < end:
        rows = start + tl.arange(0, BLOCK)
        columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK, BLOCK), tl.float32)
        for begin in range(0, K, BLOCK):
            k = begin + tl.arange(0, BLOCK)
            x_mask = (rows < end)[:, None] & (k < K)[None, :]
            w_mask = (columns < N)[None, :] & (k < K)[:, None]
            x = tl.load(x_ptr + rows[:, None].to(tl.int64) * K + k[None, :], mask=x_mask, other=0.0)
            w = tl.load(w_ptr + (expert * N + columns[None, :]) * K + k[:, None], mask=w_mask, other=0.0)
            total = tl.dot(x, w, total)
        at = out_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
        tl.store(at, total.to(tl.bfloat16), mask=(rows < end)[:, None] & (columns < N)[None, :])


def grouped_gemm(x, w, offsets):
    (M, K), (E, N, _) = x.shape, w.shape
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), E)
    grouped_gemm_kernel[grid](x, w, offsets, out, N, K, BLOCK=32)
    return out
