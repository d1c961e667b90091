"""Linear layer followed by the logarithm of softmax along one dimension.

`fused_log_softmax_linear(input, weight, bias=None, dim=-1, dtype=None)`

1. `z = input @ weightᵀ + bias`, with `input`: `(…, in_features)`, `weight`: `(out_features, in_features)`, `bias`:
   `(out_features,)` or `None`, all float32 or all float16, summed in float32. `z` has shape `(…, out_features)` and
   `input`'s dtype; a float16 `z` may also stay float32 until the result is rounded.
2. If `dtype` is given, `z` is converted to it, and the rest is computed and returned in that dtype.
3. `out = z - m - log(Σ exp(z - m))`, with `m` the largest `z`; sum and maximum run along `dim` of `z`, which may be any
   dimension, also a leading one; negative values count from the end.

Scores reach several thousand: subtract the maximum, and do not take the logarithm of a finished softmax, which
underflows to -inf where the result is below about -103. The result is a new, contiguous tensor of `z`'s shape. `input`
may have one dimension or more; it and `weight` may be non-contiguous, and leading dimensions may be empty. A float32
product is float32: TF32 and half precision are not allowed there.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "reduction", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37, 45), features=53),
    dict(shape=(19, 4100), features=27, gain=9.0, input_dtype=torch.float16),
    dict(shape=(17, 1031), features=33, dim=0, gain=10.0),
    dict(shape=(11, 20), features=19, bias=False, dtype=torch.float64),
    dict(shape=(1, 29), features=1031),
    dict(shape=(32, 61), features=131, input_dtype=torch.float16, gain=8.0),
    dict(shape=(1, 1), features=1),
    dict(shape=(3, 11, 33), features=21, bias=False),
    dict(shape=(40,), features=37),
    dict(shape=(35, 18), features=70, dim=1, gain=10.0),
    dict(shape=(9, 65), features=150, gain=10.0, strided=True),
    dict(shape=(19, 33), features=37, bias=False, dim=0, input_dtype=torch.float16, strided=True),
    dict(shape=(0, 12), features=6),
]

SIZES = [
    dict(shape=(32, 16), features=16),
    dict(shape=(32, 512), features=512),
    dict(shape=(32, 8192), features=8192),
    dict(shape=(4096, 4096), features=4096),
]


def _wide(*tensors):
    """Float16 as float32, whose range no square leaves; everything else as it is."""
    return [t if t is None else t.to(torch.promote_types(t.dtype, torch.float32)) for t in tensors]


def magnitude(input, weight, bias=None, dim=-1, dtype=None):
    """Rounding errors of scores grow with the norm of their terms; the largest score's reach the whole row."""
    input, weight, bias = _wide(input, weight, bias)
    terms = F.linear(input.square(), weight.square(), None if bias is None else bias.square()).sqrt()
    terms = terms + F.linear(input, weight, bias).abs()
    return terms.amax(dim, keepdim=True) if terms.numel() else terms


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, strides="contiguous", growth=4)


def fused_log_softmax_linear(input, weight, bias=None, dim=-1, dtype=None):
    return F.log_softmax(F.linear(input, weight, bias), dim=dim, dtype=dtype)


def inputs(make, shape, features, bias=True, dim=-1, dtype=None, input_dtype=None, gain=1.0, strided=False):
    """Weights are scaled by 1/sqrt(in_features), as in a network; ``gain`` makes scores that underflow in softmax."""
    x = make.floats(*shape, dtype=input_dtype)
    w = make.plain(features, shape[-1], dtype=input_dtype) * gain * shape[-1] ** -0.5
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(features, dtype=input_dtype) if bias else None, dim=dim, dtype=dtype)


def positive_split_k(input, weight, bias=None, dim=-1, dtype=None):
    """Four partial products; the sum of exponentials by base two."""
    x, w, b = _wide(input, weight, bias)
    z = sum(a @ b.mT for a, b in zip(x.tensor_split(4, -1), w.tensor_split(4, -1), strict=True))
    z = (z if bias is None else z + b).to(dtype or z.dtype)
    away = z - z.amax(dim, keepdim=True) if z.numel() else z
    y = away - torch.log2(torch.exp2(away / 0.6931471805599453).sum(dim, keepdim=True)) * 0.6931471805599453
    return y.to(dtype or input.dtype)


def negative_half_sums(input, weight, bias=None, dim=-1, dtype=None):
    """Rounds the running sum to the dtype after every 16 products."""
    z = input.new_zeros(*input.shape[:-1], weight.shape[0])
    for x, w in zip(input.split(16, -1), weight.split(16, -1), strict=True):
        z = (z.float() + F.linear(x.float(), w.float())).to(input.dtype)
    z = z if bias is None else z + bias
    return F.log_softmax(z, dim=dim, dtype=dtype)


def negative_log_of_softmax(input, weight, bias=None, dim=-1, dtype=None):
    return torch.log(F.softmax(F.linear(input, weight, bias), dim=dim, dtype=dtype))


def negative_no_maximum_subtracted(input, weight, bias=None, dim=-1, dtype=None):
    z = F.linear(input, weight, bias).to(dtype or input.dtype)
    return z - torch.log(torch.exp(z).sum(dim, keepdim=True))


def negative_always_last_dimension(input, weight, bias=None, dim=-1, dtype=None):
    return F.log_softmax(F.linear(input, weight, bias), dim=-1, dtype=dtype)


def negative_no_bias(input, weight, bias=None, dim=-1, dtype=None):
    return F.log_softmax(F.linear(input, weight), dim=dim, dtype=dtype)


def negative_zero_padded_row(input, weight, bias=None, dim=-1, dtype=None):
    """Lanes beyond the end take part with score 0."""
    z = F.linear(input, weight, bias).to(dtype or input.dtype)
    padding = torch.zeros_like(z.narrow(dim, 0, min(1, z.shape[dim])))
    y = F.log_softmax(torch.cat((z, padding), dim), dim=dim)
    return y.narrow(dim, 0, z.shape[dim]).contiguous()


def negative_ignores_dtype(input, weight, bias=None, dim=-1, dtype=None):
    return F.log_softmax(F.linear(input, weight, bias), dim=dim)


def _tf32(t):
    return (t.float().contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32).to(t.dtype)


def negative_tf32(input, weight, bias=None, dim=-1, dtype=None):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    x, w = (_tf32(t) for t in (input, weight))
    return F.log_softmax(F.linear(x, w, bias), dim=dim, dtype=dtype)
