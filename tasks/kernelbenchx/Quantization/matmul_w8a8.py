"""Matrix product with 8-bit weights and 8-bit activations (W8A8).

`matmul_w8a8(input, weight)` multiplies float32 `input` `(M, K)` with float32 `weight` `(K, N)`, both quantized to signed
8-bit integers on the fly, and returns a new, contiguous float32 `(M, N)` tensor.

1. *Activations*, symmetric, one scale per row of `input`: `s_i = max over k of |x_ik| / 127` in float32, and 1 where the row
   is all zero. `xq_ik = clamp(round(x_ik / s_i), -127, 127)`.
2. *Weights*, symmetric, one scale per output channel, which is a column of `weight`: `t_j = max over k of |w_kj| / 127`, 1
   where the column is all zero. `wq_kj = clamp(round(w_kj / t_j), -127, 127)`.
3. *Product* in integers: `acc_ij = sum over k of xq_ik · wq_kj`, exact in int32.
4. *Dequantization*: `out_ij = float32(acc_ij) · s_i · t_j`.

`round` is to the nearest integer. `1e-8` may be added to any scale, as a guard against zero, and nothing larger. The result is
compared with an integer-exact emulation: it must agree to a few units in the last place. Two things are left open: a
quotient that lies within 2⁻¹⁴ of halfway between two integers, where the last bit of a division decides, may be rounded
either way (ties included), and so may one that a guard moves over such a half; the tolerance of the results that depend on
it grows by just that step, and by what the guard changes the scales. The unquantized product, coarser scales, or truncation are far outside. `K ≥ 1`; `M` or `N` may be 0; both
arguments may be non-contiguous.
"""

import torch

from kbx.suite import Schemes, call, quantized

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "quantization", "int8", "tensor-core")

CASES = [
    dict(m=1, k=1, n=1),
    dict(m=37, k=64, n=45),
    dict(m=5, k=1030, n=7),
    dict(m=33, k=48, n=20, spread=True),
    dict(m=1, k=257, n=65),
    dict(m=19, k=131, n=33, strided=True),
    dict(m=64, k=32, n=16, zero_rows=True),
    dict(m=0, k=16, n=8),
]

SIZES = [
    dict(m=128, k=256, n=512),
    dict(m=512, k=1024, n=2048),
    dict(m=2048, k=4096, n=4096),
    dict(m=8192, k=4096, n=8192),
]


def matmul_w8a8(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    xq, s = _quantize(input, 1)
    wq, t = _quantize(weight, 0)
    return _integer_product(xq, wq).float() * s * t


def _quantize(x, dim):
    """Whole numbers in float32, and their scales."""
    scale = x.float().abs().amax(dim, keepdim=True) / 127
    scale = torch.where(scale > 0, scale, 1)
    return torch.round(x.float() / scale).clamp(-127, 127), scale


def _integer_product(xq, wq):
    """Exact: in int8 where the library has it (it wants more than 16 rows, and K and N in eights), else in float64.

    The library is several times faster, and takes more shapes, with the weights in column order.
    """
    if xq.is_cuda and xq.shape[0] > 16 and wq.shape[0] % 8 == 0 and wq.shape[1] % 8 == 0:
        return torch._int_mm(xq.to(torch.int8), wq.to(torch.int8).t().contiguous().t())
    return xq.double() @ wq.double()


def inputs(make, m, k, n, strided=False, zero_rows=False, spread=False):
    """``spread``: rows and columns of very different size, which one scale for all cannot serve."""
    x, w = make.floats(m, k), make.plain(k, n)
    if spread:
        x, w = x * make.plain(m, 1, low=-6, high=2).exp2(), w * make.plain(1, n, low=-6, high=2).exp2()
    if zero_rows:
        x[::3], w[:, ::5] = 0, 0
    return call(make.strided(x), make.strided(w)) if strided else call(x, w)


ULPS = 8 * 2.0**-23
"""Relative error of scales, conversion and two products."""


def _emulated(input, weight):
    x, w = quantized.levels(input, (1,)), quantized.levels(weight, (0,))
    unit = x.scale * w.scale
    truth = (x.level @ w.level) * unit
    steps = x.steps @ w.level.abs() + (x.level.abs() + x.steps) @ w.steps
    doubt = ULPS + x.doubt + w.doubt
    return truth, doubt * truth.abs() + steps * unit * (1 + doubt)


CONTRACT = Schemes(_emulated, matmul_w8a8, strides="contiguous")


def positive_reciprocal(input, weight):
    """Multiplies by 127 / max, rounds halves away from zero, adds up in blocks of int32."""

    def levels(x, dim):
        top = x.abs().amax(dim, keepdim=True)
        inverse = torch.where(top > 0, 127 / top, 1)
        q = torch.sign(x) * torch.floor((x * inverse).abs() + 0.5)
        return q.to(torch.int32), 1 / inverse

    (xq, s), (wq, t) = levels(input, 1), levels(weight, 0)
    blocks = zip(xq.split(32, 1), wq.split(32, 0), strict=True)
    acc = sum((a.double() @ b.double()).to(torch.int32) for a, b in blocks)
    return acc.float() * (s * t)


def positive_guarded(input, weight):
    """Adds 1e-8 to each scale."""

    def levels(x, dim):
        scale = x.abs().amax(dim, keepdim=True) / 127 + 1e-8
        return torch.round(x / scale), scale

    return _product(*levels(input, 1), *levels(weight, 0))


def _product(xq, s, wq, t):
    return (xq.double() @ wq.double()).float() * s * t


def negative_never_quantized(input, weight):
    return input @ weight


def negative_float_product(input, weight):
    """Multiplies dequantized numbers in float32."""
    (xq, s), (wq, t) = _quantize(input, 1), _quantize(weight, 0)
    return (xq * s) @ (wq * t)


def negative_weights_only(input, weight):
    wq, t = _quantize(weight, 0)
    return (input @ wq) * t


def negative_activations_only(input, weight):
    xq, s = _quantize(input, 1)
    return (xq @ weight) * s


def negative_scale_per_tensor(input, weight):
    def levels(x):
        scale = (x.abs().amax() if x.numel() else x.new_ones(())) / 127
        scale = torch.where(scale > 0, scale, 1)
        return torch.round(x / scale).clamp(-127, 127), scale

    return _product(*levels(input), *levels(weight))


def negative_truncated(input, weight):
    """Converts to int8 without rounding."""
    s, t = _quantize(input, 1)[1], _quantize(weight, 0)[1]
    return _product((input / s).trunc(), s, (weight / t).trunc(), t)


def negative_wraps_without_clamp(input, weight):
    """A scale of max / 128 takes the largest element to 128, which wraps around to -128 unless it is clamped."""

    def levels(x, dim):
        scale = x.abs().amax(dim, keepdim=True) / 128
        scale = torch.where(scale > 0, scale, 1)
        return torch.round(x / scale).to(torch.int16).to(torch.int8), scale

    return _product(*levels(input, 1), *levels(weight, 0))


def negative_seven_bits(input, weight):
    def levels(x, dim):
        scale = _quantize(x, dim)[1] * 127 / 63
        return torch.round(x / scale), scale

    return _product(*levels(input, 1), *levels(weight, 0))


def negative_accumulates_in_bfloat16(input, weight):
    xq, s = _quantize(input, 1)
    wq, t = _quantize(weight, 0)
    return (xq.bfloat16() @ wq.bfloat16()).float() * s * t
