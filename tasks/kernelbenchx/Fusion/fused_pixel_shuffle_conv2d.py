"""Two-dimensional convolution whose channels are then rearranged into a larger image.

`fused_pixel_shuffle_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2)`

- `input`: float32 `(N, C_in, H, W)`, `weight`: `(C_out, C_in / groups, kH, kW)`, `bias`: `(C_out,)` or `None`.
- `stride`, `padding`, `dilation`: an int, or a pair `(vertical, horizontal)`. Padding is with zeros on both sides.
- `groups` divides both channel counts: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input
  channels `[g·C_in/groups, (g+1)·C_in/groups)`.
- `upscale_factor`: an int `r ≥ 1`; `r²` divides `C_out`.

The convolution has `H_out = (H + 2·padding - dilation·(kH - 1) - 1) // stride + 1` rows, `W_out` columns alike:

    z[n, o, y, x] = bias[o] + sum over c, i, j of
        weight[o, c, i, j] · input[n, c0 + c, y·stride + i·dilation - padding, x·stride + j·dilation - padding]

where `c0` is the first input channel of `o`'s group and the kernel is not flipped. The result is
`(N, C_out / r², r·H_out, r·W_out)`:

    out[n, q, y·r + a, x·r + b] = z[n, q·r² + a·r + b, y, x]    for 0 ≤ a, b < r.

`input` and `weight` may be non-contiguous, `N` may be 0. The result is a new float32 tensor with any strides. Products
and sums are float32: TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("convolution", "matmul", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 9, 11), weight=(8, 3, 3, 3)),
    dict(shape=(2, 3, 8, 7), weight=(8, 3, 3, 3), padding=1, upscale_factor=2),
    dict(shape=(1, 4, 9, 10), weight=(16, 4, 3, 2), stride=2),
    dict(shape=(1, 9, 3, 5), weight=(16, 9, 1, 1)),
    dict(shape=(1, 5, 13, 7), weight=(12, 5, 3, 3), padding=1, bias=False),
    dict(shape=(1, 1, 1, 1), weight=(4, 1, 1, 1)),
    dict(shape=(2, 3, 7, 9), weight=(8, 3, 3, 3), strided=True),
    dict(shape=(1, 4, 9, 10), weight=(16, 4, 3, 2), stride=(2, 1), padding=(1, 0)),
    dict(shape=(2, 4, 10, 9), weight=(8, 2, 3, 3), groups=2),
    dict(shape=(1, 6, 7, 8), weight=(12, 1, 4, 3), padding=1, dilation=(1, 2), groups=6),
    dict(shape=(1, 4, 9, 10), weight=(18, 4, 3, 2), upscale_factor=3),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3)),
]

SIZES = [
    dict(shape=(16, 3, 16, 16), weight=(12, 3, 3, 3), padding=1),
    dict(shape=(16, 3, 128, 128), weight=(12, 3, 3, 3), padding=1),
    dict(shape=(16, 64, 64, 64), weight=(256, 64, 3, 3), padding=1),
    dict(shape=(16, 3, 768, 768), weight=(12, 3, 3, 3), padding=1),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(growth=4)


def fused_pixel_shuffle_conv2d(
    input: torch.Tensor, weight: torch.Tensor, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2
) -> torch.Tensor:
    return F.pixel_shuffle(F.conv2d(input, weight, bias, stride, padding, dilation, groups), upscale_factor)


def inputs(make, shape, weight, bias=True, strided=False, **options):
    x, w = make.floats(*shape), make.plain(*weight)
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(weight[0], low=-2.5, high=2.5) if bias else None, **options)


def positive_phase_by_phase(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2):
    """One convolution for each place in the r × r blocks, written where it belongs."""
    r = upscale_factor
    sample = F.conv2d(input, weight, None, stride, padding, dilation, groups)
    (n, c, h, w), each = sample.shape, weight.shape[0] // groups
    out = input.new_empty(n, c // r**2, h * r, w * r)
    for o in range(c):
        first = o // each * weight.shape[1]
        seen = input[:, first : first + weight.shape[1]].flip(1)
        z = F.conv2d(seen, weight[o : o + 1].flip(1), None, stride, padding, dilation)
        q, a, b = o // r**2, o // r % r, o % r
        out[:, q, a::r, b::r] = z[:, 0] if bias is None else z[:, 0] + bias[o]
    return out


def negative_columns_first(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2):
    """Rows and columns of the blocks swapped."""
    r = upscale_factor
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    n, c, h, w = z.shape
    return z.reshape(n, c // r**2, r, r, h, w).permute(0, 1, 4, 3, 5, 2).reshape(n, c // r**2, h * r, w * r)


def negative_channels_last_in_block(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2
):
    """Takes the block's place as the slow part of the channel number."""
    r = upscale_factor
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    n, c, h, w = z.shape
    return z.reshape(n, r, r, c // r**2, h, w).permute(0, 3, 4, 1, 5, 2).reshape(n, c // r**2, h * r, w * r)


def negative_only_reshaped(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2):
    r = upscale_factor
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    n, c, h, w = z.shape
    return z.reshape(n, c // r**2, h * r, w * r)


def negative_no_bias(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2):
    return F.pixel_shuffle(F.conv2d(input, weight, None, stride, padding, dilation, groups), upscale_factor)


def negative_no_groups(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2):
    """Each group reads the first group's channels."""
    first = input[:, : weight.shape[1]].repeat(1, groups, 1, 1)
    return F.pixel_shuffle(F.conv2d(first, weight, bias, stride, padding, dilation, groups), upscale_factor)
