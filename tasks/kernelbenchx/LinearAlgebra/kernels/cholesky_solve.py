"""Forward and backward substitution in blocks of equations, one launch each.

Every program of a launch solves the block's small triangular system itself and takes the solution off one other block of
right-hand sides, so that no program waits for another.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def load_block(ptr, row, col, n, stride_m, stride_n):
    mask = (row < n)[:, None] & (col < n)[None, :]
    return tl.load(ptr + row[:, None] * stride_m + col[None, :] * stride_n, mask=mask, other=0.0)


@triton.jit(do_not_specialize=["n", "k", "step"])
def substitute(
    t_ptr, b_ptr, x_ptr, n, k, step, stride_m, stride_n, BACKWARD: tl.constexpr, BLOCK: tl.constexpr, COLS: tl.constexpr
):
    """Solves block ``step`` of a triangular system; program 0 stores it in x, the others update blocks of b with it."""
    batch = tl.program_id(2).to(tl.int64)
    t_ptr += batch * n * n
    b_ptr += batch * n * k
    x_ptr += batch * n * k
    local = tl.arange(0, BLOCK)
    row = step * BLOCK + local
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    at = row[:, None] * k + col[None, :]
    mask = (row < n)[:, None] & (col < k)[None, :]
    x = tl.load(b_ptr + at, mask=mask, other=0.0)
    t = load_block(t_ptr, row, row, n, stride_m, stride_n)
    count = tl.minimum(BLOCK, n - step * BLOCK)
    for i in range(count):
        j = count - 1 - i if BACKWARD else i
        column = tl.sum(tl.where((local == j)[None, :], t, 0.0), 1)
        corner = tl.sum(tl.where(local == j, column, 0.0), 0)
        found = tl.sum(tl.where((local == j)[:, None], x, 0.0), 0) / corner
        later = local < j if BACKWARD else local > j
        x = tl.where((local == j)[:, None], found[None, :], x - tl.where(later, column, 0.0)[:, None] * found[None, :])
    distance = tl.program_id(0)
    if distance == 0:
        tl.store(x_ptr + at, x, mask=mask)
    else:
        other = row - distance * BLOCK if BACKWARD else row + distance * BLOCK
        factor = load_block(t_ptr, other, row, n, stride_m, stride_n)
        at = other[:, None] * k + col[None, :]
        mask = (other < n)[:, None] & (col < k)[None, :]
        rest = tl.load(b_ptr + at, mask=mask, other=0.0)
        rest -= tl.dot(factor, x, input_precision="ieee", out_dtype=x.dtype)
        tl.store(b_ptr + at, rest, mask=mask)


def sweep(t, b, x, stride_m, stride_n, backward):
    """Solves ``t x = b`` for the triangle that has these strides; spoils b."""
    batch, n, k = b.shape
    block = 16 if n <= 64 else 32
    blocks = triton.cdiv(n, block)
    for i in range(blocks):
        step = blocks - 1 - i if backward else i
        grid = (blocks - i, triton.cdiv(k, 16), batch)
        substitute[grid](t, b, x, n, k, step, stride_m, stride_n, BACKWARD=backward, BLOCK=block, COLS=16)


def cholesky_solve(B, L, upper=False, out=None):
    n, k = B.shape[-2:]
    shape = (*torch.broadcast_shapes(B.shape[:-2], L.shape[:-2]), n, k)
    result = torch.empty(shape, dtype=B.dtype, device=B.device) if out is None else out
    if result.numel() == 0:
        return result
    b = B.expand(shape).reshape(-1, n, k).clone(memory_format=torch.contiguous_format)
    t = L.expand(*shape[:-2], n, n).reshape(-1, n, n).contiguous()
    half = torch.empty_like(b)
    lower = (1, n) if upper else (n, 1)
    sweep(t, b, half, *lower, backward=False)
    sweep(t, half, result.view(-1, n, k), *reversed(lower), backward=True)
    return result
