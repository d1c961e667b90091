"""Cholesky factorization in panels of columns, then forward and backward substitution in blocks, one launch each.

Every program of a launch factors the panel's diagonal block (or solves the block's small system) itself, together with its own
rows, so that no program waits for another.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def load_block(ptr, row, col, n, stride_m, stride_n):
    mask = (row < n)[:, None] & (col < n)[None, :]
    return tl.load(ptr + row[:, None] * stride_m + col[None, :] * stride_n, mask=mask, other=0.0)


@triton.jit(do_not_specialize=["n", "panel"])
def panel_kernel(a_ptr, l_ptr, n, panel, BLOCK: tl.constexpr):
    """Block ``program_id(0)`` of panel ``panel`` of the factor; blocks above the diagonal become zero."""
    block = tl.program_id(0)
    local = tl.arange(0, BLOCK)
    col = panel * BLOCK + local
    row = block * BLOCK + local
    rest = tl.zeros((BLOCK, BLOCK), a_ptr.dtype.element_ty)
    if block >= panel:
        top = load_block(a_ptr, col, col, n, n, 1)
        rest = load_block(a_ptr, row, col, n, n, 1)
        for done in range(panel):
            before = done * BLOCK + local
            left = load_block(l_ptr, col, before, n, n, 1)
            mine = load_block(l_ptr, row, before, n, n, 1)
            top -= tl.dot(left, tl.trans(left), input_precision="ieee", out_dtype=top.dtype)
            rest -= tl.dot(mine, tl.trans(left), input_precision="ieee", out_dtype=top.dtype)
        for c in range(tl.minimum(BLOCK, n - panel * BLOCK)):
            here, right = (local == c)[None, :], (local > c)[None, :]
            across = tl.sum(tl.where((local == c)[:, None], top, 0.0), 0)
            root = tl.sqrt(tl.sum(tl.where(local == c, across, 0.0), 0))
            across = tl.where(right, (across / root)[None, :], 0.0)
            column = tl.sum(tl.where(here, top, 0.0), 1) / root
            top = tl.where(here, column[:, None], top - column[:, None] * across)
            column = tl.sum(tl.where(here, rest, 0.0), 1) / root
            rest = tl.where(here, column[:, None], rest - column[:, None] * across)
        rest = tl.where(row[:, None] >= col[None, :], rest, 0.0)
    mask = (row < n)[:, None] & (col < n)[None, :]
    tl.store(l_ptr + row[:, None] * n + col[None, :], rest, mask=mask)


@triton.jit(do_not_specialize=["n", "k", "step"])
def substitute(
    t_ptr, b_ptr, x_ptr, n, k, step, stride_m, stride_n, BACKWARD: tl.constexpr, BLOCK: tl.constexpr, COLS: tl.constexpr
):
    """Solves block ``step`` of a triangular system; program 0 stores it in x, the others update blocks of b with it."""
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
    n, k = b.shape
    block = 16 if n <= 64 else 32
    blocks = triton.cdiv(n, block)
    for i in range(blocks):
        step = blocks - 1 - i if backward else i
        grid = (blocks - i, triton.cdiv(k, 16))
        substitute[grid](t, b, x, n, k, step, stride_m, stride_n, BACKWARD=backward, BLOCK=block, COLS=16)


def fused_cholesky_solve(A: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    n, k = b.shape
    result = torch.empty((n, k), dtype=b.dtype, device=b.device)
    if result.numel() == 0:
        return result
    a = A.contiguous()
    factor = torch.empty_like(a)
    block = 16 if n <= 64 else 32
    panels = triton.cdiv(n, block)
    for panel in range(panels):
        panel_kernel[(panels,)](a, factor, n, panel, BLOCK=block)
    half = torch.empty_like(result)
    sweep(factor, b.clone(memory_format=torch.contiguous_format), half, n, 1, backward=False)
    sweep(factor, half, result, 1, n, backward=True)
    return result
