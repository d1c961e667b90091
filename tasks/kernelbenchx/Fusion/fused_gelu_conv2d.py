"""Two-dimensional convolution, then the Gaussian error linear unit.

`fused_gelu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate='none', out=None)`

- `input`: float32 `(N, C_in, H, W)`, `weight`: `(C_out, C_in / groups, kH, kW)`, `bias`: `(C_out,)` or `None`.
- `stride`, `dilation`: an int, or a pair `(vertical, horizontal)`.
- `padding`: zeros around the image: an int or a pair, on both sides; `'valid'`: none; `'same'` (with stride 1): the
  result is as large as the image. That takes `T = dilation · (k - 1)` zeros along an axis: `T // 2` before, the rest
  after.
- `groups` divides both channel counts: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input
  channels `[g·C_in/groups, (g+1)·C_in/groups)`.

With `H_out = (H + padding before and after - dilation·(kH - 1) - 1) // stride + 1` the result is
`(N, C_out, H_out, W_out)`:

    z[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] · padded[n, c0 + c, y·stride + i·dilation, …]
    approximate='none':  out = z · Φ(z),  Φ(z) = (1 + erf(z / √2)) / 2
    approximate='tanh':  out = z/2 · (1 + tanh(√(2/π) · (z + 0.044715 · z³)))

`c0` is the first input channel of `o`'s group; the kernel is not flipped. The two forms differ by up to 5e-4 and are
told apart. `out`, if given, is a contiguous float32 tensor of the result's shape: it is filled and returned. Otherwise
the result is a new tensor with any strides. `input` and `weight` may be non-contiguous, `N` may be 0. Products and sums
are float32: TF32 and half precision are not allowed.
"""
# ruff: noqa: UP006, UP007, UP035, UP045

from typing import Optional, Tuple, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("convolution", "matmul", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(17, 3, 3, 3), approximate="tanh"),
    dict(shape=(1, 4, 9, 10), weight=(13, 4, 3, 2), stride=2, padding=1),
    dict(shape=(2, 4, 10, 9), weight=(12, 1, 3, 3), dilation=2, groups=4, bias=False),
    dict(shape=(1, 1, 37, 31), weight=(3, 1, 5, 5), padding=1, approximate="tanh"),
    dict(shape=(1, 19, 5, 5), weight=(17, 19, 1, 1), stride=2),
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 1, 1)),
    dict(shape=(1, 4, 9, 10), weight=(13, 4, 3, 2), strided=True),
    dict(shape=(1, 4, 9, 10), weight=(13, 4, 3, 2), stride=(2, 1)),
    dict(shape=(2, 4, 10, 9), weight=(12, 2, 3, 3), padding=(1, 0), groups=2),
    dict(shape=(1, 4, 7, 8), weight=(12, 1, 4, 3), padding="same", dilation=(1, 2), groups=4, approximate="tanh"),
    dict(shape=(2, 3, 7, 6), weight=(4, 3, 3, 3), padding="valid", stride=2),
    dict(shape=(2, 3, 7, 6), weight=(4, 3, 3, 3), stride=2, approximate="tanh", out=(2, 4, 3, 2)),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3)),
]

SIZES = [
    dict(shape=(16, 16, 16, 16), weight=(32, 16, 3, 3)),
    dict(shape=(16, 16, 181, 181), weight=(32, 16, 3, 3)),
    dict(shape=(32, 64, 56, 56), weight=(64, 64, 3, 3), padding=1, approximate="tanh"),
    dict(shape=(16, 16, 512, 512), weight=(32, 16, 3, 3)),
]


def magnitude(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None):
    """1 + erf cancels for negative z: there the result carries the rounding of z and of the sum that made it."""
    z = F.conv2d(input.double(), weight.double(), None, stride, padding, dilation, groups)
    return 1.0 + (float(z.square().mean().sqrt()) if z.numel() else 0.0)


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def fused_gelu_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    stride: Union[int, Tuple[int, int]] = 1,
    padding: Union[int, Tuple[int, int], str] = 0,
    dilation: Union[int, Tuple[int, int]] = 1,
    groups: int = 1,
    approximate: str = "none",
    out: Optional[Tensor] = None,
) -> Tensor:
    result = F.gelu(F.conv2d(input, weight, bias, stride, padding, dilation, groups), approximate=approximate)
    return result if out is None else out.copy_(result)


def inputs(make, shape, weight, bias=True, out=None, strided=False, **options):
    """Weights are scaled by the number of products in a sum, as in a network, so that gelu is not saturated."""
    x, w = make.floats(*shape), make.plain(*weight) * 2 / (weight[1] * weight[2] * weight[3]) ** 0.5
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(weight[0]) if bias else None, out=make.plain(*out) if out else None, **options)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _gelu(z, approximate):
    """tanh through the logistic function, (1 + tanh(y)) / 2 = σ(2y)."""
    if approximate == "none":
        return 0.5 * z * torch.erfc(-z * 0.5**0.5)
    return z * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (z + 0.044715 * z * z * z))


def positive_by_channels(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None
):
    """Output channels one by one, the sum over input channels in the other order."""
    channels = weight.shape[0] // groups
    parts = []
    for o in range(weight.shape[0]):
        first = o // channels * weight.shape[1]
        seen = input[:, first : first + weight.shape[1]].flip(1)
        parts.append(F.conv2d(seen, weight[o : o + 1].flip(1), None, stride, padding, dilation))
    z = torch.cat(parts, 1)
    return _given(_gelu(z if bias is None else z + bias[:, None, None], approximate), out)


def negative_always_exact(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None
):
    return _given(F.gelu(F.conv2d(input, weight, bias, stride, padding, dilation, groups)), out)


def negative_always_tanh(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None
):
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return _given(F.gelu(z, approximate="tanh"), out)


def negative_sigmoid_gelu(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None
):
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return _given(z * torch.sigmoid(1.702 * z), out)


def negative_bias_after_gelu(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None
):
    y = F.gelu(F.conv2d(input, weight, None, stride, padding, dilation, groups), approximate=approximate)
    return _given(y if bias is None else y + bias[:, None, None], out)


def negative_ignores_out(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None
):
    return F.gelu(F.conv2d(input, weight, bias, stride, padding, dilation, groups), approximate=approximate)
