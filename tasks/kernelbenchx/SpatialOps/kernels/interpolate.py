"""Resizing, all modes and ranks in one kernel: along every axis an output reads a few taps, each with a weight.

A program makes a stretch of places of one plane. Missing axes have size one and are read by their only element.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def cubic(d):
    """Weight of an element at distance d >= 0, A = -0.75."""
    near = (1.25 * d - 2.25) * d * d + 1.0
    far = ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0
    return tl.where(d <= 1.0, near, far)


@triton.jit
def tap(i, k, size, step, MODE: tl.constexpr, ALIGN: tl.constexpr):
    """Index and weight of tap ``k`` of place ``i`` along an axis of ``size`` elements."""
    if MODE == "nearest":
        at = tl.floor(i.to(tl.float32) * step).to(tl.int32)
        weight = tl.full(i.shape, 1.0, tl.float32)
    else:
        u = i.to(tl.float32) * step if ALIGN else (i.to(tl.float32) + 0.5) * step - 0.5
        if MODE == "linear":
            u = tl.maximum(u, 0.0)
        left = tl.floor(u)
        t = u - left
        if MODE == "linear":
            at = left.to(tl.int32) + k
            weight = tl.where(k == 0, 1.0 - t, t)
        else:
            at = left.to(tl.int32) + k - 1
            weight = cubic(tl.abs(t - (k - 1)))
    return tl.minimum(tl.maximum(at, 0), size - 1), weight


@triton.jit
def interpolate_kernel(
    x_ptr, out_ptr, C, D, H, W, OD, OH, OW, step_d, step_h, step_w, x_n, x_c, x_d, x_h, x_w,
    MODE: tl.constexpr, ALIGN: tl.constexpr, RANK: tl.constexpr,
    TAPS_D: tl.constexpr, TAPS_H: tl.constexpr, TAPS_W: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    places = OD * OH * OW
    tiles = tl.cdiv(places, BLOCK)
    plane = (tl.program_id(0) // tiles).to(tl.int64)
    o = tl.program_id(0) % tiles * BLOCK + tl.arange(0, BLOCK)
    mask = o < places
    base = x_ptr + plane // C * x_n + plane % C * x_c
    acc = tl.zeros((BLOCK,), tl.float32)
    for a in range(TAPS_D):
        d, weight_d = tap(o // (OH * OW), a, D, step_d, MODE if RANK > 2 else "nearest", ALIGN)
        for b in range(TAPS_H):
            h, weight_h = tap(o // OW % OH, b, H, step_h, MODE if RANK > 1 else "nearest", ALIGN)
            for c in range(TAPS_W):
                w, weight_w = tap(o % OW, c, W, step_w, MODE, ALIGN)
                at = d.to(tl.int64) * x_d + h.to(tl.int64) * x_h + w.to(tl.int64) * x_w
                acc += weight_d * weight_h * weight_w * tl.load(base + at, mask=mask, other=0.0)
    tl.store(out_ptr + plane * places + o, acc, mask=mask)


def per_axis(value, rank):
    return (value,) * rank if isinstance(value, (int, float)) else tuple(value)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    spatial = tuple(input.shape[2:])
    rank = len(spatial)
    if size is not None:
        sizes = per_axis(size, rank)
        steps = [n / m for n, m in zip(spatial, sizes, strict=True)]
    else:
        factors = per_axis(scale_factor, rank)
        sizes = tuple(int(n * f) for n, f in zip(spatial, factors, strict=True))
        steps = [1 / f for f in factors]
    if align_corners:
        steps = [(n - 1) / max(m - 1, 1) for n, m in zip(spatial, sizes, strict=True)]
    kind = {"nearest": "nearest", "bicubic": "cubic"}.get(mode, "linear")
    taps = [{"nearest": 1, "linear": 2, "cubic": 4}[kind]] * rank
    out = torch.empty((*input.shape[:2], *sizes), dtype=input.dtype, device=input.device)
    if out.numel():
        missing = (1,) * (3 - rank)
        strides = input.stride()[:2] + (0,) * (3 - rank) + input.stride()[2:]
        places = torch.Size(sizes).numel()
        block = min(triton.next_power_of_2(places), 512)
        interpolate_kernel[(input.shape[0] * input.shape[1] * triton.cdiv(places, block),)](
            input, out, input.shape[1], *missing, *spatial, *missing, *sizes, *map(float, missing), *steps, *strides,
            kind, bool(align_corners), rank, *missing, *taps, BLOCK=block, num_warps=4,
        )  # fmt: skip
    return out
