"""Residual addition and layer normalization in one pass, between two layers of a transformer.

`add_layernorm(x, residual, weight, bias, eps=1e-5)` returns `(y, h)`, two new contiguous tensors of `x`'s shape and dtype:

- `h = x + residual`, the new residual stream;
- `y = (h - μ) / sqrt(σ² + eps) · weight + bias`, `μ` the mean of `h` over the last dimension and `σ²` its variance, the mean of
  `(h - μ)²`.

`x` and `residual` are `(T, D)`, a row a token, `weight` and `bias` are `(D,)`; all are bfloat16 and contiguous. `T ≥ 1` and
`D ≥ 1` need not be multiples of anything. Arithmetic is float32. `y` may be made of `h` before or after it is rounded to bfloat16.

Sizes: hidden sizes of Whisper large (1280), Phi-2 (2560), Falcon 7B (4544), Command R (8192) and GPT-3 (12288), by their model
cards and papers; `tokens` is a decode batch or a chunk of a prefill.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("normalization", "reduction", "memory-bound", "bf16", "inference")

CASES = [
    dict(tokens=5, hidden=257),
    dict(tokens=3, hidden=1000),
    dict(tokens=1, hidden=96),
    dict(tokens=17, hidden=64),
    dict(tokens=2, hidden=1536, eps=1e-6),
    dict(tokens=7, hidden=33, eps=1e-2),
    dict(tokens=4, hidden=2),
    dict(tokens=9, hidden=130, offset=3.0),
    dict(tokens=1, hidden=2049),
]

SIZES = [
    dict(tokens=1, hidden=4544),
    dict(tokens=64, hidden=8192),
    dict(tokens=256, hidden=12288),
    dict(tokens=1500, hidden=1280),
    dict(tokens=8192, hidden=2560),
    dict(tokens=16384, hidden=8192),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Close(strides="contiguous")


def add_layernorm(x, residual, weight, bias, eps: float = 1e-5):
    h = x + residual
    return F.layer_norm(h, h.shape[-1:], weight, bias, eps), h


def inputs(make, tokens, hidden, eps=1e-5, offset=0.0):
    """`offset` moves the residual stream, whose mean is then several deviations from zero."""
    x, residual = make.floats(tokens, hidden), make.floats(tokens, hidden) + offset
    return call(x, residual, make.plain(hidden, low=0.25, high=2.0), make.plain(hidden), eps=eps)


def _normalized(h, weight, bias, eps):
    h = h.float()
    centred = h - h.mean(-1, keepdim=True)
    root = torch.rsqrt(centred.square().mean(-1, keepdim=True) + eps)
    return (centred * root * weight.float() + bias.float()).to(weight.dtype)


def positive_unrounded_sum(x, residual, weight, bias, eps=1e-5):
    """Normalizes the float32 sum."""
    h = x.float() + residual.float()
    return _normalized(h, weight, bias, eps), h.to(x.dtype)


def positive_moments(x, residual, weight, bias, eps=1e-5):
    """The variance from the moments of the row less its first element, as a kernel with one pass has it."""
    h = (x + residual).float()
    moved = h - h[:, :1]
    mean = moved.mean(-1, keepdim=True)
    root = torch.rsqrt((moved.square().mean(-1, keepdim=True) - mean.square()).clamp(min=0) + eps)
    return ((moved - mean) * root * weight.float() + bias.float()).to(x.dtype), h.to(x.dtype)


def negative_without_the_residual(x, residual, weight, bias, eps=1e-5):
    return _normalized(x, weight, bias, eps), x + residual


def negative_old_residual(x, residual, weight, bias, eps=1e-5):
    return _normalized(x + residual, weight, bias, eps), residual.clone()


def negative_mean_kept(x, residual, weight, bias, eps=1e-5):
    """A root-mean-square norm."""
    h = (x + residual).float()
    y = h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps) * weight.float() + bias.float()
    return y.to(x.dtype), h.to(x.dtype)


def negative_unbiased_variance(x, residual, weight, bias, eps=1e-5):
    """Divides by one less than the number of elements."""
    h = (x + residual).float()
    root = torch.rsqrt(h.var(-1, keepdim=True) + eps)
    return ((h - h.mean(-1, keepdim=True)) * root * weight.float() + bias.float()).to(x.dtype), h.to(x.dtype)


def negative_padding_in_the_variance(x, residual, weight, bias, eps=1e-5):
    """Lanes beyond the row hold zeros, and (0 - μ)² is added up."""
    h = (x + residual).float()
    mean, width = h.mean(-1, keepdim=True), 1 << (h.shape[-1] - 1).bit_length()
    total = (h - mean).square().sum(-1, keepdim=True) + (width - h.shape[-1]) * mean.square()
    root = torch.rsqrt(total / h.shape[-1] + eps)
    return ((h - mean) * root * weight.float() + bias.float()).to(x.dtype), h.to(x.dtype)


def negative_without_bias(x, residual, weight, bias, eps=1e-5):
    return _normalized(x + residual, weight, torch.zeros_like(bias), eps), x + residual


def negative_other_eps(x, residual, weight, bias, eps=1e-5):
    return _normalized(x + residual, weight, bias, 0.0), x + residual
