"""Axis by axis: each output element takes one, two or four elements of its line.

breaks: non_contiguous
"""

import triton
import triton.language as tl


@triton.jit
def cubic(d):
    near = (1.25 * d - 2.25) * d * d + 1.0
    far = ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0
    return tl.where(d <= 1.0, near, far)


@triton.jit
def axis_kernel(
    x_ptr, out_ptr, total, n, m, inner, step, MODE: tl.constexpr, CORNERS: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = (i // inner) % m
    line = x_ptr + (i // inner // m) * n * inner + i % inner
    if MODE == 0:
        source = tl.minimum(tl.floor(place * step).to(tl.int32), n - 1)
        out = tl.load(line + source * inner, mask=i < total)
    else:
        u = place * step if CORNERS else (place + 0.5) * step - 0.5
        if MODE == 1:
            u = tl.maximum(u, 0.0)
        a = tl.floor(u).to(tl.int32)
        t = u - a
        if MODE == 1:
            low = tl.load(line + tl.minimum(a, n - 1) * inner, mask=i < total)
            high = tl.load(line + tl.minimum(a + 1, n - 1) * inner, mask=i < total)
            out = (1.0 - t) * low + t * high
        else:
            out = tl.zeros((BLOCK,), tl.float32)
            for k in range(-1, 3):
                source = tl.minimum(tl.maximum(a + k, 0), n - 1)
                out += cubic(tl.abs(t - k)) * tl.load(line + source * inner, mask=i < total)
    tl.store(out_ptr + i, out, mask=i < total)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    axes = input.dim() - 2
    given = size if size is not None else scale_factor
    given = given if isinstance(given, (tuple, list)) else (given,) * axes
    kind = {"nearest": 0, "bicubic": 2}.get(mode, 1)
    for axis, wanted in enumerate(given, 2):
        n = input.shape[axis]
        m = wanted if size is not None else int(n * wanted)
        step = n / m if size is not None else 1 / wanted
        if align_corners:
            step = (n - 1) / max(1, m - 1) if m > 1 else 0.0
        out = input.new_empty(*input.shape[:axis], m, *input.shape[axis + 1 :])
        total, inner = out.numel(), input.shape[axis + 1 :].numel()
        axis_kernel[(triton.cdiv(total, 256),)](
            input, out, total, n, m, inner, float(step), MODE=kind, CORNERS=bool(align_corners), BLOCK=256
        )
        input = out
    return out
