"""Convolution as a matrix product whose left operand is gathered on the fly; groups, strides, dilation and padding.

style: implicit_gemm
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv2d_kernel(
    x_ptr, w_ptr, bias_ptr, out_ptr, places, H, W, OH, OW, channels, filters, KH, KW,
    stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w,
    BIAS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A tile of output places (n, y, x) times output channels of one group; the sum runs over (c, i, j)."""
    group = tl.program_id(2)
    p = (tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)).to(tl.int64)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    n, y, x = p // (OH * OW), p // OW % OH, p % OW
    row, column = y * stride_h - pad_h, x * stride_w - pad_w
    filter = (group * filters + o).to(tl.int64)
    depth = channels * KH * KW
    acc = tl.zeros((BLOCK_P, BLOCK_O), tl.float32)
    for start in range(0, depth, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c, i, j = k // (KH * KW), k // KW % KH, k % KW
        h = row[:, None] + (i * dil_h)[None, :]
        w = column[:, None] + (j * dil_w)[None, :]
        source = n[:, None] * x_n + (group * channels + c).to(tl.int64)[None, :] * x_c + h * x_h + w * x_w
        inside = (p < places)[:, None] & (k < depth)[None, :] & (h >= 0) & (h < H) & (w >= 0) & (w < W)
        patch = tl.load(x_ptr + source, mask=inside, other=0.0)
        at = filter[None, :] * w_o + (c * w_c + i * w_h + j * w_w)[:, None]
        weight = tl.load(w_ptr + at, mask=(k < depth)[:, None] & (o < filters)[None, :], other=0.0)
        acc = tl.dot(patch, weight, acc, input_precision="ieee")
    if BIAS:
        acc += tl.load(bias_ptr + filter, mask=o < filters, other=0.0).to(tl.float32)[None, :]
    total = filters * tl.num_programs(2)
    target = (n[:, None] * total + filter[None, :]) * (OH * OW) + (y * OW + x)[:, None]
    tl.store(out_ptr + target, acc, mask=(p < places)[:, None] & (o < filters)[None, :])


def pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def conv2d(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> torch.Tensor:
    (N, _, H, W), (outputs, C, KH, KW) = input.shape, weight.shape
    stride, padding, dilation = pair(stride), pair(padding), pair(dilation)
    OH = (H + 2 * padding[0] - dilation[0] * (KH - 1) - 1) // stride[0] + 1
    OW = (W + 2 * padding[1] - dilation[1] * (KW - 1) - 1) // stride[1] + 1
    out = torch.empty((N, outputs, OH, OW), dtype=input.dtype, device=input.device)
    if out.numel():
        places, filters = N * OH * OW, outputs // groups
        tile_o = 16 if filters <= 16 else 32 if filters <= 32 else 64
        conv2d_kernel[(triton.cdiv(places, 64), triton.cdiv(filters, tile_o), groups)](
            input, weight, None if bias is None else bias.contiguous(), out,
            places, H, W, OH, OW, C, filters, KH, KW, *stride, *padding, *dilation, *input.stride(), *weight.stride(),
            BIAS=bias is not None, BLOCK_P=64, BLOCK_O=tile_o, BLOCK_K=16, num_warps=8,
        )  # fmt: skip
    return out
