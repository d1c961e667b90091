"""Two-dimensional convolution with 8-bit weights and 8-bit activations (W8A8).

`conv2d_w8a8(input, weight, bias=None, stride=1, padding=0)` is the cross-correlation (the kernel is not flipped) of
float32 `input` `(N, C, H, W)` with float32 `weight` `(O, C, kH, kW)`, both quantized to signed 8-bit integers on the
fly, plus the float32 `bias` `(O,)`, which is not quantized. `stride` and `padding` are ints for both directions;
padding is with zeros.

1. *Activations*: a scale `s`, in float32, for an image (as in the reference), for the whole tensor, for an input channel of
   all images, for an input channel of one image, or for a pixel, which is all channels at one place of an image. Symmetric
   (as in the reference), it is the largest `|x|` among the elements that share it, divided by 127, and `xq = clamp(round(x /
   s), -127, 127)`. Asymmetric, it is their largest value or 0, less their smallest value or 0, divided by 255; with the
   zero point `z = round(-128 - min(x, 0) / s)`, `xq = clamp(round(x / s) + z, -128, 127) - z`. A scale is 1 where all
   elements are zero.
2. *Weights* alike, `wq` with scale `t`. One scale is for an output channel (as in the reference), or for the whole tensor.
3. *Convolution* in integers, exact in int32, with `xq = 0` outside of the image: `acc_noyx = sum over c, i, j of
   wq_ocij · xq[n, c, y·stride + i - padding, x·stride + j - padding]`.
4. *Dequantization*: `out_noyx = float32(acc_noyx) · s_n · t_o + bias_o`. With scales of input channels or of pixels there is an
   `acc` for each channel, or for each place of the kernel, exact in int32; multiplied with their scales, they are added up in
   float32.

The result is a new, contiguous float32 `(N, O, (H + 2·padding - kH) // stride + 1, (W + 2·padding - kW) // stride + 1)`
tensor. Which elements share a scale, and what is asymmetric, is your choice, the same in all calls. `round` is to the
nearest integer. `1e-8` may be added to any scale, as a guard against zero, and nothing larger. The result is compared with
an integer-exact emulation of each choice: it must agree with one of them to a few units in the last place of product and
bias. Two things are left open: a quotient that lies within 2⁻¹⁴ of halfway between two integers (ties included) may be
rounded either way, and so may one that a guard moves over such a half; the tolerance of the results that depend on it grows
by just that step, and by what the guard changes the scales. The unquantized convolution, one of dequantized numbers in float32, or truncation are far outside. `N` may be 0, other sizes
are at least 1, and the kernel fits into the padded image. All arguments may be non-contiguous. Values are finite.
"""

import functools

import torch
import torch.nn.functional as F

from kbx.suite import Schemes, call, quantized

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("convolution", "quantization", "int8", "tensor-core")

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3), padding=1),
    dict(shape=(3, 8, 6, 7), weight=(16, 8, 1, 1), spread=True),
    dict(shape=(1, 115, 5, 5), weight=(9, 115, 3, 3), bias=False),
    dict(shape=(2, 4, 9, 10), weight=(6, 4, 3, 2), stride=2),
    dict(shape=(1, 3, 15, 14), weight=(8, 3, 7, 7), stride=2, padding=1, bias=False),
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 1, 1)),
    dict(shape=(2, 4, 9, 9), weight=(6, 4, 3, 2), stride=2, strided=True),
    dict(shape=(2, 3, 9, 8), weight=(5, 3, 7, 7), padding=3),
    dict(shape=(3, 5, 7, 5), weight=(7, 5, 3, 3), stride=3),
    dict(shape=(3, 5, 7, 6), weight=(7, 5, 3, 3), zeroed=True),
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


IMAGES = dict(image=(1, 2, 3), tensor=(0, 1, 2, 3), input_channel=(0, 2, 3), channel_of_image=(2, 3), pixel=(1,))
CHANNELS = dict(output_channel=(1, 2, 3), tensor=(0, 1, 2, 3))
"""Dimensions with one scale."""
ASYMMETRIC = dict(none=(False, False), activations=(True, False), weights=(False, True), both=(True, True))
SCHEMES = tuple(
    dict(activations=a, weights=w, asymmetric=each) for each in ASYMMETRIC for a in IMAGES for w in CHANNELS
)


def _by_scheme(input, weight, bias=None, stride=1, padding=0, *, activations, weights, asymmetric):
    shifted = ASYMMETRIC[asymmetric]
    (xq, s), (wq, t) = (
        _scaled(input, IMAGES[activations], shifted=shifted[0]), _scaled(weight, CHANNELS[weights], shifted=shifted[1])
    )  # fmt: skip
    if activations == "pixel":
        out = sum(_taps(xq, s, wq, stride, padding))
    elif activations in ("image", "tensor"):
        out = _whole(xq, wq, stride, padding) * s
    else:
        channels = zip(xq.split(1, 1), s.split(1, 1), wq.split(1, 1), strict=True)
        out = sum(_whole(x, w, stride, padding) * scale for x, scale, w in channels)
    out = out * t.view(-1, 1, 1)
    return (out if bias is None else out + bias.view(-1, 1, 1)).contiguous()


def _whole(xq, wq, stride, padding):
    """The convolution of whole numbers, of which asymmetric ones have nine bits, whatever the library's algorithm."""
    return F.conv2d(xq.double(), wq.double(), None, stride, padding).round().float()


def _taps(xq, s, wq, stride, padding):
    """The integer sums of each place of the kernel, times the scales of the pixels that it sees."""
    xq, s = (F.pad(x, (padding,) * 4) for x in (xq, s))
    (h, w), (kh, kw) = xq.shape[2:], wq.shape[2:]
    for i in range(kh):
        for j in range(kw):
            rows, columns = slice(i, h - kh + i + 1, stride), slice(j, w - kw + j + 1, stride)
            acc = torch.einsum("oc,nchw->nohw", wq[:, :, i, j].double(), xq[:, :, rows, columns].double())
            yield acc.float() * s[:, :, rows, columns]


def _scaled(x, dims, largest=127, shifted=False):
    """Whole numbers in float32, and scales that the elements of `dims` share."""
    if not shifted:
        scale = quantized.scale_of(x, dims, largest)
        return torch.round(x / scale).clamp(-largest, largest), scale
    scale, lowest = quantized.shifted_scale_of(x, dims)
    return torch.minimum(torch.maximum(torch.round(x / scale), lowest), lowest + 255), scale


ULPS = 8 * 2.0**-23
"""Relative error of scales, conversion, two products and a sum."""


def _emulated(input, weight, bias=None, stride=1, padding=0, *, activations, weights, asymmetric):
    shifted = ASYMMETRIC[asymmetric]
    x = quantized.levels(input, IMAGES[activations], shifted=shifted[0])
    w = quantized.levels(weight, CHANNELS[weights], shifted=shifted[1])
    parts = dict(input_channel=input.shape[1], channel_of_image=input.shape[1], pixel=weight[0, 0].numel())
    convolution = functools.partial(F.conv2d, stride=stride, padding=padding)
    product, allowed = _product(x, w, convolution, parts.get(activations, 1))
    shift = product.new_zeros(()) if bias is None else bias.double().view(-1, 1, 1)
    return product + shift, allowed + ULPS * shift.abs()


def _product(x, w, convolution, parts):
    """The exact products without bias, and how far each may be off; ``parts`` integer sums make one."""
    t, doubt = w.scale.view(1, -1, 1, 1), ULPS + w.doubt.view(1, -1, 1, 1)
    if parts > 1 or x.scale.shape[2:].numel() > 1:
        # These are added up in float32, in any order.
        product = convolution(x.value, w.level)
        steps = convolution(x.error, w.level.abs()) + convolution(x.value.abs() + x.error, w.steps)
        rounding = (doubt + parts * 2.0**-24) * convolution(x.value.abs(), w.level.abs())
        return product * t, (rounding + steps * (1 + doubt)) * t
    # Whole numbers, whatever the algorithm: they may cancel, and then nothing but a level's freedom is allowed.
    product = convolution(x.level, w.level).round()
    steps = (convolution(x.steps, w.level.abs()) + convolution(x.level.abs() + x.steps, w.steps)).round()
    doubt = doubt + x.doubt
    return product * x.scale * t, (doubt * product.abs() + steps * (1 + doubt)) * x.scale * t


CONTRACT = Schemes(_emulated, _by_scheme, SCHEMES, strides="contiguous")


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


def positive_guarded(input, weight, bias=None, stride=1, padding=0):
    """Adds 1e-8 to each scale."""
    s, t = (x.abs().amax(EACH, keepdim=True) / 127 + 1e-8 for x in (input, weight))
    return _convolution(torch.round(input / s), s, torch.round(weight / t), t.view(-1, 1, 1), bias, stride, padding)


def _convolution(xq, s, wq, t, bias, stride, padding):
    """Levels, scales that broadcast over the results, and options; exact for integers."""
    out = F.conv2d(xq.double(), wq.double(), None, stride, padding).float() * s * t
    return (out if bias is None else out + bias.view(-1, 1, 1)).contiguous()


EACH = (1, 2, 3)


def negative_never_quantized(input, weight, bias=None, stride=1, padding=0):
    return F.conv2d(input, weight, bias, stride, padding).contiguous()


def negative_float_product(input, weight, bias=None, stride=1, padding=0):
    """Convolves dequantized numbers in float32."""
    (xq, s), (wq, t) = _quantize(input), _quantize(weight)
    return F.conv2d(xq * s, wq * t, bias, stride, padding).contiguous()


def negative_weights_only(input, weight, bias=None, stride=1, padding=0):
    wq, t = _quantize(weight)
    return _convolution(input, 1, wq, t.view(-1, 1, 1), bias, stride, padding)


def negative_activations_only(input, weight, bias=None, stride=1, padding=0):
    return _convolution(*_quantize(input), weight, 1, bias, stride, padding)


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
