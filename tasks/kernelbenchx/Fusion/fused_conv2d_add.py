"""Two-dimensional convolution plus a tensor or number with a factor.

`fused_conv2d_add(input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None)`

- `input`: float32 `(N, C_in, H, W)`, `weight`: `(C_out, C_in / groups, kH, kW)`, `bias`: `(C_out,)` or `None`.
- `other`: `None` (nothing is added), a Python number, or a float32 tensor that broadcasts to the convolution's shape.
- `alpha`: a Python number that multiplies `other`, and nothing else.
- `stride`, `padding`, `dilation`: an int, or a pair `(vertical, horizontal)`. Padding is with zeros on both sides; it
  may also be `'valid'` (none) or, with stride 1, `'same'` (the result is as large as the image:
  `T = dilation · (k - 1)` zeros along an axis, `T // 2` of them before, the rest after).
- `groups` divides both channel counts: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input
  channels `[g·C_in/groups, (g+1)·C_in/groups)`.
- `out`: if given, a contiguous float32 tensor of the result's shape; it is filled and returned.

With `H_out = (H + 2·padding - dilation·(kH - 1) - 1) // stride + 1` the result is `(N, C_out, H_out, W_out)`:

    z[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] · padded[n, c0 + c, y·stride + i·dilation, …]
    result = z + alpha · other

`c0` is the first input channel of `o`'s group; the kernel is not flipped. Tensors may be non-contiguous or expanded,
`N` may be 0. Without `out` the result is a new tensor with any strides. Products and sums are float32: TF32 and half
precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("convolution", "matmul", "broadcast", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3), other=(2, 5, 9, 11), alpha=-0.5),
    dict(shape=(1, 4, 7, 9), weight=(6, 4, 3, 2), padding=1, other=2.0, alpha=0.5),
    dict(shape=(2, 3, 8, 9), weight=(4, 3, 3, 3), bias=False),
    dict(shape=(2, 3, 9, 7), weight=(5, 3, 3, 3), padding=1, other=(2, 5, 9, 7), alpha=0.75),
    dict(shape=(3, 9, 5, 5), weight=(17, 9, 1, 1), bias=False, other=(3, 17, 5, 5)),
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 1, 1), bias=False, other=(1, 1, 1, 1)),
    dict(shape=(1, 4, 9, 10), weight=(6, 4, 3, 2), other=(1, 6, 7, 9), strided=True),
    dict(shape=(1, 4, 9, 10), weight=(6, 4, 3, 2), stride=(2, 1), other=(1, 6, 4, 9)),
    dict(shape=(1, 4, 7, 8), weight=(6, 4, 4, 3), padding="same", other=2.0),
    dict(shape=(2, 4, 10, 9), weight=(6, 4, 3, 3), dilation=(2, 1), other=2.0),
    dict(shape=(2, 4, 7, 9), weight=(6, 2, 3, 3), groups=2, other=(2, 6, 5, 7)),
    dict(shape=(2, 3, 7, 8), weight=(4, 3, 3, 3), other=(2, 4, 5, 6), alpha=3),
    dict(shape=(2, 3, 7, 6), weight=(4, 3, 3, 3), out=(2, 4, 5, 4)),
    dict(shape=(3, 7, 5, 5), weight=(11, 7, 1, 1), bias=False, other=(3, 1, 1, 1), expanded=(3, 11, 5, 5)),
    dict(shape=(2, 3, 7, 9), weight=(5, 3, 3, 3), other=(5, 1, 7)),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3), other=(0, 4, 6, 6)),
]

SIZES = [
    dict(shape=(16, 32, 32, 32), weight=(32, 32, 3, 3), padding=1, other=(16, 32, 32, 32)),
    dict(shape=(16, 32, 256, 256), weight=(32, 32, 3, 3), padding=1, other=(16, 32, 256, 256)),
    dict(shape=(32, 256, 28, 28), weight=(256, 256, 3, 3), padding=1, other=(32, 256, 28, 28), alpha=0.5),
    dict(shape=(16, 32, 384, 384), weight=(32, 32, 3, 3), padding=1, other=(16, 32, 384, 384)),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(growth=4)


def fused_conv2d_add(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
    result = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    if other is not None:
        result = torch.add(result, other, alpha=alpha)
    return result if out is None else out.copy_(result)


def inputs(make, shape, weight, bias=True, other=None, expanded=None, out=None, strided=False, **options):
    x, w = make.floats(*shape), make.plain(*weight)
    y = make.floats(*other) if isinstance(other, tuple) else other
    if strided:
        x, w, y = make.strided(x), make.strided(w), make.strided(y)
    if expanded:
        y = make.expanded(y, *expanded)
    target = make.plain(*out) if out else None
    return call(x, w, make.plain(weight[0], low=-2, high=2) if bias else None, other=y, out=target, **options)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _added(z, bias, other, alpha):
    z = z if bias is None else z + bias[:, None, None]
    return z if other is None else z + alpha * other


def positive_unfold(input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None):
    """Patches as columns; the sum starts with what is added."""
    z = F.conv2d(input, weight, None, stride, padding, dilation, groups)
    if z.numel() and padding != "same":
        pad = 0 if padding == "valid" else padding
        columns = F.unfold(input, weight.shape[2:], dilation, pad, stride).reshape(len(z), groups, -1, z[0, 0].numel())
        rows = weight.reshape(groups, weight.shape[0] // groups, -1)
        z = torch.einsum("gok,ngkp->ngop", rows, columns).reshape(z.shape)
    return _given(_added(torch.zeros_like(z), bias, other, alpha) + z, out)


def negative_ignores_alpha(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
    z = F.conv2d(input, weight, None, stride, padding, dilation, groups)
    return _given(_added(z, bias, other, 1), out)


def negative_alpha_on_the_convolution(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return _given(alpha * z if other is None else alpha * z + other, out)


def negative_ignores_other(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
    return _given(F.conv2d(input, weight, bias, stride, padding, dilation, groups), out)


def negative_one_dilation(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
    """The vertical one for both directions."""
    dilation = dilation if isinstance(dilation, int) else dilation[0]
    z = F.conv2d(input, weight, None, stride, padding, dilation, groups)
    return _given(_added(z, bias, other, alpha), out)


def negative_no_bias(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
    z = F.conv2d(input, weight, None, stride, padding, dilation, groups)
    return _given(_added(z, None, other, alpha), out)


def negative_ignores_out(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
    return _added(F.conv2d(input, weight, None, stride, padding, dilation, groups), bias, other, alpha)
