"""Stream-K: few programs share all steps of all tiles evenly; a tile that several work on is added up atomically.

style: stream_k
"""

import torch
import triton
import triton.language as tl


@triton.jit
def stream_k_kernel(
    a_ptr, b_ptr, c_ptr, alpha, M, N, K, steps, a_m, a_k, b_k, b_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Step s is step s % per of tile s // per; program p does those from p · steps / programs on."""
    per, tiles_n = tl.cdiv(K, BK), tl.cdiv(N, BN)
    step = tl.program_id(0) * steps // tl.num_programs(0)
    end = (tl.program_id(0) + 1) * steps // tl.num_programs(0)
    while step < end:
        tile = step // per
        last = tl.minimum(end, (tile + 1) * per)
        m = (tile // tiles_n * BM + tl.arange(0, BM)).to(tl.int64)
        n = (tile % tiles_n * BN + tl.arange(0, BN)).to(tl.int64)
        rows, columns = (m < M)[:, None], (n < N)[None, :]
        acc = tl.zeros((BM, BN), tl.float32)
        for s in range(step, last):
            k = s % per * BK + tl.arange(0, BK)
            a = tl.load(a_ptr + m[:, None] * a_m + k[None, :] * a_k, mask=rows & (k < K)[None, :], other=0.0)
            b = tl.load(b_ptr + k[:, None] * b_k + n[None, :] * b_n, mask=(k < K)[:, None] & columns, other=0.0)
            acc += tl.dot(a, b, input_precision="ieee")
        at = c_ptr + m[:, None] * N + n[None, :]
        if last - step == per:
            c = tl.load(at, mask=rows & columns, other=0.0)
            tl.store(at, c + alpha * acc, mask=rows & columns)
        else:
            tl.atomic_add(at, alpha * acc, mask=rows & columns)
        step = last


@triton.jit
def scale_kernel(x_ptr, out_ptr, beta, M, N, x_m, x_n, BLOCK: tl.constexpr):
    """What the products are added to: beta * x, x with any strides."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i // N * x_m + i % N * x_n, mask=i < M * N, other=0.0)
    tl.store(out_ptr + i, beta * x, mask=i < M * N)


def addmm(input, mat1, mat2, beta=1, alpha=1, out=None):
    (M, K), N = mat1.shape, mat2.shape[1]
    c = torch.empty((M, N), dtype=torch.float32, device=mat1.device) if out is None else out
    if not c.numel():
        return c
    if beta == 0:
        c.zero_()
    else:
        x = input.expand(M, N)
        scale_kernel[(triton.cdiv(M * N, 1024),)](x, c, float(beta), M, N, *x.stride(), BLOCK=1024)
    if K:
        steps = triton.cdiv(M, 32) * triton.cdiv(N, 32) * triton.cdiv(K, 32)
        stream_k_kernel[(min(steps, 132),)](
            mat1, mat2, c, float(alpha), M, N, K, steps, *mat1.stride(), *mat2.stride(), BM=32, BN=32, BK=32
        )
    return c
