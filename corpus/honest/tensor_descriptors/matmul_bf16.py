"""Tiles through tensor descriptors, made inside the kernel; rows are padded to the 16 bytes that their strides need.

style: tensor_descriptors
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """a: (batch, M, K), b: (batch, K, N), c: (batch, M, N), all contiguous; K and N are multiples of 8."""
    batch = tl.program_id(2).to(tl.int64)
    a = tl.make_tensor_descriptor(a_ptr + batch * M * K, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b = tl.make_tensor_descriptor(b_ptr + batch * K * N, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    c = tl.make_tensor_descriptor(c_ptr + batch * M * N, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
    c.store([m, n], acc.to(tl.bfloat16))


def scratch(size, alignment, stream):
    """Where descriptors made in a kernel live; Triton asks for it at each launch."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


def matmul_bf16(input, other):
    rows = torch.atleast_2d(input)
    batch = torch.broadcast_shapes(rows.shape[:-2], other.shape[:-2])
    (M, K), N = rows.shape[-2:], other.shape[-1]
    a = F.pad(rows.expand(*batch, M, K), (0, -K % 8)).contiguous()
    b = F.pad(other.expand(*batch, K, N), (0, -N % 8, 0, -K % 8)).contiguous()
    c = (torch.empty if K else torch.zeros)((*batch, M, b.shape[-1]), dtype=torch.bfloat16, device=input.device)
    if c.numel() and K:
        triton.set_allocator(scratch)
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), batch.numel())
        matmul_kernel[grid](a, b, c, M, b.shape[-1], a.shape[-1], BM=32, BN=32, BK=32)
    result = c[..., :N].contiguous()
    return result if input.dim() > 1 else result.squeeze(-2)
