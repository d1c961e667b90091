"""Layer normalization of 8-bit activations with 8-bit weights (W8A8).

`layernorm_w8a8(input, normalized_shape, weight=None, bias=None, eps=1e-5)` normalizes float32 `input` over its trailing
dimensions `normalized_shape` (an int, or a list or tuple that equals the last dimensions of `input`); `weight` and
`bias`, if given, have that shape. A *group* is the elements that are normalized together.

1. *Activations* are int8, symmetric: a scale is the largest magnitude among the elements that share it, divided by 127,
   in float32, and 1 where all of them are zero. `xq = clamp(round(x / s), -127, 127)`, to the nearest integer, stands
   for `x̃ = xq · s`. One scale is for a group (as in the reference), for a row along the last dimension, or for the whole
   tensor. Quantized, and dequantized again, is the input (as in the reference), the normalized `y` of step 3, the result
   of step 4, or both input and result. The input alone may be asymmetric, too: a scale is then the largest value that shares
   it or 0, less the smallest or 0, divided by 255, and with the zero point `z = round(-128 - min(x, 0) / s)`, `xq =
   clamp(round(x / s) + z, -128, 127) - z`.
2. *Weights* are float8 (e4m3 without infinities: 4 significant bits, largest 448), one float32 scale for the tensor:
   `t = max |weight| / 448`, and 1 if all are zero. `wq = float8(weight / t)`, to the nearest, ties to even, stands for
   `w̃ = wq · t`. So in the reference; `t = 1`, and int8 with one scale for the tensor as in step 1, are right, too. Without
   `weight`, `w̃ = 1`.
3. *Normalization* is in float32, with mean `μ` and *biased* variance `σ²` of the group: `y = (x̃ - μ) / sqrt(σ² + eps)`.
   If the input was quantized, `μ` and `σ²` are of the dequantized `x̃`, and follow exactly from integer sums.
4. `out = y · w̃ + bias`; the bias is not quantized.

The result is a new, contiguous float32 tensor of `input`'s shape. What is quantized, and how, is your choice, the same in
all calls. The result is compared with an exact emulation of each choice: it must agree with one of them to a few units in
the last place of the group's largest activation. `1e-8` may be added to any scale, as a guard against zero, and nothing
larger. Left open is a quotient within 2⁻¹⁴ of halfway between two
integers (for weights: within a millionth of halfway between two float8 numbers), or nearer to it than float32 knows `y`:
it may be rounded either way, as may one that a guard moves over such a half, and the tolerance of the results that depend on
it grows by just that step, and by what the guard changes the scales. Unquantized activations or weights, or truncation are far outside. Groups are not empty; leading dimensions may be 0. All arguments may be
non-contiguous. Values are finite.
"""

import math

import torch
import torch.nn.functional as F

from kbx.suite import Schemes, call, quantized

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("normalization", "quantization", "int8", "memory-bound")

CASES = [
    dict(shape=(19, 64), normalized_shape=(64,)),
    dict(shape=(6, 1030), normalized_shape=(1030,), weight=False, bias=False, shift=5.0),
    dict(shape=(13, 131), normalized_shape=(131,), eps=1e-10),
    dict(shape=(33, 37), normalized_shape=(37,), weight=False, bias=False, spread=True),
    dict(shape=(5, 1), normalized_shape=(1,), weight=False, bias=False),
    dict(shape=(3, 1), normalized_shape=(1,)),
    dict(shape=(13, 130), normalized_shape=(130,), strided=True),
    dict(shape=(19, 63), normalized_shape=63),
    dict(shape=(4, 7, 18), normalized_shape=[7, 18], bias=False),
    dict(shape=(3, 5, 37), normalized_shape=(37,), weight=False),
    dict(shape=(13, 129), normalized_shape=(129,), eps=0.01),
    dict(shape=(18, 33), normalized_shape=(33,), zeroed=True),
    dict(shape=(2, 3, 4, 5), normalized_shape=(3, 4, 5), strided=True),
    dict(shape=(0, 12), normalized_shape=(12,)),
]

SIZES = [
    dict(shape=(32, 2048), normalized_shape=(2048,)),
    dict(shape=(64, 4096), normalized_shape=(4096,)),
    dict(shape=(1024, 8192), normalized_shape=(8192,)),
    dict(shape=(4096, 8192), normalized_shape=(8192,)),
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


GROUP = (1, 2)
DIMS = dict(group=GROUP, row=(2,), tensor=(0, 1, 2))
"""Dimensions of `_groups` with one scale."""
SCHEMES = tuple(
    dict(int8=place, scale=scale, weights=weights)
    for place in ("input", "normalized", "output", "input_and_output", "asymmetric_input")
    for scale in DIMS
    for weights in ("float8", "float8_unscaled", "int8")
)


def _by_scheme(input, normalized_shape, weight=None, bias=None, eps=1e-05, *, int8, scale, weights):
    dims, x = DIMS[scale], _rows_of_groups(input, normalized_shape)
    if "input" in int8:
        x = torch.mul(*_scaled(x, dims, shifted=int8 == "asymmetric_input"))
    y = F.layer_norm(x, x.shape[1:], eps=eps)
    if int8 == "normalized":
        y = torch.mul(*_scaled(y, dims))
    if weight is not None:
        y = y * torch.mul(*_weights(weight, weights)).reshape(y.shape[1:])
    if bias is not None:
        y = y + bias.reshape(y.shape[1:])
    if int8.endswith("output"):
        y = torch.mul(*_scaled(y, dims))
    return y.view(input.shape)


def _scaled(x, dims, shifted=False):
    """Whole numbers in float32, and scales that the elements of `dims` share."""
    if not shifted:
        scale = quantized.scale_of(x, dims)
        return torch.round(x / scale).clamp(-127, 127), scale
    scale, lowest = quantized.shifted_scale_of(x, dims)
    return torch.minimum(torch.maximum(torch.round(x / scale), lowest), lowest + 255), scale


def _weights(weight, kind):
    """The values of 8-bit numbers in float32, and the scale of the tensor."""
    if kind == "int8":
        return _scaled(weight, tuple(range(weight.dim())))
    return _float8(weight) if kind == "float8" else (weight.to(torch.float8_e4m3fn).float(), weight.new_ones(()))


def _rows_of_groups(input, normalized_shape):
    """Groups, their rows, and the elements of a row."""
    shape = _shape(normalized_shape)
    return input.reshape(-1, math.prod(shape[:-1]), shape[-1]).contiguous()


HALFWAY_FLOAT8 = 2.0**-20
"""How near to a half, relative to a quotient, it may be rounded to either float8 number."""
ULPS = 16 * 2.0**-23
"""Relative error of scales, sums, a root and a few products."""


def _emulated(input, normalized_shape, weight=None, bias=None, eps=1e-05, *, int8, scale, weights):
    dims, x = DIMS[scale], _rows_of_groups(input, normalized_shape)
    value, error = x.double(), torch.zeros_like(x, dtype=torch.float64)
    if "input" in int8:
        levels = quantized.levels(x, dims, shifted=int8 == "asymmetric_input")
        value, error = levels.value, levels.error
    y, error = _normalized_up_to(value, error, eps)
    if int8 == "normalized":
        y, error = _quantized_up_to(y, error, dims)
    if weight is not None:
        w, w_error = (t.reshape(y.shape[1:]) for t in _weights_up_to(weight, weights))
        y, error = y * w, error * (w.abs() + w_error) + y.abs() * w_error
    b = y.new_zeros(()) if bias is None else bias.double().reshape(y.shape[1:])
    y = y + b
    error = error + ULPS * (y.abs() + b.abs())
    if int8.endswith("output"):
        y, error = _quantized_up_to(y, error, dims)
    return y.view(input.shape), error.view(input.shape)


def _normalized_up_to(x, error, eps):
    """Groups normalized, and how far each element of a result may be off, where `x` may be off by `error`."""
    centred = x - x.mean(GROUP, keepdim=True)
    variance = centred.square().mean(GROUP, keepdim=True)
    # An element that is off moves itself, the mean, and the deviation.
    change = (2 * centred.abs() * error + error.square()).mean(GROUP, keepdim=True)
    deviation, wide = (variance + eps).sqrt(), (variance + change + eps).sqrt()
    narrow = ((variance - change).clamp(min=0) + eps).sqrt()
    y = centred / deviation
    step = (error + error.mean(GROUP, keepdim=True)) / narrow + centred.abs() * (1 / narrow - 1 / wide)
    # Roundings are relative to the largest activation: subtracting the mean, and squaring, may cancel.
    largest = quantized.top_of(x, GROUP) / deviation
    return y, step + ULPS * (y.abs() + (1 + y.abs()) * largest)


def _quantized_up_to(y, error, dims):
    levels = quantized.levels_of_result(y, error, dims)
    return levels.value, levels.error + ULPS * levels.value.abs() + torch.where(levels.level == 0, error, 0.0)


def _weights_up_to(weight, kind):
    """The exact values of quantized weights, and how far each may be off."""
    if kind == "int8":
        levels = quantized.levels(weight, tuple(range(weight.dim())))
        return levels.value, levels.error
    wq, t = (v.double() for v in _weights(weight, kind))
    guard = quantized.GUARD if kind == "float8" else 0.0
    ends = (weight.double() / t * (1 + HALFWAY_FLOAT8), weight.double() / (t + guard) * (1 - HALFWAY_FLOAT8))
    high, low = (end.to(torch.float8_e4m3fn).double() for end in ends)
    return wq * t, (high - low).abs() * t + (guard / t).clamp(max=1) * (wq * t).abs()


CONTRACT = Schemes(_emulated, _by_scheme, SCHEMES, strides="contiguous")


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


def positive_guarded(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Adds 1e-8 to each scale."""
    x = _groups(input, _shape(normalized_shape))
    s = x.abs().amax(1, keepdim=True) / 127 + 1e-8
    if weight is not None:
        t = weight.abs().amax() / 448 + 1e-8
        weight = (weight / t).to(torch.float8_e4m3fn).float() * t
    return _normalized(torch.round(x / s) * s, input, weight, bias, eps)


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


def negative_eps_for_integers(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Normalizes the levels: the scale cancels, but not in eps."""
    xq = _quantize(_groups(input, _shape(normalized_shape)))[0]
    return _normalized(xq, input, _dequantized(weight), bias, eps)


def negative_unbiased_variance(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    xq, s = _quantize(_groups(input, _shape(normalized_shape)))
    return _normalized(xq * s, input, _dequantized(weight), bias, eps, correction=1)


def negative_quantized_bias(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    return layernorm_w8a8(input, normalized_shape, weight, _dequantized(bias), eps)
