"""Two-dimensional transposed convolution, NCHW: every input pixel spreads a weighted kernel over the output.

`conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1)`

- `input`: `(N, C_in, H, W)`, `weight`: `(C_in, C_out / groups, kH, kW)`, `bias`: `(C_out,)` or `None`.
- `stride`, `padding`, `output_padding`, `dilation`: an int, or a pair `(vertical, horizontal)`.
- `groups` divides `C_in` and `C_out`: the input channels of group `g` reach only output channels
  `[g·C_out/groups, (g+1)·C_out/groups)`.

Start from zeros. For every `n`, input channel `c`, output channel `o` of its group, and all `y, x, i, j`:

    out[n, o, y·stride + i·dilation - padding, x·stride + j·dilation - padding] +=
        input[n, c, y, x] · weight[c, o', i, j]

where `o'` is `o`'s place within its group; what falls outside the output is dropped. Then `bias[o]` is added
everywhere. The result is `(N, C_out, H_out, W_out)` with

    H_out = (H - 1)·stride - 2·padding + dilation·(kH - 1) + output_padding + 1,

`W_out` alike: `output_padding` only adds rows at the bottom and columns at the right, smaller in number than the larger
of stride and dilation. `input` and `weight` may be non-contiguous, `N` may be 0. The result is a new float32 tensor
with any strides. Products and sums are float32: TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("convolution", "matmul")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 5, 7), weight=(3, 5, 3, 3), bias=False),
    dict(shape=(2, 3, 4, 5), weight=(3, 4, 3, 3), stride=2, padding=1, output_padding=1),
    dict(shape=(2, 4, 9, 7), weight=(4, 2, 3, 3), groups=2, bias=False),
    dict(shape=(1, 19, 5, 3), weight=(19, 17, 3, 3), stride=2, padding=1, output_padding=1, bias=False),
    dict(shape=(1, 67, 7, 5), weight=(67, 5, 3, 3)),
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 1, 1), bias=False),
    dict(shape=(1, 4, 5, 6), weight=(4, 6, 3, 3), strided=True),
    dict(shape=(1, 4, 5, 6), weight=(4, 6, 3, 2), stride=(2, 1), padding=(1, 0)),
    dict(
        shape=(1, 4, 5, 4), weight=(4, 3, 3, 3), stride=(3, 2), padding=2, output_padding=(2, 0), groups=2, bias=False
    ),
    dict(shape=(1, 3, 5, 6), weight=(3, 4, 3, 3), dilation=2),
    dict(shape=(2, 6, 4, 6), weight=(6, 1, 2, 3), padding=(1, 2), output_padding=(0, 1), groups=6, dilation=(1, 2)),
    dict(shape=(1, 19, 5, 3), weight=(19, 17, 4, 4), stride=2, padding=2),
    dict(shape=(0, 3, 8, 8), weight=(3, 4, 3, 3)),
]

SIZES = [
    dict(shape=(2, 8, 16, 16), weight=(8, 16, 3, 3), stride=2, padding=1, output_padding=1),
    dict(shape=(16, 64, 16, 16), weight=(64, 128, 3, 3), stride=2, padding=1, output_padding=1),
    dict(shape=(16, 128, 32, 32), weight=(128, 64, 4, 4), stride=2, padding=1),
    dict(shape=(32, 256, 32, 32), weight=(256, 128, 4, 4), stride=2, padding=1),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(growth=4)


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
    return F.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)


def inputs(make, shape, weight, bias=True, groups=1, strided=False, **options):
    x, w = make.floats(*shape), make.plain(*weight)
    if strided:
        x, w = make.strided(x), make.strided(w)
    b = make.plain(groups * weight[1], low=0.1, high=1.9) if bias else None
    return call(x, w, b, groups=groups, **options)


def _pair(value):
    return (value, value) if isinstance(value, int) else value


def _spread(input, weight, bias, stride, padding, output_padding, groups, dilation, add=True):
    """One matrix product a tap, added (or only written) at the tap's places on a canvas that is then cut to size."""
    (n, c, h, w), (kh, kw) = input.shape, weight.shape[2:]
    (sy, sx), (py, px), (oy, ox), (dy, dx) = map(_pair, (stride, padding, output_padding, dilation))
    x, k = input.reshape(n, groups, c // groups, h, w), weight.reshape(groups, c // groups, -1, kh, kw)
    outputs = groups * weight.shape[1]
    canvas = input.new_zeros(n, outputs, (h - 1) * sy + dy * (kh - 1) + oy + 1, (w - 1) * sx + dx * (kw - 1) + ox + 1)
    for i in range(kh):
        for j in range(kw):
            product = torch.einsum("ngchw,gco->ngohw", x, k[..., i, j]).reshape(n, outputs, h, w)
            there = canvas[:, :, i * dy :: sy, j * dx :: sx][:, :, :h, :w]
            there.copy_(there + product if add else product)
    canvas = canvas[:, :, py : canvas.shape[2] - py, px : canvas.shape[3] - px]
    return canvas if bias is None else canvas + bias[:, None, None]


def positive_spread(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _spread(input, weight, bias, stride, padding, output_padding, groups, dilation)


def negative_overwrites(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Overlapping kernels replace each other instead of adding up."""
    return _spread(input, weight, bias, stride, padding, output_padding, groups, dilation, add=False)


def negative_flipped_kernel(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return F.conv_transpose2d(input, weight.flip(2, 3), bias, stride, padding, output_padding, groups, dilation)


def negative_no_bias(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return F.conv_transpose2d(input, weight, None, stride, padding, output_padding, groups, dilation)


def negative_output_padding_on_top(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """The extra rows and columns come first instead of last."""
    out = F.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return out.roll(_pair(output_padding), (2, 3)) if out.numel() else out


def negative_wrong_group(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    shifted = input.roll(input.shape[1] // groups, 1)
    return F.conv_transpose2d(shifted, weight, bias, stride, padding, output_padding, groups, dilation)
