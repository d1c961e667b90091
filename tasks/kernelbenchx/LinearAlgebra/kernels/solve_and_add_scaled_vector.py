"""Backward substitution in blocks of equations, one launch each, from the last block up.

Every program of a launch solves the block's small triangular system itself and takes the solution off one block of equations
above, so that no program waits for another.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "k", "step"])
def substitute(
    a_ptr, b_ptr, y_ptr, alpha_ptr, out_ptr, n, k, step, stride_am, stride_an, stride_ym, stride_yk,
    BLOCK: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    """Solves block ``step``; program 0 stores the solution plus alpha y, the others update blocks of b."""
    local = tl.arange(0, BLOCK)
    row = step * BLOCK + local
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    at = row.to(tl.int64)[:, None] * k + col[None, :]
    mask = (row < n)[:, None] & (col < k)[None, :]
    x = tl.load(b_ptr + at, mask=mask, other=0.0)
    square = (row < n)[:, None] & (row < n)[None, :]
    a = tl.load(a_ptr + row.to(tl.int64)[:, None] * stride_am + row[None, :] * stride_an, mask=square, other=0.0)
    count = tl.minimum(BLOCK, n - step * BLOCK)
    for i in range(count):
        j = count - 1 - i
        column = tl.sum(tl.where((local == j)[None, :], a, 0.0), 1)
        corner = tl.sum(tl.where(local == j, column, 0.0), 0)
        found = tl.sum(tl.where((local == j)[:, None], x, 0.0), 0) / corner
        above = tl.where(local < j, column, 0.0)
        x = tl.where((local == j)[:, None], found[None, :], x - above[:, None] * found[None, :])
    distance = tl.program_id(0)
    if distance == 0:
        y = tl.load(y_ptr + row[:, None] * stride_ym + col[None, :] * stride_yk, mask=mask, other=0.0)
        tl.store(out_ptr + at, x + tl.load(alpha_ptr) * y, mask=mask)
    else:
        # these rows are all inside the matrix: only the last block may stick out
        other = (row - distance * BLOCK).to(tl.int64)
        inside = (row < n)[None, :]
        factor = tl.load(a_ptr + other[:, None] * stride_am + row[None, :] * stride_an, mask=inside, other=0.0)
        at = other[:, None] * k + col[None, :]
        rest = tl.load(b_ptr + at, mask=(col < k)[None, :], other=0.0)
        rest -= tl.dot(factor, x, input_precision="ieee", out_dtype=x.dtype)
        tl.store(b_ptr + at, rest, mask=(col < k)[None, :])


def solve_and_add_scaled_vector(A: torch.Tensor, b: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    n, k = b.shape if b.dim() == 2 else (b.shape[0], 1)
    out = torch.empty(b.shape, dtype=b.dtype, device=b.device)
    if out.numel() == 0:
        return out
    work = b.reshape(n, k).clone(memory_format=torch.contiguous_format)
    y = y.expand(b.shape)
    stride_yk = y.stride(1) if y.dim() == 2 else 0
    # as a tensor, since a Python number reaches a kernel as float32
    factor = torch.full((1,), alpha, dtype=b.dtype, device=b.device)
    block = 16 if n <= 64 else 32
    blocks = triton.cdiv(n, block)
    for step in reversed(range(blocks)):
        substitute[(step + 1, triton.cdiv(k, 16))](
            A, work, y, factor, out, n, k, step, *A.stride(), y.stride(0), stride_yk, BLOCK=block, COLS=16
        )
    return out
