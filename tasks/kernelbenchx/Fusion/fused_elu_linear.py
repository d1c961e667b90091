"""Linear layer followed by the exponential linear unit (ELU).

`fused_elu_linear(input, weight, bias=None, alpha=1.0, inplace=False)`

1. `z = input @ weightᵀ + bias`, with `input`: `(…, in_features)`, `weight`: `(out_features, in_features)`, `bias`:
   `(out_features,)` or `None`, all float32 or all float16. Products are added up in float32.
2. `elu(z) = z` where `z > 0`, and `alpha · (exp(z) - 1)` elsewhere. What this difference loses for small `z` is
   tolerated.

`alpha` is a Python number of either sign. `inplace` concerns an intermediate that the caller never sees: no argument
changes. The result is a new, contiguous `(…, out_features)` tensor of `input`'s dtype. `input` may have one dimension or
more; it and `weight` may be non-contiguous, leading dimensions may be empty, and `in_features` may be 0 (`z` is then
the bias, or 0). A float32 product is float32: TF32 and half precision are not allowed there. In float16, `z` may be
rounded to float16 or stay float32.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "fusion")
MAGNITUDES = (-104, 56)

CASES = [
    dict(shape=(37, 45), features=53, alpha=0.5),
    dict(shape=(19, 4100), features=27, gain=9.0, dtype=torch.float16),
    dict(shape=(1, 17), features=1031, bias=False, inplace=True),
    dict(shape=(3, 2051), features=5, gain=8.0),
    dict(shape=(21, 53), features=37, alpha=0.5, dtype=torch.float16),
    dict(shape=(5, 33), features=18, bias=False, alpha=0.75, dtype=torch.float16),
    dict(shape=(1, 1), features=1),
    dict(shape=(3, 11, 33), features=21, bias=False),
    dict(shape=(40,), features=35, inplace=True),
    dict(shape=(13, 57), features=18, strided=True),
    dict(shape=(13, 57), features=18, alpha=-1.5),
    dict(shape=(5, 0), features=7),
    dict(shape=(0, 12), features=6),
]

SIZES = [
    dict(shape=(1024, 256), features=256),
    dict(shape=(1024, 4096), features=256),
    dict(shape=(4096, 2048), features=2048, alpha=0.5),
    dict(shape=(1024, 65536), features=256),
]


def _wide(*tensors):
    """Float16 as float32, whose range no square leaves; everything else as it is."""
    return [t if t is None else t.to(torch.promote_types(t.dtype, torch.float32)) for t in tensors]


def magnitude(input, weight, bias=None, alpha=1.0, inplace=False):
    """Rounding errors of z grow with the norm of its terms and reach the result by its slope; exp(z) - 1 cancels."""
    input, weight, bias = _wide(input, weight, bias)
    terms = F.linear(input.square(), weight.square(), None if bias is None else bias.square()).sqrt()
    z = F.linear(input, weight, bias)
    return torch.where(z > 0, terms, abs(alpha) * (1 + terms * torch.exp(z)))


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, strides="contiguous", growth=4)


def fused_elu_linear(input, weight, bias=None, alpha=1.0, inplace=False):
    return F.elu(F.linear(input, weight, bias), alpha=alpha, inplace=inplace)


def inputs(make, shape, features, bias=True, alpha=1.0, inplace=False, gain=1.0, strided=False, dtype=None):
    """Weights are scaled by ``gain`` / sqrt(in_features), as in a network: both branches of ELU take part."""
    x = make.floats(*shape, dtype=dtype)
    w = make.plain(features, shape[-1], dtype=dtype) * gain * max(1, shape[-1]) ** -0.5
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(features, dtype=dtype) if bias else None, alpha=alpha, inplace=inplace)


def positive_split_k(input, weight, bias=None, alpha=1.0, inplace=False):
    """Four partial products; the negative branch by expm1, z > 0 kept out of the exponential."""
    x, w, b = _wide(input, weight, bias)
    z = sum(a @ b.mT for a, b in zip(x.tensor_split(4, -1), w.tensor_split(4, -1), strict=True))
    z = z if bias is None else z + b
    return torch.where(z > 0, z, alpha * torch.expm1(z.clamp(max=0))).to(input.dtype)


def positive_as_written(input, weight, bias=None, alpha=1.0, inplace=False):
    x, w, b = _wide(input, weight, bias)
    z = (x.unsqueeze(-2) * w).sum(-1)
    z = z if bias is None else z + b
    return torch.where(z > 0, z, alpha * (torch.exp(z) - 1)).to(input.dtype)


def negative_half_sums(input, weight, bias=None, alpha=1.0, inplace=False):
    """Rounds the running sum to the dtype after every 16 products."""
    z = input.new_zeros(*input.shape[:-1], weight.shape[0])
    for x, w in zip(input.split(16, -1), weight.split(16, -1), strict=True):
        z = (z.float() + F.linear(x.float(), w.float())).to(input.dtype)
    z = z if bias is None else z + bias
    return F.elu(z, alpha=alpha)


def negative_ignores_alpha(input, weight, bias=None, alpha=1.0, inplace=False):
    return F.elu(F.linear(input, weight, bias))


def negative_alpha_in_exponent(input, weight, bias=None, alpha=1.0, inplace=False):
    """exp(z / alpha) as CELU has it."""
    return F.celu(F.linear(input, weight, bias), alpha=alpha)


def negative_bias_after_activation(input, weight, bias=None, alpha=1.0, inplace=False):
    y = F.elu(F.linear(input, weight), alpha=alpha)
    return y if bias is None else y + bias


def negative_updates_input(input, weight, bias=None, alpha=1.0, inplace=False):
    if inplace:
        input.copy_(F.elu(input, alpha=alpha))
    return F.elu(F.linear(input, weight, bias), alpha=alpha)


def _tf32(t):
    return (t.float().contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32).to(t.dtype)


def negative_tf32(input, weight, bias=None, alpha=1.0, inplace=False):
    """Drops the 13 low bits of the mantissa, as a TF32 tensor core reads its operands."""
    x, w = (_tf32(t) for t in (input, weight))
    return F.elu(F.linear(x, w, bias), alpha=alpha)
