"""Image sampling with helpers for coordinates, reflection and taps; images and volumes share one kernel.

style: gather
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
def unnormalise(g, size, ALIGN: tl.constexpr):
    return (g + 1.0) * 0.5 * (size - 1.0) if ALIGN else ((g + 1.0) * size - 1.0) * 0.5


@triton.jit
def tap(x_ptr, z, y, x, D, H, W, x_d, x_h, x_w, mask):
    """Pixels at whole-numbered coordinates, 0 outside the volume."""
    inside = mask & (x >= 0) & (x < W) & (y >= 0) & (y < H) & (z >= 0) & (z < D)
    at = z.to(tl.int64) * x_d + y.to(tl.int64) * x_h + x.to(tl.int64) * x_w
    return tl.load(x_ptr + at, mask=inside, other=0.0).to(tl.float32)


@triton.jit
def grid_sample_kernel(
    x_ptr, grid_ptr, out_ptr, C, D, H, W, places, OH, OW, x_n, x_c, x_d, x_h, x_w, g_n, g_d, g_h, g_w, g_axis,
    VOLUME: tl.constexpr, MODE: tl.constexpr, PADDING: tl.constexpr, ALIGN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    n, c = (tl.program_id(1) // C).to(tl.int64), (tl.program_id(1) % C).to(tl.int64)
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = p < places
    at = grid_ptr + n * g_n + (p // (OH * OW)).to(tl.int64) * g_d
    at += (p // OW % OH).to(tl.int64) * g_h + (p % OW).to(tl.int64) * g_w
    x = pad(unnormalise(tl.load(at, mask=mask, other=0.0), W, ALIGN), W, PADDING, ALIGN)
    y = pad(unnormalise(tl.load(at + g_axis, mask=mask, other=0.0), H, ALIGN), H, PADDING, ALIGN)
    z = tl.zeros((BLOCK,), tl.float32)
    if VOLUME:
        z = pad(unnormalise(tl.load(at + 2 * g_axis, mask=mask, other=0.0), D, ALIGN), D, PADDING, ALIGN)
    source = x_ptr + n * x_n + c * x_c
    result = tl.zeros((BLOCK,), tl.float32)
    if MODE == "nearest":
        near_z, near_y, near_x = tl.floor(z + 0.5), tl.floor(y + 0.5), tl.floor(x + 0.5)
        result = tap(source, near_z, near_y, near_x, D, H, W, x_d, x_h, x_w, mask)
    else:
        # an image is a single plane, met exactly
        for i in tl.static_range(2 if VOLUME else 1):
            for j in tl.static_range(2):
                for k in tl.static_range(2):
                    u, v, w = tl.floor(z) + i, tl.floor(y) + j, tl.floor(x) + k
                    weight = (1.0 - tl.abs(z - u)) * (1.0 - tl.abs(y - v)) * (1.0 - tl.abs(x - w))
                    result += weight * tap(source, u, v, w, D, H, W, x_d, x_h, x_w, mask)
    tl.store(out_ptr + tl.program_id(1).to(tl.int64) * places + p, result, mask=mask)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    volume = input.dim() == 5
    out = torch.empty((*input.shape[:2], *grid.shape[1:-1]), dtype=input.dtype, device=input.device)
    if out.numel():
        x, g = (input, grid) if volume else (input.unsqueeze(2), grid.unsqueeze(1))
        N, C, D, H, W = x.shape
        OD, OH, OW = g.shape[1:4]
        places = OD * OH * OW
        block = min(triton.next_power_of_2(places), 256)
        grid_sample_kernel[(triton.cdiv(places, block), N * C)](
            x, g, out, C, D, H, W, places, OH, OW, *x.stride(), *g.stride(),
            VOLUME=volume, MODE=mode, PADDING=padding_mode, ALIGN=bool(align_corners), BLOCK=block,
        )  # fmt: skip
    return out
