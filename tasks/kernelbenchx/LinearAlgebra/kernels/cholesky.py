"""Cholesky factorization in panels of BLOCK columns, one launch each.

Every program of a launch takes one block of rows. It factors the panel's diagonal block itself, together with its own rows,
so that no program waits for another.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def load_block(ptr, row, col, n, stride_m, stride_n):
    mask = (row < n)[:, None] & (col < n)[None, :]
    return tl.load(ptr + row[:, None] * stride_m + col[None, :] * stride_n, mask=mask, other=0.0)


@triton.jit(do_not_specialize=["n", "panel"])
def panel_kernel(a_ptr, l_ptr, n, panel, stride_am, stride_an, stride_lm, stride_ln, BLOCK: tl.constexpr):
    """Block ``program_id(0)`` of panel ``panel`` of the factor; blocks above the diagonal become zero."""
    batch = tl.program_id(1).to(tl.int64) * n * n
    a_ptr += batch
    l_ptr += batch
    block = tl.program_id(0)
    local = tl.arange(0, BLOCK)
    col = panel * BLOCK + local
    row = block * BLOCK + local
    rest = tl.zeros((BLOCK, BLOCK), a_ptr.dtype.element_ty)
    if block >= panel:
        top = load_block(a_ptr, col, col, n, stride_am, stride_an)
        rest = load_block(a_ptr, row, col, n, stride_am, stride_an)
        for done in range(panel):
            before = done * BLOCK + local
            left = load_block(l_ptr, col, before, n, stride_lm, stride_ln)
            mine = load_block(l_ptr, row, before, n, stride_lm, stride_ln)
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
    tl.store(l_ptr + row[:, None] * stride_lm + col[None, :] * stride_ln, rest, mask=mask)


def cholesky(A: torch.Tensor, upper: bool = False, out: torch.Tensor = None) -> torch.Tensor:
    n = A.shape[-1]
    result = torch.empty(A.shape, dtype=A.dtype, device=A.device) if out is None else out
    if A.numel() == 0:
        return result
    a = A.contiguous()
    # the upper factor is the lower one, written by columns
    stride_m, stride_n = (1, n) if upper else (n, 1)
    block = 16 if n <= 64 else 32
    panels = triton.cdiv(n, block)
    for panel in range(panels):
        grid = (panels, A.numel() // (n * n))
        panel_kernel[grid](a, result, n, panel, n, 1, stride_m, stride_n, BLOCK=block)
    return result
