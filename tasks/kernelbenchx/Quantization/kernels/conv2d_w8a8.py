"""W8A8 convolution: images and filters become int8 rows, then an implicit matrix product gathers patches on the fly.

An image is too large for one program: partial maxima of its chunks come first, and each program of the second kernel
reads them all.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def maximum_kernel(x_ptr, top_ptr, n, BLOCK: tl.constexpr):
    """Largest magnitude of one chunk of one row."""
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    k = chunk * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + k, mask=k < n, other=0.0)
    tl.store(top_ptr + row * tl.num_programs(1) + chunk, tl.max(tl.abs(x), 0))


@triton.jit
def quantize_kernel(x_ptr, top_ptr, q_ptr, scale_ptr, n, BLOCK: tl.constexpr, CHUNKS: tl.constexpr):
    """int8 levels of one chunk, by the scale of its whole row: largest magnitude over 127, 1 for zeros."""
    row, chunk, chunks = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    c = tl.arange(0, CHUNKS)
    top = tl.max(tl.load(top_ptr + row * chunks + c, mask=c < chunks, other=0.0), 0)
    scale = tl.div_rn(top, 127.0)
    scale = tl.where(scale > 0, scale, 1.0)
    tl.store(scale_ptr + row, scale)
    k = chunk * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + k, mask=k < n, other=0.0)
    q = libdevice.rint(tl.div_rn(x, tl.zeros((BLOCK,), tl.float32) + scale))
    tl.store(q_ptr + row * n + k, tl.minimum(tl.maximum(q, -127.0), 127.0).to(tl.int8), mask=k < n)


@triton.jit(do_not_specialize=["places", "H", "W", "OH", "OW", "C", "filters", "KH", "KW", "stride", "padding"])
def conv2d_kernel(
    x_ptr, w_ptr, x_scale_ptr, w_scale_ptr, bias_ptr, out_ptr,
    places, H, W, OH, OW, C, filters, KH, KW, stride, padding,
    BIAS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A tile of output places (n, y, x) times output channels; the sum runs over (c, i, j). Padding is level 0."""
    p = (tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)).to(tl.int64)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    n, y, x = p // (OH * OW), p // OW % OH, p % OW
    row, column = (y * stride - padding).to(tl.int32), (x * stride - padding).to(tl.int32)
    depth = C * KH * KW
    # Offsets within an image fit into 32 bits, those of images may not.
    image, corner = x_ptr + n * C * H * W, row * W + column
    weights = w_ptr + o.to(tl.int64) * depth
    acc = tl.zeros((BLOCK_P, BLOCK_O), tl.int32)
    for start in range(0, depth, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c, i, j = k // (KH * KW), k // KW % KH, k % KW
        h, w = row[:, None] + i[None, :], column[:, None] + j[None, :]
        inside = (p < places)[:, None] & (k < depth)[None, :] & (h >= 0) & (h < H) & (w >= 0) & (w < W)
        patch = tl.load(image[:, None] + (corner[:, None] + (c * H * W + i * W + j)[None, :]), mask=inside, other=0)
        weight_mask = (k < depth)[:, None] & (o < filters)[None, :]
        weight = tl.load(weights[None, :] + k[:, None], mask=weight_mask, other=0)
        acc = tl.dot(patch, weight, acc, out_dtype=tl.int32)
    x_scale = tl.load(x_scale_ptr + n, mask=p < places, other=0.0)
    w_scale = tl.load(w_scale_ptr + o, mask=o < filters, other=0.0)
    out = acc.to(tl.float32) * x_scale[:, None] * w_scale[None, :]
    if BIAS:
        out += tl.load(bias_ptr + o, mask=o < filters, other=0.0)[None, :]
    target = (n[:, None] * filters + o[None, :]) * (OH * OW) + (y * OW + x)[:, None]
    tl.store(out_ptr + target, out, mask=(p < places)[:, None] & (o < filters)[None, :])


CHUNKS = 1024
"""How many chunks a row has at most: a program reads all their maxima at once."""


def quantize(x):
    """int8 levels in NCHW order, and one float32 scale for each index of the first dimension."""
    rows, n = x.shape[0], x[0].numel()
    x = x.contiguous()
    block = 1024 if n <= 1024 else max(4096, triton.next_power_of_2(triton.cdiv(n, CHUNKS)))
    chunks = triton.cdiv(n, block)
    top = torch.empty((rows, chunks), dtype=torch.float32, device=x.device)
    q = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    scale = torch.empty(rows, dtype=torch.float32, device=x.device)
    maximum_kernel[(rows, chunks)](x, top, n, BLOCK=block, num_warps=8)
    quantize_kernel[(rows, chunks)](x, top, q, scale, n, BLOCK=block, CHUNKS=CHUNKS, num_warps=8)
    return q, scale


def conv2d_w8a8(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor = None, stride: int = 1, padding: int = 0
) -> torch.Tensor:
    (N, C, H, W), (filters, _, KH, KW) = input.shape, weight.shape
    OH, OW = (H + 2 * padding - KH) // stride + 1, (W + 2 * padding - KW) // stride + 1
    out = torch.empty((N, filters, OH, OW), dtype=torch.float32, device=input.device)
    if out.numel():
        (x, x_scale), (w, w_scale) = quantize(input), quantize(weight)
        places = N * OH * OW
        block_o = 32 if filters <= 32 else 64
        conv2d_kernel[(triton.cdiv(places, 64), triton.cdiv(filters, block_o))](
            x, w, x_scale, w_scale, None if bias is None else bias.contiguous(), out,
            places, H, W, OH, OW, C, filters, KH, KW, stride, padding,
            BIAS=bias is not None, BLOCK_P=64, BLOCK_O=block_o, BLOCK_K=32, num_warps=8,
        )  # fmt: skip
    return out
