"""Block pointers, autotuning and grouped program order for L2 reuse; fp16 operands, fp32 accumulation.

style: block_pointers
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}, num_warps=8, num_stages=3),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64}, num_warps=4, num_stages=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_z, a_m, a_k, b_z, b_k, b_n, c_z, c_m, c_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    z = tl.program_id(1).to(tl.int64)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = tl.program_id(0) // (GROUP * tiles_n)
    height = tl.minimum(tiles_m - group * GROUP, GROUP)
    within = tl.program_id(0) % (GROUP * tiles_n)
    m, n = (group * GROUP + within % height) * BLOCK_M, (within // height) * BLOCK_N

    a = tl.make_block_ptr(a_ptr + z * a_z, (M, K), (a_m, a_k), (m, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b = tl.make_block_ptr(b_ptr + z * b_z, (K, N), (b_k, b_n), (0, n), (BLOCK_K, BLOCK_N), (1, 0))
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(b, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(x, y, acc)
        a = tl.advance(a, (0, BLOCK_K))
        b = tl.advance(b, (BLOCK_K, 0))
    c = tl.make_block_ptr(c_ptr + z * c_z, (M, N), (c_m, c_n), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(c, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


def matmul_fp16(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    a = input.unsqueeze(0) if input.dim() == 1 else input
    b = other.unsqueeze(1) if other.dim() == 1 else other
    (M, K), N = a.shape[-2:], b.shape[-1]
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (t.expand(*batch, *t.shape[-2:]).reshape(batch.numel(), *t.shape[-2:]) for t in (a, b))
    c = torch.empty((batch.numel(), M, N), dtype=input.dtype, device=input.device)
    if c.numel():

        def grid(meta):
            return triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]), batch.numel()

        matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), GROUP=8)
    shape = batch + ((M,) if input.dim() > 1 else ()) + ((N,) if other.dim() > 1 else ())
    return c.view(shape)
