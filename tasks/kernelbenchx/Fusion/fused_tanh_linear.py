"""Linear layer followed by the hyperbolic tangent.

`fused_tanh_linear(input, weight, bias=None)` computes `tanh(input @ weightᵀ + bias)` with `input`: `(…, in_features)`,
`weight`: `(out_features, in_features)`, `bias`: `(out_features,)` or `None`, all float32 or all float16. Products are
added up in float32.

Sums reach several thousand, where the result is ±1: a tangent made of `exp(2z)` must not overflow to NaN. The result is
a new, contiguous `(…, out_features)` tensor of `input`'s dtype. `input` may have one dimension or more; it and `weight`
may be non-contiguous, leading dimensions may be empty, and `in_features` may be 0 (then the sum is the bias, or 0). A
float32 product is float32: TF32 and half precision are not allowed there. In float16, the sum may be rounded to float16
or stay float32.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "fusion")
MAGNITUDES = (-104, 56)

CASES = [
    dict(shape=(37, 45), features=53),
    dict(shape=(19, 4100), features=27, gain=9.0, dtype=torch.float16),
    dict(shape=(21, 67), features=37, dtype=torch.float16),
    dict(shape=(5, 33), features=18, bias=False, dtype=torch.float16),
    dict(shape=(131, 18), features=7),
    dict(shape=(70, 35), features=29, bias=False),
    dict(shape=(1, 1), features=1),
    dict(shape=(13, 131), features=18, strided=True),
    dict(shape=(3, 11, 33), features=21),
    dict(shape=(70,), features=35),
    dict(shape=(13, 257), features=18, gain=400.0),
    dict(shape=(5, 0), features=7),
    dict(shape=(0, 12), features=6),
]

SIZES = [
    dict(shape=(4, 32), features=8),
    dict(shape=(128, 1024), features=256),
    dict(shape=(2048, 2048), features=2048),
    dict(shape=(4096, 8192), features=4096),
]


def _wide(*tensors):
    """Float16 as float32, whose range no square leaves; everything else as it is."""
    return [t if t is None else t.to(torch.promote_types(t.dtype, torch.float32)) for t in tensors]


def magnitude(input, weight, bias=None):
    """Rounding errors of the sum grow with the norm of its terms, by the slope; 1 - 2 / (1 + exp) cancels."""
    input, weight, bias = _wide(input, weight, bias)
    terms = F.linear(input.square(), weight.square(), None if bias is None else bias.square()).sqrt()
    return 1 + terms / torch.cosh(F.linear(input, weight, bias)) ** 2


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, strides="contiguous", growth=4)


def fused_tanh_linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor = None) -> torch.Tensor:
    return torch.tanh(F.linear(input, weight, bias))


def inputs(make, shape, features, bias=True, gain=1.0, strided=False, dtype=None):
    """Weights are scaled by 1/sqrt(in_features), as in a network, so that the tangent is saturated in part only."""
    x = make.floats(*shape, dtype=dtype)
    w = make.plain(features, shape[-1], dtype=dtype) * gain * max(1, shape[-1]) ** -0.5
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(features, dtype=dtype) if bias else None)


def positive_split_k(input, weight, bias=None):
    """Four partial products; tanh(z) = 1 - 2 / (1 + exp(2z))."""
    x, w, b = _wide(input, weight, bias)
    z = sum(a @ b.mT for a, b in zip(x.tensor_split(4, -1), w.tensor_split(4, -1), strict=True))
    z = z if bias is None else z + b
    return (1 - 2 / (1 + torch.exp(2 * z))).to(input.dtype)


def negative_half_sums(input, weight, bias=None):
    """Rounds the running sum to the dtype after every 16 products."""
    z = input.new_zeros(*input.shape[:-1], weight.shape[0])
    for x, w in zip(input.split(16, -1), weight.split(16, -1), strict=True):
        z = (z.float() + F.linear(x.float(), w.float())).to(input.dtype)
    z = z if bias is None else z + bias
    return torch.tanh(z)


def negative_overflows(input, weight, bias=None):
    e = torch.exp(2 * F.linear(input, weight, bias))
    return (e - 1) / (e + 1)


def negative_no_bias(input, weight, bias=None):
    return torch.tanh(F.linear(input, weight))


def negative_bias_after_activation(input, weight, bias=None):
    y = torch.tanh(F.linear(input, weight))
    return y if bias is None else y + bias


def negative_missing_k_tail(input, weight, bias=None):
    """Leaves out the last columns when in_features is no multiple of 16."""
    whole = input.shape[-1] // 16 * 16
    return torch.tanh(F.linear(input[..., :whole], weight[:, :whole], bias))


def _tf32(t):
    return (t.float().contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32).to(t.dtype)


def negative_tf32(input, weight, bias=None):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    x, w = (_tf32(t) for t in (input, weight))
    return torch.tanh(F.linear(x, w, bias))
