"""Affine sampling: a program works out the places of a stretch of pixels once, and samples every channel there.

The grid is never written to memory: a pixel's coordinates follow from its position and the image's six numbers.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def reflect(u, low, span):
    """Folds coordinates into [low, low + span]; a span of 0 has only one place."""
    distance = tl.abs(u - low)
    folds = tl.floor(distance / tl.maximum(span, 1e-30))
    rest = distance - folds * span
    inside = tl.where(folds - 2.0 * tl.floor(folds * 0.5) == 0.0, rest, span - rest) + low
    return tl.where(span == 0.0, 0.0, inside)


@triton.jit
def pad(u, size, PADDING: tl.constexpr, ALIGN: tl.constexpr):
    """Coordinates as the padding mode maps them; with zeros they may stay outside."""
    if PADDING == "reflection":
        u = reflect(u, 0.0, size - 1.0) if ALIGN else reflect(u, -0.5, size * 1.0)
    if PADDING != "zeros":
        u = tl.minimum(tl.maximum(u, 0.0), size - 1.0)
    return u


@triton.jit
def normalised(i, size, ALIGN: tl.constexpr):
    """Coordinates of output pixels, from -1 to 1."""
    if ALIGN:
        return tl.where(size == 1, 0.0, 2.0 * i / tl.maximum(size - 1, 1) - 1.0)
    return (2.0 * i + 1.0) / size - 1.0


@triton.jit
def pixel(g, size, ALIGN: tl.constexpr):
    return (g + 1.0) * 0.5 * (size - 1.0) if ALIGN else ((g + 1.0) * size - 1.0) * 0.5


@triton.jit
def weight(d, MODE: tl.constexpr):
    """Share of a pixel at distance d >= 0."""
    if MODE == "nearest":
        share = tl.full(d.shape, 1.0, tl.float32)
    elif MODE == "bilinear":
        share = 1.0 - d
    else:
        share = tl.where(d <= 1.0, (1.25 * d - 2.25) * d * d + 1.0, ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0)
    return share


@triton.jit
def affine_sample_kernel(
    x_ptr, theta_ptr, out_ptr, C, H, W, OH, OW, x_n, x_c, x_h, x_w, t_n, t_r, t_c,
    MODE: tl.constexpr, PADDING: tl.constexpr, ALIGN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(1).to(tl.int64)
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = p < OH * OW
    a, b = normalised((p % OW).to(tl.float32), OW, ALIGN), normalised((p // OW).to(tl.float32), OH, ALIGN)
    row = theta_ptr + n * t_n
    x = pixel(tl.load(row) * a + tl.load(row + t_c) * b + tl.load(row + 2 * t_c), W, ALIGN)
    row += t_r
    y = pixel(tl.load(row) * a + tl.load(row + t_c) * b + tl.load(row + 2 * t_c), H, ALIGN)
    if MODE != "bicubic":
        x, y = pad(x, W, PADDING, ALIGN), pad(y, H, PADDING, ALIGN)
    shift: tl.constexpr = 0.5 if MODE == "nearest" else 0.0
    left, top = tl.floor(x + shift), tl.floor(y + shift)
    FIRST: tl.constexpr = -1 if MODE == "bicubic" else 0
    LAST: tl.constexpr = 3 if MODE == "bicubic" else 2 if MODE == "bilinear" else 1
    for c in range(C):
        image = x_ptr + n * x_n + tl.cast(c, tl.int64) * x_c
        result = tl.zeros((BLOCK,), tl.float32)
        for down in tl.static_range(FIRST, LAST):
            for right in tl.static_range(FIRST, LAST):
                column, line = left + right, top + down
                share = weight(tl.abs(x - column), MODE) * weight(tl.abs(y - line), MODE)
                if MODE == "bicubic":
                    column, line = pad(column, W, PADDING, ALIGN), pad(line, H, PADDING, ALIGN)
                inside = mask & (column >= 0) & (column < W) & (line >= 0) & (line < H)
                at = line.to(tl.int64) * x_h + column.to(tl.int64) * x_w
                result += share * tl.load(image + at, mask=inside, other=0.0)
        tl.store(out_ptr + (n * C + c) * (OH * OW) + p, result, mask=mask)


def grid_sample_with_affine(
    input: torch.Tensor,
    theta: torch.Tensor,
    size: torch.Size,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> torch.Tensor:
    (N, C, H, W), (OH, OW) = input.shape, size[2:]
    out = torch.empty((N, C, OH, OW), dtype=input.dtype, device=input.device)
    if out.numel():
        block = min(triton.next_power_of_2(OH * OW), 256)
        affine_sample_kernel[(triton.cdiv(OH * OW, block), N)](
            input, theta, out, C, H, W, OH, OW, *input.stride(), *theta.stride(),
            MODE=mode, PADDING=padding_mode, ALIGN=bool(align_corners), BLOCK=block,
        )  # fmt: skip
    return out
