"""Split-K in a fixed order: programs that share a tile wait for their turn at a counter, add, and let the next one in.

style: split_k_in_turns
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tril_kernel(
    a_ptr, b_ptr, c_ptr, turn_ptr, factor, N, P, chunk, a_m, a_k, b_k, b_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles, part = tl.cdiv(P, BN), tl.program_id(1)
    m = (tl.program_id(0) // tiles * BM + tl.arange(0, BM)).to(tl.int64)
    n = (tl.program_id(0) % tiles * BN + tl.arange(0, BN)).to(tl.int64)
    first = part * chunk
    last = min(first + chunk, N)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(first, last, BK):
        k = start + tl.arange(0, BK)
        lower = (m < N)[:, None] & (k < last)[None, :] & (k[None, :] <= m[:, None])
        a = tl.load(a_ptr + m[:, None] * a_m + k[None, :] * a_k, mask=lower, other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_k + n[None, :] * b_n, mask=(k < last)[:, None] & (n < P)[None, :], other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    at = c_ptr + m[:, None] * P + n[None, :]
    mask = (m < N)[:, None] & (n < P)[None, :]
    turn = turn_ptr + tl.program_id(0)
    while tl.atomic_add(turn, 0, sem="acquire") != part:
        pass
    if part > 0:
        acc += tl.load(at, mask=mask, other=0.0)
    if part == tl.num_programs(1) - 1:
        acc *= factor
    tl.store(at, acc, mask=mask)
    tl.debug_barrier()
    tl.atomic_add(turn, 1, sem="release")


def tril_mm_and_scale(A, B, alpha, beta):
    n, p = B.shape
    c = torch.empty((n, p), dtype=torch.float32, device=A.device)
    if c.numel():
        tiles = triton.cdiv(n, 32) * triton.cdiv(p, 32)
        parts = max(1, min(4, n // 32))
        chunk = triton.cdiv(triton.cdiv(n, parts), 32) * 32
        turns = torch.zeros(tiles, dtype=torch.int32, device=A.device)
        tril_kernel[(tiles, parts)](
            A, B, c, turns, float(alpha) * float(beta), n, p, chunk, *A.stride(), *B.stride(), BM=32, BN=32, BK=32
        )
    return c
