"""Two-dimensional convolution, then ReLU.

`fused_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False)`

- `input`: float32 `(N, C_in, H, W)`, `weight`: `(C_out, C_in / groups, kH, kW)`, `bias`: `(C_out,)` or `None`.
- `stride`, `dilation`: an int, or a pair `(vertical, horizontal)`.
- `padding`: zeros around the image: an int or a pair, on both sides; `'valid'`: none; `'same'` (with stride 1): the
  result is as large as the image. That takes `T = dilation · (k - 1)` zeros along an axis: `T // 2` before, the rest
  after.
- `groups` divides both channel counts: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input
  channels `[g·C_in/groups, (g+1)·C_in/groups)`.

The result is `(N, C_out, H_out, W_out)` with
`H_out = (H + padding before and after - dilation·(kH - 1) - 1) // stride + 1`:

    z[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] · padded[n, c0 + c, y·stride + i·dilation, …]
    out = max(0, z)

`c0` is the first input channel of `o`'s group; the kernel is not flipped. `inplace` concerns an intermediate value that
the caller never sees: `input` is left as it was. `input` and `weight` may be non-contiguous, `N` may be 0. The result
is a new float32 tensor with any strides. Products and sums are float32: TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("convolution", "matmul", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3), stride=1, padding=1),
    dict(shape=(1, 4, 9, 11), weight=(6, 4, 3, 3), stride=2, padding=1),
    dict(shape=(2, 4, 10, 9), weight=(6, 2, 3, 3), dilation=2, groups=2, bias=False),
    dict(shape=(1, 19, 5, 5), weight=(17, 19, 1, 1), stride=2),
    dict(shape=(2, 6, 7, 8), weight=(6, 3, 4, 3), groups=2),
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 1, 1)),
    dict(shape=(2, 3, 7, 9), weight=(5, 3, 3, 3), inplace=True),
    dict(shape=(2, 3, 9, 7), weight=(5, 3, 3, 3), strided=True),
    dict(shape=(1, 4, 9, 10), weight=(6, 4, 3, 2), stride=(2, 1), padding=(1, 0)),
    dict(shape=(1, 6, 7, 8), weight=(6, 1, 4, 3), padding="same", dilation=(1, 2), groups=6),
    dict(shape=(2, 3, 7, 6), weight=(4, 3, 3, 3), padding="valid", stride=2),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3)),
]

SIZES = [
    dict(shape=(1, 3, 32, 32), weight=(64, 3, 3, 3), padding=1),
    dict(shape=(16, 128, 16, 16), weight=(256, 128, 3, 3), padding=1),
    dict(shape=(1, 3, 1024, 1024), weight=(64, 3, 3, 3), padding=1),
    dict(shape=(64, 256, 56, 56), weight=(256, 256, 3, 3), padding=1),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(growth=4)


def fused_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    return F.relu(F.conv2d(input, weight, bias, stride, padding, dilation, groups), inplace)


def inputs(make, shape, weight, bias=True, strided=False, **options):
    x, w = make.floats(*shape), make.plain(*weight)
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(weight[0], low=-2.4, high=2.4) if bias else None, **options)


def _pair(value):
    return (value, value) if isinstance(value, int) else value


def _padded(input, kernel, padding, dilation, before=lambda total: total // 2):
    if padding == "valid":
        return input
    if padding == "same":
        down, across = (d * (k - 1) for d, k in zip(_pair(dilation), kernel, strict=True))
        top, left = before(down), before(across)
        return F.pad(input, (left, across - left, top, down - top))
    (py, px) = _pair(padding)
    return F.pad(input, (px, px, py, py))


def positive_unfold(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    """Patches as columns, one matrix product a group."""
    out = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    if out.numel():
        columns = F.unfold(_padded(input, weight.shape[2:], padding, dilation), weight.shape[2:], dilation, 0, stride)
        columns = columns.reshape(len(out), groups, -1, columns.shape[2])
        rows = weight.reshape(groups, weight.shape[0] // groups, -1)
        out = torch.einsum("gok,ngkp->ngop", rows, columns).reshape(out.shape)
        out = (out if bias is None else out + bias[:, None, None]).clamp(min=0)
    return out


def negative_no_relu(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    return F.conv2d(input, weight, bias, stride, padding, dilation, groups)


def negative_relu_before_bias(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    out = F.relu(F.conv2d(input, weight, None, stride, padding, dilation, groups))
    return out if bias is None else out + bias[:, None, None]


def negative_relu_first(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    return F.conv2d(F.relu(input), weight, bias, stride, padding, dilation, groups)


def negative_flipped_kernel(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    return F.relu(F.conv2d(input, weight.flip(2, 3), bias, stride, padding, dilation, groups))


def negative_same_padding_before(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    """Puts the odd zero of 'same' before the image."""
    padded = _padded(input, weight.shape[2:], padding, dilation, before=lambda total: total - total // 2)
    return F.relu(F.conv2d(padded, weight, bias, stride, 0, dilation, groups))


def negative_inplace_on_input(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    return F.relu(F.conv2d(F.relu(input, inplace), weight, bias, stride, padding, dilation, groups))
