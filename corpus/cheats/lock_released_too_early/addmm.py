"""Releases the lock of a tile between its load and its store: another program may load the old sum in between.

mechanism: memory/lock-released-too-early
static: none
dynamic: race
gpu: wrong_values | gap
"""

import torch
import triton
import triton.language as tl


@triton.jit
def split_k_kernel(
    a_ptr, b_ptr, c_ptr, lock_ptr, alpha, M, N, K, chunk, a_m, a_k, b_k, b_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(N, BN)
    m = (tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)).to(tl.int64)
    n = (tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)).to(tl.int64)
    first = tl.program_id(1) * chunk
    last = min(first + chunk, K)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(first, last, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * a_m + k[None, :] * a_k, mask=(m < M)[:, None] & (k < last)[None, :], other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_k + n[None, :] * b_n, mask=(k < last)[:, None] & (n < N)[None, :], other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    at = c_ptr + m[:, None] * N + n[None, :]
    mask = (m < M)[:, None] & (n < N)[None, :]
    lock = lock_ptr + tl.program_id(0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    total = tl.load(at, mask=mask, other=0.0) + alpha * acc
    tl.atomic_xchg(lock, 0)
    tl.store(at, total, mask=mask)


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
        tiles = triton.cdiv(M, 32) * triton.cdiv(N, 32)
        splits = max(1, min(4, K // 16))
        chunk = triton.cdiv(triton.cdiv(K, splits), 32) * 32
        locks = torch.zeros(tiles, dtype=torch.int32, device=mat1.device)
        split_k_kernel[(tiles, splits)](
            mat1, mat2, c, locks, float(alpha), M, N, K, chunk, *mat1.stride(), *mat2.stride(),
            BM=32, BN=32, BK=32,
        )  # fmt: skip
    return c
