"""Residual addition and root-mean-square normalization in one pass, between two layers of a transformer.

`add_rmsnorm(x, residual, weight, eps=1e-6)` returns `(y, h)`, two new contiguous tensors of `x`'s shape and dtype:

- `h = x + residual`, the new residual stream;
- `y = h / sqrt(mean(h²) + eps) · weight`, the mean over the last dimension.

`x` and `residual` are `(T, D)`, a row a token, `weight` is `(D,)`; all are bfloat16 and contiguous. `T ≥ 1` and `D ≥ 1` need
not be multiples of anything. Arithmetic is float32. `y` may be made of `h` before or after it is rounded to bfloat16, and the
normalized value may be rounded before it is multiplied by `weight`.

Sizes: hidden sizes of Llama 3 8B (4096) and 70B (8192), Qwen2.5 7B (3584) and DeepSeek-V3 (7168), by their model cards; `tokens` is
a decode batch or a chunk of a prefill.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("normalization", "reduction", "memory-bound", "bf16", "inference")

CASES = [
    dict(tokens=5, hidden=257),
    dict(tokens=3, hidden=1000),
    dict(tokens=1, hidden=96),
    dict(tokens=17, hidden=64),
    dict(tokens=2, hidden=1536, eps=1e-5),
    dict(tokens=7, hidden=33, eps=1e-2),
    dict(tokens=4, hidden=1),
    dict(tokens=33, hidden=130),
    dict(tokens=3, hidden=6007),
]

SIZES = [
    dict(tokens=1, hidden=4096),
    dict(tokens=64, hidden=8192),
    dict(tokens=256, hidden=7168),
    dict(tokens=2048, hidden=3584),
    dict(tokens=8192, hidden=4096),
    dict(tokens=16384, hidden=8192),
]
WEIGHTS = [1, 2, 3, 1, 2, 3]

CONTRACT = Close(strides="contiguous")


def _single(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def add_rmsnorm(x, residual, weight, eps: float = 1e-6):
    h = x + residual
    wide = _single(h)
    normal = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return weight * normal.to(x.dtype), h


def inputs(make, tokens, hidden, eps=1e-6):
    return call(
        make.floats(tokens, hidden), make.floats(tokens, hidden), make.plain(hidden, low=0.25, high=2.0), eps=eps
    )


def positive_unrounded_sum(x, residual, weight, eps=1e-6):
    """Normalizes the float32 sum, with a division by the root."""
    h = x.float() + residual.float()
    y = h / torch.sqrt(h.square().sum(-1, keepdim=True) / h.shape[-1] + eps)
    return (y * weight.float()).to(x.dtype), h.to(x.dtype)


def positive_rounded_once(x, residual, weight, eps=1e-6):
    """The product with the weight in float32; the reference rounds before it, as the published code of Llama."""
    return _normalized(x + residual, weight, eps), x + residual


def _normalized(h, weight, eps):
    return (h.float() * torch.rsqrt(h.float().square().mean(-1, keepdim=True) + eps) * weight.float()).to(h.dtype)


def negative_without_the_residual(x, residual, weight, eps=1e-6):
    return _normalized(x, weight, eps), x + residual


def negative_old_residual(x, residual, weight, eps=1e-6):
    return _normalized(x + residual, weight, eps), residual.clone()


def negative_eps_outside_the_root(x, residual, weight, eps=1e-6):
    h = x + residual
    root = h.float().square().mean(-1, keepdim=True).sqrt()
    return (h.float() / (root + eps) * weight.float()).to(h.dtype), h


def negative_without_eps(x, residual, weight, eps=1e-6):
    return _normalized(x + residual, weight, 0.0), x + residual


def negative_mean_subtracted(x, residual, weight, eps=1e-6):
    h = (x + residual).float()
    return _normalized((h - h.mean(-1, keepdim=True)).to(x.dtype), weight, eps), h.to(x.dtype)


def negative_mean_of_the_padded_row(x, residual, weight, eps=1e-6):
    """Divides by the block's width, the next power of two."""
    h = x + residual
    width = 1 << (h.shape[-1] - 1).bit_length()
    root = torch.rsqrt(h.float().square().sum(-1, keepdim=True) / width + eps)
    return (h.float() * root * weight.float()).to(x.dtype), h


def negative_bf16_squares(x, residual, weight, eps=1e-6):
    """Adds up rounded squares in bfloat16, 16 at a time."""
    h = x + residual
    total = torch.zeros_like(h[:, :1])
    for part in h.split(16, -1):
        total = total + part.square().sum(-1, keepdim=True)
    return (h.float() * torch.rsqrt(total.float() / h.shape[-1] + eps) * weight.float()).to(x.dtype), h


def negative_one_plus_weight(x, residual, weight, eps=1e-6):
    """Gemma's form."""
    return _normalized(x + residual, 1 + weight, eps), x + residual
