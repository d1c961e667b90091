"""Two-dimensional convolution (cross-correlation), NCHW.

`conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)`

- `input`: `(N, C_in, H, W)`, `weight`: `(C_out, C_in / groups, kH, kW)`, `bias`: `(C_out,)` or `None`.
- `stride`, `padding`, `dilation`: an int, or a pair `(vertical, horizontal)`. Padding is with zeros on both sides.
- `groups` divides `C_in` and `C_out`: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input channels
  `[g·C_in/groups, (g+1)·C_in/groups)`.

The result is `(N, C_out, H_out, W_out)`, with `H_out = (H + 2·pad - dil·(kH - 1) - 1) // stride + 1` and `W_out` alike:

    out[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] · in[n, c0 + c, y·stride + i·dil - pad, …]

where `c0` is the first input channel of `o`'s group. The kernel is not flipped. `input` and `weight` may be
non-contiguous; the result is contiguous float32. Products and sums are float32: TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("convolution", "compute-bound")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3)),
    dict(shape=(1, 4, 9, 10), weight=(6, 4, 3, 3), stride=2),
    dict(shape=(1, 67, 7, 5), weight=(17, 67, 3, 3), padding=1),
    dict(shape=(1, 3, 17, 19), weight=(2, 3, 3, 3), dilation=2),
    dict(shape=(2, 5, 16, 21), weight=(7, 5, 3, 3), stride=2, padding=1),
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 1, 1)),
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3), bias=True),
    dict(shape=(1, 4, 9, 10), weight=(6, 4, 3, 3), strided=True),
    dict(shape=(1, 4, 9, 10), weight=(6, 4, 3, 2), stride=(2, 1), padding=(1, 0)),
    dict(shape=(2, 4, 10, 9), weight=(6, 2, 3, 3), padding=1, dilation=2, groups=2),
    dict(shape=(1, 6, 7, 8), weight=(6, 1, 5, 3), padding=(2, 1), dilation=(1, 2), groups=6, bias=True),
    dict(shape=(1, 19, 5, 5), weight=(17, 19, 1, 1), stride=2, bias=True),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3)),
]

SIZES = [
    dict(shape=(2, 16, 16, 16), weight=(32, 16, 3, 3), padding=1),
    dict(shape=(16, 128, 16, 16), weight=(256, 128, 3, 3), padding=1),
    dict(shape=(32, 64, 56, 56), weight=(64, 64, 3, 3), padding=1),
    dict(shape=(64, 256, 56, 56), weight=(256, 256, 3, 3), padding=1),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(strides="contiguous", growth=4)


def conv2d(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> torch.Tensor:
    return F.conv2d(input, weight, bias, stride, padding, dilation, groups)


def inputs(make, shape, weight, bias=False, stride=1, padding=0, dilation=1, groups=1, strided=False):
    x, w = make.floats(*shape), make.plain(*weight)
    if strided:
        x, w = make.strided(x), make.strided(w)
    b = make.plain(weight[0]) if bias else None
    return call(x, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups)


def positive_unfold(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Patches as columns, one matrix product a group."""
    if input.shape[0] == 0:
        return F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    columns = F.unfold(input, weight.shape[2:], dilation, padding, stride)
    n, _, places = columns.shape
    columns = columns.reshape(n, groups, -1, places)
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    out = torch.einsum("gok,ngkp->ngop", rows, columns).reshape(n, weight.shape[0], places)
    if bias is not None:
        out = out + bias[:, None]
    return out.reshape(F.conv2d(input, weight, bias, stride, padding, dilation, groups).shape).contiguous()


def negative_flipped_kernel(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return F.conv2d(input, weight.flip(2, 3), bias, stride, padding, dilation, groups)


def negative_no_bias(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return F.conv2d(input, weight, None, stride, padding, dilation, groups)


def negative_swapped_pairs(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    swap = [v if isinstance(v, int) else v[::-1] for v in (stride, padding, dilation)]
    return F.conv2d(input, weight, bias, *swap, groups)


def negative_wrong_group(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Every group reads its channels from the neighbouring group."""
    return F.conv2d(input.roll(input.shape[1] // groups, 1), weight, bias, stride, padding, dilation, groups)


def negative_edge_padding(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Clamps the address at the border where the border counts as zero."""
    v, h = (padding, padding) if isinstance(padding, int) else padding
    padded = F.pad(input, (h, h, v, v), mode="replicate") if input.numel() else input
    return F.conv2d(padded, weight, bias, stride, 0 if input.numel() else padding, dilation, groups)


def negative_tf32(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    x, w = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (input, weight))
    return F.conv2d(x, w, bias, stride, padding, dilation, groups)
