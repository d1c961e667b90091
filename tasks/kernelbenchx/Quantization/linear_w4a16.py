"""Linear layer with 4-bit weights and 16-bit activations (W4A16).

`linear_w4a16(input, weight, bias=None)` is `input @ weightᵀ + bias` with the weights quantized to 4 bits on the fly.

- `input`: float16 `(…, K)`, `weight`: float16 `(N, K)`, `bias`: float16 `(N,)` or `None`. The result is a new,
  contiguous float16 tensor `(…, N)`.

1. *Weights*, symmetric, one scale per output channel, which is a row of `weight`: `s_j = max over k of |w_jk| / 7`, and 1
   where the row is all zero. `wq_jk = clamp(round(w_jk / s_j), -7, 7)` fits in 4 bits: a kernel keeps two of them in a
   byte, in any order, and has to cope with an odd `K`. Instead of by 7, the largest may be divided by 7.5 or by 8, and
   levels then go from -8 to 7. Scales are float32, and so is the division; or scales are float16, and the division is in
   either.
2. *Activations* stay float16.
3. `out_ij = float16(sum over k of x_ik · (wq_jk · s_j) + bias_j)`.

`wq_jk · s_j` may be rounded to float16 before the product, or `s_j` be applied to the finished sum. Sums are float32;
float16 sums as tensor cores keep them, rounded once for 16 products, pass too, coarser ones do not. `round` is to the
nearest integer. The result is compared with an exact emulation for each divisor and kind of scales, to a few float16 units in the
last place and those roundings; all results must agree with the same one. `1e-8` may be added to a scale, as a guard against
zero. Left open is a quotient that lies within 2⁻¹⁴ of halfway between two integers (ties included), with float16 scales
within a float16 rounding of it: it may be rounded either way, as may one that a guard moves over such a half, and the
tolerance of the results that depend on it grows by just that step. Unquantized weights,
another number of bits, or coarser scales are far outside. `K ≥ 1`; `N` and leading dimensions may be 0; all arguments
may be non-contiguous. Values are finite.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Schemes, call, quantized

DIFFICULTY = 4
DTYPE = "float16"
TAGS = ("matmul", "quantization", "tensor-core", "fp16")

CASES = [
    dict(lead=(37,), k=64, n=45),
    dict(lead=(5,), k=1031, n=21),
    dict(lead=(33,), k=256, n=64, bias=10.0),
    dict(lead=(19,), k=131, n=33, zero_rows=True),
    dict(lead=(1,), k=31, n=1),
    dict(lead=(1,), k=1, n=1),
    dict(lead=(37,), k=65, n=45, bias="normal"),
    dict(lead=(36,), k=131, n=33, network=True),
    dict(lead=(2, 7), k=48, n=40, spread=True),
    dict(lead=(19,), k=132, n=33, bias=10.0, strided=True),
    dict(lead=(), k=30, n=17),
    dict(lead=(0,), k=16, n=8),
]

SIZES = [
    dict(lead=(1,), k=4096, n=4096),
    dict(lead=(8,), k=4096, n=4096),
    dict(lead=(32,), k=4096, n=16384),
    dict(lead=(2048,), k=8192, n=8192),
]


def linear_w4a16(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor = None) -> torch.Tensor:
    wq, s = _quantize(weight)
    return F.linear(input, (wq * s).to(input.dtype), bias)


def _quantize(weight, largest=7):
    """Whole numbers in float32, and the float32 scales of the output channels."""
    scale = weight.float().abs().amax(1, keepdim=True) / largest
    scale = torch.where(scale > 0, scale, 1)
    return torch.round(weight.float() / scale).clamp(-largest, largest), scale


def inputs(make, lead, k, n, bias=None, network=False, strided=False, zero_rows=False, spread=False):
    """In a `network` weights are scaled by 1/sqrt(K). `spread`: channels of very different size. `bias`: normal, or all one number."""
    x, w = make.floats(*lead, k), make.plain(n, k)
    if network:
        w = w * k**-0.5
    if spread:
        w = w * make.plain(n, 1, low=-6, high=2).exp2()
    if zero_rows:
        w[::5] = 0
    b = bias and (make.plain(n) if bias == "normal" else torch.full_like(w[:, 0], bias))
    return call(make.strided(x), make.strided(w), make.strided(b)) if strided else call(x, w, b)


DIVISORS = {"7": (7, (-7, 7)), "7.5": (7.5, (-8, 7)), "8": (8, (-8, 7))}
"""What the largest weight is divided by, and the levels that there are."""
SCHEMES = tuple(dict(scales=scales, divisor=divisor) for divisor in DIVISORS for scales in ("float32", "float16"))
ROUNDOFF = 2.0**-11
"""Of float16; the smallest distance between two of its values is a 2¹³th of that."""


def _by_scheme(input, weight, bias=None, *, scales, divisor):
    largest, bounds = DIVISORS[divisor]
    wide = weight.float() if scales == "float32" else weight
    s = quantized.scale_of(wide, (1,), largest)
    return F.linear(input, (torch.round(wide / s).clamp(*bounds) * s).to(input.dtype), bias)


def _levels(weight, scales, divisor):
    """Divided in float32, or in float16 too where the scale is: the quotient is then up to one rounding away."""
    largest, bounds = DIVISORS[divisor]
    if scales == "float32":
        return quantized.levels(weight, (1,), largest, bounds)
    scale = quantized.scale_of(weight, (1,), largest).double()
    quotient = weight.double() / scale
    spread = quotient.abs() * ROUNDOFF
    return quantized.between(quotient, quotient - spread, quotient + spread, scale, bounds)


def _emulated(input, weight, bias=None, *, scales, divisor):
    x, w = input.double(), _levels(weight, scales, divisor)
    product = F.linear(x, w.value)
    shift = x.new_zeros(()) if bias is None else bias.double()
    truth = product + shift
    # Roundings of terms, and of running sums, add as squares. A running sum is about as large as what it ends with, or as
    # its terms where these cancel.
    terms = F.linear(x.square(), w.value.square()).sqrt()
    running = torch.hypot(terms, product)
    allowed = 2 * truth.abs() + shift.abs() + 4 * terms + weight.shape[1] ** 0.5 / 2 * running
    return truth, ROUNDOFF * allowed + 2.0**-24 + F.linear(x.abs(), w.error)


SKIP_CONTROLS = {
    "negative_changes_scheme": "scales that differ by a float16 rounding give results that differ by less than float16 sums do"
}
CONTRACT = Schemes(_emulated, _by_scheme, SCHEMES, strides="contiguous")


def _linear(input, dequantized, bias):
    out = F.linear(input.float(), dequantized.float())
    return (out if bias is None else out + bias.float()).half()


def _unpacked(low, high, k):
    return torch.stack((low, high), 2).flatten(1)[:, :k]


def _nibbles(weight):
    """Levels packed in pairs of bytes' halves, two's complement, and their scales."""
    wq, scale = _quantize(weight)
    wq = F.pad(wq, (0, weight.shape[1] % 2)).to(torch.int32)
    return (wq[:, ::2] & 15) | ((wq[:, 1::2] & 15) << 4), scale


def positive_packed(input, weight, bias=None):
    """Packs, unpacks with sign extension, sums in float32 blocks, scales at the end."""
    packed, scale = _nibbles(weight)
    low, high = ((packed & 15) ^ 8) - 8, ((packed >> 4) ^ 8) - 8
    wq = _unpacked(low, high, weight.shape[1]).float()
    out = sum(F.linear(a, b) for a, b in zip(input.float().split(32, -1), wq.split(32, 1), strict=True)) * scale[:, 0]
    return (out if bias is None else out + bias.float()).half()


def positive_half_sums(input, weight, bias=None):
    """Reciprocal scales, float16 weights, a float16 running sum over blocks of 16, as in a tensor core."""
    inverse = 7 / weight.float().abs().amax(1, keepdim=True)
    inverse = torch.where(inverse.isfinite(), inverse, 1)
    w = (torch.round(weight.float() * inverse) / inverse).half()
    out = torch.zeros(*input.shape[:-1], weight.shape[0], dtype=torch.float16, device=input.device)
    for a, b in zip(input.float().split(16, -1), w.float().split(16, 1), strict=True):
        out = (out.float() + F.linear(a, b)).half()
    return out if bias is None else out + bias


def negative_never_quantized(input, weight, bias=None):
    return F.linear(input, weight, bias)


def negative_scale_per_tensor(input, weight, bias=None):
    wq, scale = _quantize(weight.reshape(1, -1))
    return _linear(input, (wq * scale).view(weight.shape), bias)


def negative_scale_per_input_channel(input, weight, bias=None):
    wq, scale = _quantize(weight.t())
    return _linear(input, (wq * scale).t(), bias)


def negative_truncated(input, weight, bias=None):
    """Converts to integers without rounding."""
    scale = _quantize(weight)[1]
    return _linear(input, (weight.float() / scale).trunc() * scale, bias)


def negative_wraps_without_clamp(input, weight, bias=None):
    """A scale of max / 8 takes the largest weight to 8, which is -8 in 4 bits unless it is clamped."""
    scale = _quantize(weight)[1] * 7 / 8
    q = torch.round(weight.float() / scale)
    return _linear(input, torch.where(q == 8, -8, q) * scale, bias)


def negative_asymmetric(input, weight, bias=None):
    """Fifteen steps from the smallest to the largest weight of a channel, with a zero point."""
    low, high = weight.float().amin(1, keepdim=True), weight.float().amax(1, keepdim=True)
    scale = torch.where(high > low, (high - low) / 15, 1)
    return _linear(input, torch.round((weight.float() - low) / scale) * scale + low, bias)


def negative_eight_bits(input, weight, bias=None):
    wq, scale = _quantize(weight, 127)
    return _linear(input, wq * scale, bias)


def negative_three_bits(input, weight, bias=None):
    wq, scale = _quantize(weight, 3)
    return _linear(input, wq * scale, bias)


def negative_quantized_activations(input, weight, bias=None):
    wq, scale = _quantize(weight)
    step = input.float().abs().amax(-1, keepdim=True) / 127
    step = torch.where(step > 0, step, 1)
    return _linear(torch.round(input.float() / step) * step, wq * scale, bias)


def negative_no_sign_extension(input, weight, bias=None):
    packed, scale = _nibbles(weight)
    return _linear(input, _unpacked(packed & 15, packed >> 4, weight.shape[1]) * scale, bias)


def negative_halves_swapped(input, weight, bias=None):
    packed, scale = _nibbles(weight)
    low, high = ((packed & 15) ^ 8) - 8, ((packed >> 4) ^ 8) - 8
    return _linear(input, _unpacked(high, low, weight.shape[1]) * scale, bias)


def negative_sums_in_bfloat16(input, weight, bias=None):
    wq, scale = _quantize(weight)
    out = torch.zeros(*input.shape[:-1], weight.shape[0], dtype=torch.bfloat16, device=input.device)
    for a, b in zip(input.float().split(16, -1), (wq * scale).split(16, 1), strict=True):
        out = (out.float() + F.linear(a, b)).bfloat16()
    return (out.float() if bias is None else out.float() + bias.float()).half()


def negative_no_bias(input, weight, bias=None):
    return linear_w4a16(input, weight)
