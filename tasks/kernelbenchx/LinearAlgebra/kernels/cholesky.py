"""Cholesky factorization in panels of BLOCK columns, one launch each.

Every program of a launch takes one block of rows. It factors the panel's diagonal block itself, together with its own rows,
so that no program waits for another.

A complex matrix is factored as a real one of twice the size, with `[[re, -im], [im, re]]` in place of each number: its factor
has the same form, and a real factor with a positive diagonal is unique.
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


def factor(a, result, upper):
    """The factor of a contiguous real matrix goes to ``result``."""
    n = a.shape[-1]
    # the upper factor is the lower one, written by columns
    stride_m, stride_n = (1, n) if upper else (n, 1)
    block = 16 if n <= 64 else 32
    panels = triton.cdiv(n, block)
    for panel in range(panels):
        grid = (panels, a.numel() // (n * n))
        panel_kernel[grid](a, result, n, panel, n, 1, stride_m, stride_n, BLOCK=block)


def as_real(a):
    """Every complex number as a block of two by two; the upper right of a block is the mirrored number's imaginary part."""
    n, (re, im) = a.shape[-1], torch.view_as_real(a).unbind(-1)
    blocks = torch.empty((*a.shape[:-2], n, 2, n, 2), dtype=re.dtype, device=a.device)
    blocks[..., 0, :, 0], blocks[..., 1, :, 1] = re, re
    blocks[..., 1, :, 0], blocks[..., 0, :, 1] = im, im.mT
    return blocks.view(*a.shape[:-2], 2 * n, 2 * n)


def complex_cholesky(a, result, upper):
    n, real = a.shape[-1], as_real(a)
    lower = torch.empty_like(real)
    factor(real, lower, False)
    blocks, parts = lower.view(*a.shape[:-2], n, 2, n, 2), torch.view_as_real(result)
    re, im, minus_im = blocks[..., 0, :, 0], blocks[..., 1, :, 0], blocks[..., 0, :, 1]
    parts[..., 0].copy_(re.mT if upper else re)
    parts[..., 1].copy_(minus_im.mT if upper else im)
    return result


def cholesky(A: torch.Tensor, upper: bool = False, out: torch.Tensor = None) -> torch.Tensor:
    result = torch.empty(A.shape, dtype=A.dtype, device=A.device) if out is None else out
    if A.numel() == 0:
        return result
    if A.is_complex():
        return complex_cholesky(A.contiguous(), result, upper)
    factor(A.contiguous(), result, upper)
    return result
