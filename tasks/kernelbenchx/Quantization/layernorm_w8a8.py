"""Layer normalization of 8-bit activations with 8-bit weights (W8A8).

`layernorm_w8a8(input, normalized_shape, weight=None, bias=None, eps=1e-5)` normalizes float32 `input` over its trailing
dimensions `normalized_shape` (an int, or a list or tuple that equals the last dimensions of `input`); `weight` and
`bias`, if given, have that shape. A *group* is the elements that are normalized together.

1. *Activations* are int8, symmetric, one float32 scale per group: `s_g = max over the group of |x| / 127`, and 1 where
   the group is all zero. `xq = clamp(round(x / s_g), -127, 127)`, to the nearest integer, stands for `x̃ = xq · s_g`.
2. *Weights* are float8 (e4m3 without infinities: 4 significant bits, largest 448), one float32 scale for the tensor:
   `t = max |weight| / 448`, and 1 if all are zero. `wq = float8(weight / t)`, to the nearest, ties to even, stands for
   `w̃ = wq · t`. Without `weight`, `w̃ = 1`.
3. *Normalization* is of the dequantized activations, in float32, with mean `μ` and *biased* variance `σ²` of the
   group's `x̃` (which follow exactly from integer sums): `y = (x̃ - μ) / sqrt(σ² + eps)`.
4. `out = y · w̃ + bias`; the bias is not quantized.

The result is a new, contiguous float32 tensor of `input`'s shape. It is compared with an exact emulation: it must agree
to a few units in the last place of the group's largest activation. The one freedom is a quotient within 2⁻¹⁴ of halfway
between two integers (for weights: within a millionth of halfway between two float8 numbers): it may be rounded either
way, and the tolerance of the results that depend on it grows by just that step. Unquantized operands, coarser scales,
int8 weights or truncation are far outside. Groups are not empty; leading dimensions may be 0. All arguments may be
non-contiguous. Values are finite.
"""

import math

import torch
import torch.nn.functional as F

from kbx.suite import Property, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("normalization", "quantization", "int8", "memory-bound")
TESTED = ("option:bias", "option:eps", "option:weight")

CASES = [
    dict(shape=(3, 1), normalized_shape=1),
    dict(shape=(19, 64), normalized_shape=64),
    dict(shape=(13, 131), normalized_shape=(131,), strided=True, eps=1e-2),
    dict(shape=(4, 7, 18), normalized_shape=[7, 18], bias=False),
    dict(shape=(3, 5, 37), normalized_shape=37, weight=False, spread=True),
    dict(shape=(6, 1030), normalized_shape=(1030,), weight=False, bias=False, shift=5.0),
    dict(shape=(9, 2, 33), normalized_shape=33, zeroed=True),
    dict(shape=(2, 3, 4, 5), normalized_shape=(3, 4, 5), strided=True),
    dict(shape=(0, 12), normalized_shape=12),
]

SIZES = [
    dict(shape=(32, 2048), normalized_shape=2048),
    dict(shape=(64, 4096), normalized_shape=4096),
    dict(shape=(1024, 8192), normalized_shape=8192),
    dict(shape=(4096, 8192), normalized_shape=8192),
]


def layernorm_w8a8(
    input: torch.Tensor, normalized_shape, weight: torch.Tensor = None, bias: torch.Tensor = None, eps: float = 1e-05
) -> torch.Tensor:
    shape = _shape(normalized_shape)
    xq, s = _quantize(_groups(input, shape))
    y = F.layer_norm(xq * s, xq.shape[1:], eps=eps).view(input.shape)
    if weight is not None:
        wq, t = _float8(weight)
        y = y * (wq * t)
    return y if bias is None else y + bias


def _shape(normalized_shape):
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


def _groups(x, shape):
    """One group a row."""
    return x.reshape(-1, math.prod(shape)).contiguous()


def _quantize(x):
    """Whole numbers in float32, and the scales of the rows."""
    scale = x.abs().amax(1, keepdim=True) / 127
    scale = torch.where(scale > 0, scale, 1)
    return torch.round(x / scale).clamp(-127, 127), scale


def _float8(weight):
    """The values of float8 numbers in float32, and the scale of the tensor."""
    scale = weight.abs().amax() / 448
    scale = torch.where(scale > 0, scale, 1)
    return (weight / scale).to(torch.float8_e4m3fn).float(), scale


def inputs(
    make, shape, normalized_shape, weight=True, bias=True, strided=False, zeroed=False, spread=False, shift=0, **eps
):
    """`spread`: rows of very different size. `shift`: rows far from zero."""
    x, inner = make.floats(*shape) + shift, _shape(normalized_shape)
    if spread:
        x = x * make.plain(*shape[:-1], 1, low=-6, high=2).exp2()
    if zeroed:
        x[::3] = 0
    w = make.plain(*inner) if weight else None
    b = make.plain(*inner) if bias else None
    if strided:
        x, w, b = make.strided(x), make.strided(w), make.strided(b)
    return call(x, normalized_shape, weight=w, bias=b, **eps)


HALFWAY, HALFWAY_FLOAT8 = 2.0**-14, 2.0**-20
"""How near to a half a quotient may be rounded either way; for float8 relative to the quotient."""
ULPS = 16 * 2.0**-23
"""Relative error of scales, sums, a root and a few products."""


def check(args, kwargs, result, expected):
    return _complaints(result, *args, **kwargs)


def _complaints(result, input, normalized_shape, weight=None, bias=None, eps=1e-5):
    shape = _shape(normalized_shape)
    x = _groups(input, shape)
    xq, s = (v.double() for v in _quantize(x))
    quotient = x.double() / s
    free = ((quotient - quotient.floor() - 0.5).abs() < HALFWAY).double()
    # From here in units of the scale. A level one step off moves its element, the mean, and the deviation.
    centred = xq - xq.mean(1, keepdim=True)
    variance, least = centred.square().mean(1, keepdim=True), eps / s.square()
    share = free.mean(1, keepdim=True)
    change = share * (2 * centred.abs().amax(1, keepdim=True) + 1)
    deviation, narrow = (variance + least).sqrt(), ((variance - change).clamp(min=0) + least).sqrt()
    wide = (variance + change + least).sqrt()
    y = centred / deviation
    step = (free + share) / narrow + centred.abs() * (1 / narrow - 1 / wide)
    # Roundings are relative to the largest activation: subtracting the mean, and squaring, may cancel.
    rounding = ULPS * (y.abs() + (1 + y.abs()) * xq.abs().amax(1, keepdim=True) / deviation)
    y, step, rounding, unit = (v.expand_as(xq).reshape(input.shape) for v in (y, step, rounding, 1 / deviation))
    w, w_step, b = y.new_ones(()), 0.0, y.new_zeros(()) if bias is None else bias.double()
    if weight is not None:
        wq, t = _float8(weight)
        exact, t = weight.double() / t.double(), t.double()
        low, high = ((exact * (1 + e)).to(torch.float8_e4m3fn).double() for e in (-HALFWAY_FLOAT8, HALFWAY_FLOAT8))
        w, w_step = wq.double() * t, (high - low).abs() * t
    truth = y * w + b
    allowed = (rounding + step) * (w.abs() + w_step) + y.abs() * w_step + ULPS * (truth.abs() + b.abs())
    right = (result.double() - truth).abs() <= allowed
    if right.all():
        return []
    at = tuple((~right).nonzero()[0].tolist())
    return [
        f"{int((~right).sum())} wrong elements, first {list(at)}: expected {truth[at]:.9g}, got {result[at]:.9g}, "
        f"allowed error {allowed[at]:.3g}; one step of this activation is {unit[at]:.3g}"
    ]


CONTRACT = Property(check, strides="contiguous")


def positive_integer_statistics(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Reciprocal scales, halves away from zero, statistics from exact sums of integers and their squares."""
    x = _groups(input, _shape(normalized_shape))
    n, inverse = x.shape[1], 127 / x.abs().amax(1, keepdim=True)
    inverse = torch.where(inverse.isfinite(), inverse, 1)
    q = (torch.sign(x) * torch.floor((x * inverse).abs() + 0.5)).long()
    total, squares, scale = q.sum(1, keepdim=True), (q * q).sum(1, keepdim=True), 1 / inverse
    variance = (n * squares - total * total).float() / (n * n) * scale * scale
    y = ((n * q - total).float() / n * scale * torch.rsqrt(variance + eps)).view(input.shape)
    if weight is not None:
        factor = 448 / weight.abs().amax()
        y = y * ((weight * factor).to(torch.float8_e4m3fn).float() / factor)
    return y if bias is None else y + bias


def _normalized(x, like, weight, bias, eps, correction=0):
    """Dequantized groups normalized; then weight and bias as they are given."""
    centred = x - x.mean(1, keepdim=True)
    variance = centred.square().sum(1, keepdim=True) / (x.shape[1] - correction)
    y = (centred / torch.sqrt(variance + eps)).view(like.shape)
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


def _dequantized(weight):
    return None if weight is None else torch.mul(*_float8(weight))


def negative_never_quantized(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    return F.layer_norm(input, _shape(normalized_shape), weight, bias, eps).contiguous()


def negative_weights_only(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    return F.layer_norm(input, _shape(normalized_shape), _dequantized(weight), bias, eps).contiguous()


def negative_activations_only(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    xq, s = _quantize(_groups(input, _shape(normalized_shape)))
    return _normalized(xq * s, input, weight, bias, eps)


def negative_scale_per_tensor(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    x = _groups(input, _shape(normalized_shape))
    if x.numel():
        xq, s = _quantize(x.reshape(1, -1))
        x = (xq * s).view(x.shape)
    return _normalized(x, input, _dequantized(weight), bias, eps)


def negative_scale_of_last_dimension(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Quantizes rows where a group has several."""
    xq, s = _quantize(input.reshape(-1, input.shape[-1]))
    x = _groups((xq * s).view(input.shape), _shape(normalized_shape))
    return _normalized(x, input, _dequantized(weight), bias, eps)


def negative_truncated(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Converts to int8 without rounding."""
    x = _groups(input, _shape(normalized_shape))
    s = _quantize(x)[1]
    return _normalized((x / s).trunc() * s, input, _dequantized(weight), bias, eps)


def negative_wraps_without_clamp(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """A scale of max / 128 takes the largest element to 128, which wraps around to -128 unless it is clamped."""
    x = _groups(input, _shape(normalized_shape))
    s = _quantize(x)[1] * 127 / 128
    return _normalized(torch.round(x / s).to(torch.int16).to(torch.int8) * s, input, _dequantized(weight), bias, eps)


def negative_seven_bits(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    x = _groups(input, _shape(normalized_shape))
    s = _quantize(x)[1] * 127 / 63
    return _normalized(torch.round(x / s) * s, input, _dequantized(weight), bias, eps)


def negative_int8_weights(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    xq, s = _quantize(_groups(input, _shape(normalized_shape)))
    if weight is not None:
        wq, t = _quantize(weight.reshape(1, -1))
        weight = (wq * t).view(weight.shape)
    return _normalized(xq * s, input, weight, bias, eps)


def negative_unscaled_float8(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    xq, s = _quantize(_groups(input, _shape(normalized_shape)))
    weight = None if weight is None else weight.to(torch.float8_e4m3fn).float()
    return _normalized(xq * s, input, weight, bias, eps)


def negative_truncated_float8(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Keeps four significant bits and drops the others."""
    xq, s = _quantize(_groups(input, _shape(normalized_shape)))
    if weight is not None:
        t = _float8(weight)[1]
        weight = ((weight / t).contiguous().view(torch.int32) & ~0xFFFFF).view(torch.float32) * t
    return _normalized(xq * s, input, weight, bias, eps)


def negative_statistics_before_quantization(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    x = _groups(input, _shape(normalized_shape))
    xq, s = _quantize(x)
    centre = x.mean(1, keepdim=True)
    y = (xq * s - centre) * torch.rsqrt((x - centre).square().mean(1, keepdim=True) + eps)
    weight = 1 if weight is None else _dequantized(weight)
    return (y.view(input.shape) * weight + (0 if bias is None else bias)).contiguous()


def negative_quantizes_after_normalization(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    x = _groups(input, _shape(normalized_shape))
    yq, s = _quantize(F.layer_norm(x, x.shape[1:], eps=eps))
    weight = 1 if weight is None else _dequantized(weight)
    return ((yq * s).view(input.shape) * weight + (0 if bias is None else bias)).contiguous()


def negative_eps_for_integers(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Normalizes the levels: the scale cancels, but not in eps."""
    xq = _quantize(_groups(input, _shape(normalized_shape)))[0]
    return _normalized(xq, input, _dequantized(weight), bias, eps)


def negative_unbiased_variance(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    xq, s = _quantize(_groups(input, _shape(normalized_shape)))
    return _normalized(xq * s, input, _dequantized(weight), bias, eps, correction=1)


def negative_quantized_bias(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    return layernorm_w8a8(input, normalized_shape, weight, _dequantized(bias), eps)
