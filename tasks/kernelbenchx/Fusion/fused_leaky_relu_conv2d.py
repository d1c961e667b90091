"""Two-dimensional convolution, then leaky ReLU.

`fused_leaky_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01,
inplace=False)`

- `input`: float32 `(N, C_in, H, W)`, `weight`: `(C_out, C_in / groups, kH, kW)`, `bias`: `(C_out,)` or `None`.
- `stride`, `padding`, `dilation`: ints for both directions. Padding is with zeros on all sides.
- `groups` divides both channel counts: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input
  channels `[g·C_in/groups, (g+1)·C_in/groups)`.

With `H_out = (H + 2·padding - dilation·(kH - 1) - 1) // stride + 1` the result is `(N, C_out, H_out, W_out)`:

    z[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] · padded[n, c0 + c, y·stride + i·dilation, …]
    out = z if z > 0 else negative_slope · z

`c0` is the first input channel of `o`'s group; the kernel is not flipped. `negative_slope` is any number, also above 1
or negative. `inplace` concerns an intermediate value that the caller never sees: `input` is left as it was. `input` and
`weight` may be non-contiguous, `N` may be 0. The result is a new float32 tensor with any strides. Products and sums are
float32: TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("convolution", "matmul", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3), negative_slope=0.1, inplace=True),
    dict(shape=(1, 4, 9, 10), weight=(6, 4, 3, 2), stride=2, padding=1),
    dict(shape=(1, 6, 9, 11), weight=(12, 1, 3, 3), dilation=2, groups=6),
    dict(shape=(2, 19, 5, 7), weight=(17, 19, 1, 1), stride=2, negative_slope=0.05, inplace=False),
    dict(shape=(1, 1, 37, 31), weight=(3, 1, 5, 5), padding=1),
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 1, 1)),
    dict(shape=(1, 4, 9, 10), weight=(6, 4, 3, 2), strided=True),
    dict(shape=(2, 4, 10, 9), weight=(6, 2, 3, 3), groups=2, bias=False),
    dict(shape=(2, 4, 10, 9), weight=(6, 2, 3, 3), groups=2, negative_slope=1.5),
    dict(shape=(1, 6, 7, 8), weight=(6, 1, 4, 3), groups=6, negative_slope=-0.5),
    dict(shape=(2, 3, 7, 6), weight=(4, 3, 3, 3), stride=3),
    dict(shape=(1, 6, 7, 8), weight=(6, 1, 4, 3), padding=3, dilation=2, groups=6),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3)),
]

SIZES = [
    dict(shape=(1, 3, 256, 256), weight=(6, 3, 3, 3)),
    dict(shape=(16, 3, 896, 896), weight=(6, 3, 3, 3)),
    dict(shape=(32, 64, 56, 56), weight=(64, 64, 3, 3), padding=1),
    dict(shape=(32, 64, 112, 112), weight=(128, 64, 3, 3), padding=1),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(growth=4)


def fused_leaky_relu_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
    negative_slope: float = 0.01,
    inplace: bool = False,
) -> Tensor:
    return F.leaky_relu(F.conv2d(input, weight, bias, stride, padding, dilation, groups), negative_slope, inplace)


def inputs(make, shape, weight, bias=True, strided=False, **options):
    x, w = make.floats(*shape), make.plain(*weight)
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(weight[0]) if bias else None, **options)


def _tap_by_tap(input, weight, stride, padding, dilation, groups):
    """The image shifted and thinned out for each place of the kernel, times that place's weights."""
    kh, kw = weight.shape[2:]
    x = F.pad(input, (padding,) * 4)
    oh, ow = ((size - dilation * (k - 1) - 1) // stride + 1 for size, k in ((x.shape[2], kh), (x.shape[3], kw)))
    k, z = weight.reshape(groups, -1, *weight.shape[1:]), 0
    for i in range(kh):
        for j in range(kw):
            seen = x[:, :, i * dilation :: stride, j * dilation :: stride][:, :, :oh, :ow]
            seen = seen.reshape(len(x), groups, weight.shape[1], oh, ow)
            z = z + torch.einsum("ngchw,goc->ngohw", seen, k[..., i, j])
    return z.reshape(len(x), len(weight), oh, ow)


def positive_tap_by_tap(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    z = _tap_by_tap(input, weight, stride, padding, dilation, groups)
    z = z if bias is None else z + bias[:, None, None]
    return torch.where(z > 0, z, z * negative_slope)


def negative_default_slope(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    return F.leaky_relu(F.conv2d(input, weight, bias, stride, padding, dilation, groups))


def negative_larger_of_both(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    """max(z, slope · z) is the same only for slopes up to 1."""
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.maximum(z, z * negative_slope)


def negative_activation_before_bias(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    out = F.leaky_relu(F.conv2d(input, weight, None, stride, padding, dilation, groups), negative_slope)
    return out if bias is None else out + bias[:, None, None]


def negative_no_groups(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    """Each group reads the first group's channels."""
    first = input[:, : weight.shape[1]].repeat(1, groups, 1, 1)
    return F.leaky_relu(F.conv2d(first, weight, bias, stride, padding, dilation, groups), negative_slope)


def negative_no_stride(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    """The first places of a dense convolution."""
    out = F.leaky_relu(F.conv2d(input, weight, bias, 1, padding, dilation, groups), negative_slope)
    h, w = ((size - 1) // stride + 1 for size in out.shape[2:])
    return out[:, :, :h, :w]
