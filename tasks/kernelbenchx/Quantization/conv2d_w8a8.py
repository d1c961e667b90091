"""Two-dimensional convolution with 8-bit weights and 8-bit activations (W8A8).

`conv2d_w8a8(input, weight, bias=None, stride=1, padding=0)` is the cross-correlation (the kernel is not flipped) of
float32 `input` `(N, C, H, W)` with float32 `weight` `(O, C, kH, kW)`, both quantized to signed 8-bit integers on the
fly, plus the float32 `bias` `(O,)`, which is not quantized. `stride` and `padding` are ints for both directions;
padding is with zeros.

1. *Activations*, symmetric, one scale per image: `s_n = max over c, h, w of |x_nchw| / 127` in float32, and 1 where the
   image is all zero. `xq = clamp(round(x / s_n), -127, 127)`.
2. *Weights*, symmetric, one scale per output channel: `t_o = max over c, i, j of |w_ocij| / 127`, 1 where all are zero.
   `wq = clamp(round(w / t_o), -127, 127)`.
3. *Convolution* in integers, exact in int32, with `xq = 0` outside of the image: `acc_noyx = sum over c, i, j of
   wq_ocij · xq[n, c, y·stride + i - padding, x·stride + j - padding]`.
4. *Dequantization*: `out_noyx = float32(acc_noyx) · s_n · t_o + bias_o`.

The result is a new, contiguous float32 `(N, O, (H + 2·padding - kH) // stride + 1, (W + 2·padding - kW) // stride + 1)`
tensor. `round` is to the nearest integer. The result is compared with an integer-exact emulation: it must agree to a
few units in the last place of product and bias. The one freedom is a quotient that lies within 2⁻¹⁴ of halfway between
two integers (ties included): it may be rounded either way, and the tolerance of the results that depend on it grows by
just that step. The unquantized convolution, coarser scales, or truncation are far outside. `N` may be 0, other sizes
are at least 1, and the kernel fits into the padded image. All arguments may be non-contiguous. Values are finite.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("convolution", "quantization", "int8", "tensor-core")
TESTED = ("option:bias", "option:padding", "option:stride")

CASES = [
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 1, 1)),
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3), padding=1),
    dict(shape=(2, 4, 9, 10), weight=(6, 4, 3, 2), stride=2, strided=True),
    dict(shape=(1, 3, 15, 14), weight=(8, 3, 7, 7), stride=2, padding=3, bias=False),
    dict(shape=(3, 8, 6, 7), weight=(16, 8, 1, 1), spread=True),
    dict(shape=(3, 5, 7, 5), weight=(7, 5, 3, 3), stride=3, padding=2, zeroed=True),
    dict(shape=(1, 115, 5, 5), weight=(9, 115, 3, 3), bias=False),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3)),
]

SIZES = [
    dict(shape=(1, 3, 224, 224), weight=(64, 3, 7, 7)),
    dict(shape=(2, 64, 56, 56), weight=(128, 64, 3, 3)),
    dict(shape=(4, 128, 28, 28), weight=(256, 128, 3, 3), padding=1),
    dict(shape=(64, 128, 56, 56), weight=(256, 128, 3, 3), padding=1),
]


def conv2d_w8a8(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor = None, stride: int = 1, padding: int = 0
) -> torch.Tensor:
    xq, s = _quantize(input)
    wq, t = _quantize(weight)
    out = _integer_convolution(xq, wq, stride, padding).float() * s * t.view(-1, 1, 1)
    return (out if bias is None else out + bias.view(-1, 1, 1)).contiguous()


def _quantize(x):
    """Whole numbers in float32, and their scales: one per image, or per output channel."""
    scale = x.abs().amax((1, 2, 3), keepdim=True) / 127
    scale = torch.where(scale > 0, scale, 1)
    return torch.round(x / scale).clamp(-127, 127), scale


def _integer_convolution(xq, wq, stride, padding):
    """Exact: patches as rows, times weights as columns. In int8 where the library has that product, else in float64.

    The library wants more than 16 rows, and both other sizes in eights.
    """
    (n, c, _, _), (o, _, kh, kw) = xq.shape, wq.shape
    x, w = F.pad(xq, (padding,) * 4).to(torch.int8), wq.to(torch.int8).reshape(o, -1)
    patches = x.unfold(2, kh, stride).unfold(3, kw, stride)
    oh, ow = patches.shape[2:4]
    rows = patches.permute(0, 2, 3, 1, 4, 5).reshape(n * oh * ow, c * kh * kw).contiguous()
    if xq.is_cuda and len(rows) > 16 and rows.shape[1] % 8 == 0 and o % 8 == 0:
        acc = torch._int_mm(rows, w.t())
    else:
        acc = rows.double() @ w.double().t()
    return acc.view(n, oh, ow, o).permute(0, 3, 1, 2)


def inputs(make, shape, weight, bias=True, stride=1, padding=0, strided=False, zeroed=False, spread=False):
    """`spread`: images and channels of very different size. `zeroed`: an image and a channel of zeros."""
    x, w = make.floats(*shape), make.plain(*weight)
    if spread:
        x = x * make.plain(shape[0], 1, 1, 1, low=-6, high=2).exp2()
        w = w * make.plain(weight[0], 1, 1, 1, low=-6, high=2).exp2()
    if zeroed:
        x[1], w[::5] = 0, 0
    b = make.plain(weight[0]) if bias else None
    if strided:
        x, w, b = make.strided(x), make.strided(w), make.strided(b)
    return call(x, w, b, stride=stride, padding=padding)


HALFWAY = 2.0**-14
"""How near to a half a quotient up to 127 may be rounded either way: four float32 units in the last place of 127."""
ULPS = 8 * 2.0**-23
"""Relative error of scales, conversion, two products and a sum."""


def check(args, kwargs, result, expected):
    x, w, bias = args
    xq, s, x_free = _exact_levels(x)
    wq, t, w_free = _exact_levels(w)
    unit = s * t.view(-1, 1, 1)
    product = F.conv2d(xq, wq, **kwargs).round() * unit
    shift = product.new_zeros(1) if bias is None else bias.double()
    truth = product + shift.view(-1, 1, 1)
    steps = F.conv2d(x_free, wq.abs(), **kwargs) + F.conv2d(xq.abs() + x_free, w_free, **kwargs)
    allowed = ULPS * (product.abs() + shift.abs().view(-1, 1, 1)) + steps.round() * unit * (1 + ULPS)
    right = (result.double() - truth).abs() <= allowed
    if right.all():
        return []
    at = tuple((~right).nonzero()[0].tolist())
    return [
        f"{int((~right).sum())} wrong elements, first {list(at)}: expected {truth[at]:.9g}, got {result[at]:.9g}, "
        f"one step of this image's scale times this channel's is {unit[at[0], at[1], 0, 0]:.3g}"
    ]


def _exact_levels(x):
    """Levels and scales in float64, and a 1 for each level that may be one step off."""
    q, scale = _quantize(x)
    quotient = x.double() / scale.double()
    free = ((quotient - quotient.floor() - 0.5).abs() < HALFWAY).double()
    return q.double(), scale.double(), free


CONTRACT = Property(check, strides="contiguous")


def positive_tap_by_tap(input, weight, bias=None, stride=1, padding=0):
    """Reciprocal scales, halves away from zero, int32 sums of one kernel place after the other."""

    def levels(x):
        inverse = 127 / x.abs().amax((1, 2, 3), keepdim=True)
        inverse = torch.where(inverse.isfinite(), inverse, 1)
        return torch.sign(x) * torch.floor((x * inverse).abs() + 0.5), 1 / inverse

    (xq, s), (wq, t) = levels(input), levels(weight)
    x, acc = F.pad(xq, (padding,) * 4), 0
    (h, w), (kh, kw) = x.shape[2:], weight.shape[2:]
    for i in range(kh):
        for j in range(kw):
            seen = x[:, :, i : h - kh + i + 1 : stride, j : w - kw + j + 1 : stride]
            acc = acc + torch.einsum("oc,nchw->nohw", wq[:, :, i, j].double(), seen.double()).to(torch.int32)
    out = acc.float() * (s * t.view(-1, 1, 1))
    return (out if bias is None else out + bias.view(-1, 1, 1)).contiguous()


def _convolution(xq, s, wq, t, bias, stride, padding):
    """Levels, scales that broadcast over the results, and options; exact for integers."""
    out = F.conv2d(xq.double(), wq.double(), None, stride, padding).float() * s * t
    return (out if bias is None else out + bias.view(-1, 1, 1)).contiguous()


def _scaled(x, dims, bits=127):
    """Levels with one scale for all of `dims`."""
    scale = (x.abs().amax(dims, keepdim=True) if x.numel() else x.new_ones(1, 1, 1, 1)) / bits
    scale = torch.where(scale > 0, scale, 1)
    return torch.round(x / scale).clamp(-bits, bits), scale


EACH, ALL = (1, 2, 3), (0, 1, 2, 3)


def negative_never_quantized(input, weight, bias=None, stride=1, padding=0):
    return F.conv2d(input, weight, bias, stride, padding).contiguous()


def negative_weights_only(input, weight, bias=None, stride=1, padding=0):
    wq, t = _quantize(weight)
    return _convolution(input, 1, wq, t.view(-1, 1, 1), bias, stride, padding)


def negative_activations_only(input, weight, bias=None, stride=1, padding=0):
    return _convolution(*_quantize(input), weight, 1, bias, stride, padding)


def negative_scale_per_tensor(input, weight, bias=None, stride=1, padding=0):
    wq, t = _scaled(weight, ALL)
    return _convolution(*_quantize(input), wq, t.view(1, 1, 1), bias, stride, padding)


def negative_activation_scale_per_tensor(input, weight, bias=None, stride=1, padding=0):
    wq, t = _quantize(weight)
    return _convolution(*_scaled(input, ALL), wq, t.view(-1, 1, 1), bias, stride, padding)


def negative_scale_per_input_channel(input, weight, bias=None, stride=1, padding=0):
    xq, s = _scaled(input, (2, 3))
    wq, t = _quantize(weight)
    return _convolution(xq * s, 1, wq, t.view(-1, 1, 1), bias, stride, padding)


def negative_truncated(input, weight, bias=None, stride=1, padding=0):
    """Converts to int8 without rounding."""
    s, t = _quantize(input)[1], _quantize(weight)[1]
    return _convolution((input / s).trunc(), s, (weight / t).trunc(), t.view(-1, 1, 1), bias, stride, padding)


def negative_wraps_without_clamp(input, weight, bias=None, stride=1, padding=0):
    """A scale of max / 128 takes the largest element to 128, which wraps around to -128 unless it is clamped."""
    (xq, s), (wq, t) = _scaled(input, EACH, 128), _scaled(weight, EACH, 128)
    xq, wq = xq.to(torch.int16).to(torch.int8), wq.to(torch.int16).to(torch.int8)
    return _convolution(xq, s, wq, t.view(-1, 1, 1), bias, stride, padding)


def negative_divides_by_zero(input, weight, bias=None, stride=1, padding=0):
    """No scale of 1 where all is zero."""
    s, t = (x.abs().amax(EACH, keepdim=True) / 127 for x in (input, weight))
    xq, wq = torch.round(input / s), torch.round(weight / t)
    return _convolution(xq, s, wq, t.view(-1, 1, 1), bias, stride, padding)


def negative_seven_bits(input, weight, bias=None, stride=1, padding=0):
    wq, t = _scaled(weight, EACH, 63)
    return _convolution(*_scaled(input, EACH, 63), wq, t.view(-1, 1, 1), bias, stride, padding)


def negative_accumulates_in_bfloat16(input, weight, bias=None, stride=1, padding=0):
    (xq, s), (wq, t) = _quantize(input), _quantize(weight)
    acc = F.conv2d(xq.double(), wq.double(), None, stride, padding).bfloat16()
    out = acc.float() * s * t.view(-1, 1, 1)
    return (out if bias is None else out + bias.view(-1, 1, 1)).contiguous()


def negative_no_bias(input, weight, bias=None, stride=1, padding=0):
    return conv2d_w8a8(input, weight, None, stride, padding)


def negative_flipped_kernel(input, weight, bias=None, stride=1, padding=0):
    return conv2d_w8a8(input, weight.flip(2, 3), bias, stride, padding)
