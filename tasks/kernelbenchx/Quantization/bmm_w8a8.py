"""Batched matrix product of two operands quantized to 8 bits (W8A8).

`bmm_w8a8(input, mat2)` multiplies float32 `input` `(B, M, K)` with float32 `mat2` `(B, K, N)`, batch by batch. Both are
quantized to signed 8-bit integers on the fly; the result is a new, contiguous float32 `(B, M, N)` tensor.

1. *Activations*: a scale `s`, in float32, for a row of a matrix of `input` (as in the reference), for a matrix, or for the
   whole tensor. Symmetric (as in the reference), it is the largest `|x|` among the elements that share it, divided by 127,
   and `xq = clamp(round(x / s), -127, 127)`. Asymmetric, it is their largest value or 0, less their smallest value or 0,
   divided by 255; with the zero point `z = round(-128 - min(x, 0) / s)`, `xq = clamp(round(x / s) + z, -128, 127) - z`.
   A scale is 1 where all elements are zero.
2. *Weights* alike, `wq` with scale `t`. One scale is for a column of a matrix of `mat2`, which is an output channel (as in
   the reference), for that column of all matrices, for a matrix, or for the whole tensor.
3. *Product* in integers: `acc_bij = sum over k of xq_bik · wq_bkj`, exact in int32.
4. *Dequantization*: `out_bij = float32(acc_bij) · s · t`, with the scales of row `i` and column `j` in matrix `b`.

Which elements share a scale, and which operand is asymmetric, is your choice, the same in all calls. `round` is to the
nearest integer. `1e-8` may be added to any scale, as a guard against zero, and nothing larger. The result is compared with
an integer-exact emulation of each choice: it must agree with one of them to a few units in the last place. Two things are
left open: a quotient that lies within 2⁻¹⁴ of halfway between two integers (ties included) may be rounded either way, and
so may one that a guard moves over such a half; the tolerance of the results that depend on it grows by just that step, and
by what the guard changes the scales. The unquantized product, a product
of dequantized numbers in float32, or truncation are far outside. `K ≥ 1`; `B`, `M` or `N` may be 0; both arguments may
be non-contiguous or expanded. Values are finite.
"""

import torch

from kbx.suite import Schemes, call, quantized

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "quantization", "int8", "tensor-core")

CASES = [
    dict(b=3, m=21, k=64, n=35),
    dict(b=2, m=5, k=1030, n=7),
    dict(b=4, m=17, k=48, n=20, spread=True),
    dict(b=2, m=1, k=33, n=1),
    dict(b=1, m=37, k=19, n=65),
    dict(b=1, m=1, k=1, n=1),
    dict(b=2, m=19, k=131, n=33, strided=True),
    dict(b=2, m=24, k=32, n=16, zero_rows=True),
    dict(b=3, m=18, k=40, n=23, shared=True),
    dict(b=0, m=5, k=16, n=8),
    dict(b=2, m=0, k=16, n=8),
]

SIZES = [
    dict(b=2, m=64, k=128, n=256),
    dict(b=8, m=256, k=512, n=1024),
    dict(b=16, m=512, k=1024, n=2048),
    dict(b=16, m=1024, k=1024, n=2048),
]


def bmm_w8a8(input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    xq, s = _quantize(input, 2)
    wq, t = _quantize(mat2, 1)
    return _integer_product(xq, wq).float() * s * t


def _quantize(x, dim):
    """Whole numbers in float32, and their scales."""
    scale = x.float().abs().amax(dim, keepdim=True) / 127
    scale = torch.where(scale > 0, scale, 1)
    return torch.round(x.float() / scale).clamp(-127, 127), scale


def _integer_product(xq, wq):
    """Exact: in int8 where the library has it (it wants more than 16 rows, and K and N in eights), else in float64.

    The library multiplies one pair at a time, and is fastest with the weights in column order.
    """
    if xq.is_cuda and len(xq) and xq.shape[1] > 16 and wq.shape[1] % 8 == 0 and wq.shape[2] % 8 == 0:
        pairs = zip(xq.to(torch.int8).contiguous(), wq.mT.to(torch.int8).contiguous(), strict=True)
        return torch.stack([torch._int_mm(a, b.t()) for a, b in pairs])
    return (xq.double() @ wq.double()).contiguous()


def inputs(make, b, m, k, n, strided=False, zero_rows=False, spread=False, shared=False):
    """`spread`: matrices, rows and columns of very different size. `shared`: one `mat2`, expanded over the batch."""
    x, w = make.floats(b, m, k), make.plain(1 if shared else b, k, n)
    if spread:
        x = x * make.plain(b, m, 1, low=-4, high=2).exp2() * make.plain(b, 1, 1, low=-2, high=2).exp2()
        w = w * make.plain(b, 1, n, low=-4, high=2).exp2() * make.plain(b, 1, 1, low=-2, high=2).exp2()
    if zero_rows:
        x[:, ::3], w[..., ::5] = 0, 0
    if shared:
        w = make.expanded(w, b, k, n)
    return call(make.strided(x), make.strided(w)) if strided else call(x, w)


ROWS = dict(row=(2,), matrix=(1, 2), tensor=(0, 1, 2))
COLUMNS = dict(column=(1,), shared_column=(0, 1), matrix=(1, 2), tensor=(0, 1, 2))
"""Dimensions with one scale."""
ASYMMETRIC = dict(none=(False, False), activations=(True, False), weights=(False, True), both=(True, True))
SCHEMES = tuple(dict(activations=a, weights=w, asymmetric=each) for each in ASYMMETRIC for a in ROWS for w in COLUMNS)


def _by_scheme(input, mat2, activations, weights, asymmetric):
    shifted = ASYMMETRIC[asymmetric]
    (xq, s), (wq, t) = _scaled(input, ROWS[activations], shifted[0]), _scaled(mat2, COLUMNS[weights], shifted[1])
    return _product(xq, s, wq, t)


def _scaled(x, dims, shifted):
    """Whole numbers in float32, and scales that the elements of `dims` share."""
    if not shifted:
        scale = quantized.scale_of(x, dims)
        return torch.round(x / scale).clamp(-127, 127), scale
    scale, lowest = quantized.shifted_scale_of(x, dims)
    return torch.minimum(torch.maximum(torch.round(x / scale), lowest), lowest + 255), scale


ULPS = 8 * 2.0**-23
"""Relative error of scales, conversion and two products."""


def _emulated(input, mat2, activations, weights, asymmetric):
    shifted = ASYMMETRIC[asymmetric]
    x = quantized.levels(input, ROWS[activations], shifted=shifted[0])
    w = quantized.levels(mat2, COLUMNS[weights], shifted=shifted[1])
    unit = x.scale * w.scale
    truth = (x.level @ w.level) * unit
    steps = x.steps @ w.level.abs() + (x.level.abs() + x.steps) @ w.steps
    doubt = ULPS + x.doubt + w.doubt
    return truth, doubt * truth.abs() + steps * unit * (1 + doubt)


CONTRACT = Schemes(_emulated, _by_scheme, SCHEMES, strides="contiguous")


def positive_reciprocal(input, mat2):
    """Multiplies by 127 / max, rounds halves away from zero, adds up in blocks of int32."""

    def levels(x, dim):
        top = x.abs().amax(dim, keepdim=True)
        inverse = torch.where(top > 0, 127 / top, 1)
        q = torch.sign(x) * torch.floor((x * inverse).abs() + 0.5)
        return q.to(torch.int32), 1 / inverse

    (xq, s), (wq, t) = levels(input, 2), levels(mat2, 1)
    blocks = zip(xq.split(32, 2), wq.split(32, 1), strict=True)
    acc = sum((a.double() @ b.double()).to(torch.int32) for a, b in blocks)
    return (acc.float() * (s * t)).contiguous()


def positive_guarded(input, mat2):
    """Adds 1e-8 to each scale."""

    def levels(x, dim):
        scale = x.abs().amax(dim, keepdim=True) / 127 + 1e-8
        return torch.round(x / scale), scale

    return _product(*levels(input, 2), *levels(mat2, 1))


def positive_zero_points(input, mat2):
    """Asymmetric activations as unsigned bytes, whose zero points are taken out of the sums by those of the weights."""
    low, high = input.amin(2, keepdim=True).clamp(max=0), input.amax(2, keepdim=True).clamp(min=0)
    s = torch.where(high > low, (high - low) / 255, 1)
    zero = torch.round(-low / s)
    xq = (torch.round(input / s) + zero).clamp(0, 255)
    wq, t = _quantize(mat2, 1)
    acc = xq.double() @ wq.double() - zero.double() * wq.double().sum(1, keepdim=True)
    return (acc.float() * s * t).contiguous()


def _product(xq, s, wq, t):
    return ((xq.double() @ wq.double()).float() * s * t).contiguous()


def negative_never_quantized(input, mat2):
    return input @ mat2


def negative_float_product(input, mat2):
    """Multiplies dequantized numbers in float32."""
    (xq, s), (wq, t) = _quantize(input, 2), _quantize(mat2, 1)
    return (xq * s) @ (wq * t)


def negative_weights_only(input, mat2):
    wq, t = _quantize(mat2, 1)
    return (input @ wq) * t


def negative_activations_only(input, mat2):
    xq, s = _quantize(input, 2)
    return (xq @ mat2) * s


def negative_truncated(input, mat2):
    """Converts to int8 without rounding."""
    s, t = _quantize(input, 2)[1], _quantize(mat2, 1)[1]
    return _product((input / s).trunc(), s, (mat2 / t).trunc(), t)


def negative_wraps_without_clamp(input, mat2):
    """A scale of max / 128 takes the largest element to 128, which wraps around to -128 unless it is clamped."""

    def levels(x, dim):
        scale = x.abs().amax(dim, keepdim=True) / 128
        scale = torch.where(scale > 0, scale, 1)
        return torch.round(x / scale).to(torch.int16).to(torch.int8), scale

    return _product(*levels(input, 2), *levels(mat2, 1))


def negative_zero_point_left_in(input, mat2):
    """Forgets to take the zero points out of the sums."""
    s, lowest = quantized.shifted_scale_of(input, (2,))
    return _product(_scaled(input, (2,), True)[0] - lowest - 128, s, *_quantize(mat2, 1))


def negative_divides_by_zero(input, mat2):
    """No scale of 1 for a row that is all zero."""
    s, t = input.abs().amax(2, keepdim=True) / 127, mat2.abs().amax(1, keepdim=True) / 127
    return _product(torch.round(input / s), s, torch.round(mat2 / t), t)


def negative_seven_bits(input, mat2):
    def levels(x, dim):
        scale = _quantize(x, dim)[1] * 127 / 63
        return torch.round(x / scale), scale

    return _product(*levels(input, 2), *levels(mat2, 1))


def negative_accumulates_in_bfloat16(input, mat2):
    xq, s = _quantize(input, 2)
    wq, t = _quantize(mat2, 1)
    return (xq.bfloat16() @ wq.bfloat16()).float() * s * t
