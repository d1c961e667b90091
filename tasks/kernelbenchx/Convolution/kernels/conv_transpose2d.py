"""Transposed convolution as gathered matrix products, phase by phase.

Output rows with equal remainder by the stride (a phase) are reached by the same rows of the kernel, from neighbouring
rows of the input. A program makes a tile of places of one phase times output channels of one group; a tap of the kernel
that does not reach the phase is skipped as a whole.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_transpose2d_kernel(
    x_ptr, w_ptr, bias_ptr, out_ptr, N, H, W, OH, OW, channels, filters, KH, KW,
    stride_h, stride_w, pad_h, pad_w, dil_h, dil_w, x_n, x_c, x_h, x_w, w_c, w_o, w_h, w_w,
    BIAS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    phases = stride_h * stride_w
    group, phase = tl.program_id(2) // phases, tl.program_id(2) % phases
    first_y, first_x = phase // stride_w, phase % stride_w
    rows = (OH - first_y + stride_h - 1) // stride_h
    columns = (OW - first_x + stride_w - 1) // stride_w
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    per_image = tl.maximum(rows * columns, 1)
    n = (p // per_image).to(tl.int64)
    y, x = p % per_image // tl.maximum(columns, 1), p % per_image % tl.maximum(columns, 1)
    real = (p < N * rows * columns)[:, None]
    acc = tl.zeros((BLOCK_P, BLOCK_O), tl.float32)
    for tap in range(KH * KW):
        i, j = tap // KW, tap % KW
        shift_h, shift_w = first_y + pad_h - i * dil_h, first_x + pad_w - j * dil_w
        if (shift_h % stride_h == 0) & (shift_w % stride_w == 0):
            h, w = y + shift_h // stride_h, x + shift_w // stride_w
            inside = real & ((h >= 0) & (h < H) & (w >= 0) & (w < W))[:, None]
            place = n * x_n + h * x_h + w * x_w
            for start in range(0, channels, BLOCK_C):
                c = start + tl.arange(0, BLOCK_C)
                channel = (group * channels + c).to(tl.int64)
                source = place[:, None] + channel[None, :] * x_c
                pixels = tl.load(x_ptr + source, mask=inside & (c < channels)[None, :], other=0.0)
                at = channel[:, None] * w_c + (o * w_o + i * w_h + j * w_w)[None, :]
                weight = tl.load(w_ptr + at, mask=(c < channels)[:, None] & (o < filters)[None, :], other=0.0)
                acc = tl.dot(pixels, weight, acc, input_precision="ieee")
    filter = group * filters + o
    if BIAS:
        acc += tl.load(bias_ptr + filter, mask=o < filters, other=0.0)[None, :]
    total = filters * (tl.num_programs(2) // phases)
    place = (first_y + y * stride_h) * OW + first_x + x * stride_w
    target = (n[:, None] * total + filter[None, :]) * (OH * OW) + place[:, None]
    tl.store(out_ptr + target, acc, mask=real & (o < filters)[None, :])


def pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def conv_transpose2d(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor = None,
    stride: int = 1,
    padding: int = 0,
    output_padding: int = 0,
    groups: int = 1,
    dilation: int = 1,
) -> torch.Tensor:
    (N, C, H, W), (_, filters, KH, KW) = input.shape, weight.shape
    stride, padding, extra, dilation = pair(stride), pair(padding), pair(output_padding), pair(dilation)
    OH, OW = (
        (size - 1) * s - 2 * p + d * (k - 1) + e + 1
        for size, s, p, d, k, e in zip((H, W), stride, padding, dilation, (KH, KW), extra, strict=True)
    )
    out = torch.empty((N, filters * groups, OH, OW), dtype=input.dtype, device=input.device)
    if out.numel():
        places = N * triton.cdiv(OH, stride[0]) * triton.cdiv(OW, stride[1])
        tile_o = 16 if filters <= 16 else 32 if filters <= 32 else 64
        grid = (triton.cdiv(places, 64), triton.cdiv(filters, tile_o), groups * stride[0] * stride[1])
        conv_transpose2d_kernel[grid](
            input, weight, None if bias is None else bias.contiguous(), out,
            N, H, W, OH, OW, C // groups, filters, KH, KW, *stride, *padding, *dilation,
            *input.stride(), *weight.stride(),
            BIAS=bias is not None, BLOCK_P=64, BLOCK_O=tile_o, BLOCK_C=16, num_warps=8,
        )  # fmt: skip
    return out
