import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, out_ptr, M, N, K, a_batch, a_m, a_k, b_batch, b_k, b_n, tiles_m, tiles_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    batch = (tile // (tiles_m * tiles_n)).to(tl.int64)
    rows = (tile // tiles_n % tiles_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    columns = (tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
    a_ptr += batch * a_batch
    b_ptr += batch * b_batch
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        a = tl.load(a_ptr + rows * a_m + k[None, :] * a_k, mask=(rows < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_k + columns * b_n, mask=(k[:, None] < K) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(out_ptr + (batch * M + rows) * N + columns, acc, mask=(rows < M) & (columns < N))


def flat_batch(t, batch):
    """`(batch, rows, columns)`; a copy only where some batch dimensions are broadcast and others are not."""
    return t.expand(*batch, *t.shape[-2:]).reshape(batch.numel(), *t.shape[-2:])


def matmul(tensor1, tensor2):
    a = tensor1[None] if tensor1.dim() == 1 else tensor1
    b = tensor2[:, None] if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = [*batch, *tensor1.shape[-2:-1], *(tensor2.shape[-1:] if tensor2.dim() > 1 else ())]
    result = torch.empty(shape, dtype=a.dtype, device=a.device)
    if not result.numel():
        return result
    if b.dim() == 2:
        a, b = a.flatten(0, -2)[None], b[None]
    else:
        a, b = flat_batch(a, batch), flat_batch(b, batch)
    (count, M, K), N = a.shape, b.shape[-1]
    tile_m, tile_n = (16 if size <= 16 else 64 for size in (M, N))
    tiles_m, tiles_n = triton.cdiv(M, tile_m), triton.cdiv(N, tile_n)
    matmul_kernel[(count * tiles_m * tiles_n,)](
        a, b, result, M, N, K, *a.stride(), *b.stride(), tiles_m, tiles_n,
        BLOCK_M=tile_m, BLOCK_N=tile_n, BLOCK_K=32,
    )  # fmt: skip
    return result
