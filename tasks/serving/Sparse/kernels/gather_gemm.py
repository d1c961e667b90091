"""An implicit product: rows are gathered on their way to the tensor cores, and nothing is written but the result. A place that no row of a tile
has is left out."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(
    x_ptr, neighbours_ptr, weight_ptr, out_ptr, M, P, C, N,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for place in range(P):
        found = tl.load(neighbours_ptr + rows.to(tl.int64) * P + place, mask=rows < M, other=-1)
        if tl.max(found, 0) >= 0:
            source = x_ptr + found.to(tl.int64)[:, None] * C
            for start in range(0, C, BLOCK_C):
                c = start + tl.arange(0, BLOCK_C)
                a = tl.load(source + c[None, :], mask=(found >= 0)[:, None] & (c < C)[None, :], other=0.0)
                b = tl.load(
                    weight_ptr + (place * C + c).to(tl.int64)[:, None] * N + columns[None, :],
                    mask=(c < C)[:, None] & (columns < N)[None, :], other=0.0,
                )  # fmt: skip
                acc = tl.dot(a, b, acc)
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(out_ptr + rows.to(tl.int64)[:, None] * N + columns[None, :], acc.to(tl.bfloat16), mask=mask)


def gather_gemm(x, neighbours, weight):
    (M, P), (_, C, N) = neighbours.shape, weight.shape
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    block_n = min(128, max(16, triton.next_power_of_2(N)))
    block_c = min(64, max(16, triton.next_power_of_2(C)))
    block_m = 128 if M >= 4096 else 32
    gather_kernel[(triton.cdiv(M, block_m), triton.cdiv(N, block_n))](
        x, neighbours, weight, out, M, P, C, N,
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_C=block_c, num_warps=8 if block_m == 128 else 4, num_stages=3,
    )  # fmt: skip
    return out
