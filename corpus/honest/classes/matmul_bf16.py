"""A class that holds tile sizes and an instance of it as the entry. bf16 operands, fp32 accumulation.

style: classes
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_z, a_m, a_k, b_z, b_k, b_n, c_z, c_m, c_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    z = tl.program_id(2).to(tl.int64)
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
    k = tl.arange(0, BLOCK_K)
    a_tile = a_ptr + z * a_z + rows * a_m + k[None, :] * a_k
    b_tile = b_ptr + z * b_z + k[:, None] * b_k + columns * b_n
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for left in range(K, 0, -BLOCK_K):
        a = tl.load(a_tile, mask=(rows < M) & (k[None, :] < left), other=0.0)
        b = tl.load(b_tile, mask=(k[:, None] < left) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc)
        a_tile += BLOCK_K * a_k
        b_tile += BLOCK_K * b_k
    mask = (rows < M) & (columns < N)
    tl.store(c_ptr + z * c_z + rows * c_m + columns * c_n, acc.to(c_ptr.dtype.element_ty), mask=mask)


class MatMul:
    """``torch.matmul`` for two- and more-dimensional operands; vectors are treated as one-row and one-column matrices."""

    def __init__(self, small=32, large=128, depth=64):
        self.small, self.large, self.depth = small, large, depth

    def tile(self, size):
        return self.small if size <= self.small else self.large

    def __call__(self, input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        a = input.unsqueeze(0) if input.dim() == 1 else input
        b = other.unsqueeze(1) if other.dim() == 1 else other
        batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (t.expand(*batch, *t.shape[-2:]).reshape(batch.numel(), *t.shape[-2:]) for t in (a, b))
        c = self.launch(a, b)
        return c.view(batch + a.shape[1:2] * (input.dim() > 1) + b.shape[2:] * (other.dim() > 1))

    def launch(self, a, b):
        (Z, M, K), N = a.shape, b.shape[2]
        c = torch.empty((Z, M, N), dtype=a.dtype, device=a.device)
        if c.numel():
            tile_m, tile_n = self.tile(M), self.tile(N)
            matmul_kernel[(triton.cdiv(M, tile_m), triton.cdiv(N, tile_n), Z)](
                a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(),
                BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=self.depth, num_warps=8 if tile_m * tile_n >= 16384 else 4,
            )  # fmt: skip
        return c


matmul_bf16 = MatMul()
