"""FP8 quantization of activations with a scale for each token, before a product of 8-bit floats.

`fp8_per_token(x)` returns the tuple `(q, scale)` for bfloat16 `x` `(T, H)`:

- `scale` is float32 `(T, 1)`: `max over h of |x[t, h]| / 448`, and 1 where the row is all zero;
- `q` is float8 e4m3 without infinities (`torch.float8_e4m3fn`, largest number 448) `(T, H)`: `x[t, h] / scale[t]`, rounded to nearest, ties
  to even. `q · scale` stands for `x`.

`x` is contiguous, `T ≥ 1`, `H ≥ 1`; both results are new and contiguous. The quotient is computed in float32: where its last bit decides
between two numbers of `q`, either is right, but no more than about one element in 128 may so differ from the exact one.

Sizes: what linear layers of Llama 3.1 8B (4096, 14336) and 70B (8192, 28672), Qwen2.5-7B (3584) and DeepSeek-V3 (7168) take, after their model
cards; decode batches of 64 and 256 tokens and prefills. Weights are in proportion to the time of a call, a decode batch being as frequent as 64
prefills.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "bfloat16"
TAGS = ("quantization", "fp8", "reduction", "memory-bound", "inference")

CASES = [
    dict(tokens=37, hidden=128),
    dict(tokens=5, hidden=1031),
    dict(tokens=131, hidden=67),
    dict(tokens=1, hidden=2048),
    dict(tokens=64, hidden=33),
    dict(tokens=3, hidden=1),
    dict(tokens=19, hidden=515, zero_rows=True),
    dict(tokens=7, hidden=3584),
    dict(tokens=33, hidden=96, spread=True),
]

SIZES = [
    dict(tokens=64, hidden=4096),
    dict(tokens=256, hidden=7168),
    dict(tokens=2048, hidden=3584),
    dict(tokens=4096, hidden=14336),
    dict(tokens=8192, hidden=8192),
    dict(tokens=4096, hidden=28672),
]
WEIGHTS = [4, 4, 1, 4, 4, 8]

CONTRACT = Close(strides="contiguous")


def fp8_per_token(x):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = wide.abs().amax(1, keepdim=True) / 448
    scale = torch.where(scale > 0, scale, 1)
    return (wide / scale).clamp(-448, 448).to(torch.float8_e4m3fn), scale


def inputs(make, tokens, hidden, zero_rows=False, spread=False):
    """`spread`: rows of very different size, which one scale for all cannot serve."""
    x = make.floats(tokens, hidden)
    if spread:
        x = x * make.plain(tokens, 1, low=-6, high=4).exp2()
    if zero_rows:
        x[::3] = 0
    return call(x)


def _by(x, scale, dtype=torch.float8_e4m3fn, largest=448.0):
    return (x.float() / scale).clamp(-largest, largest).to(dtype), scale


def _scale(x, largest=448.0):
    scale = x.float().abs().amax(1, keepdim=True) / largest
    return torch.where(scale > 0, scale, 1)


def positive_reciprocal(x):
    """Multiplies by a reciprocal."""
    scale = _scale(x)
    return (x.float() * (1 / scale)).clamp(-448, 448).to(torch.float8_e4m3fn), scale


def positive_two_halves(x):
    """Maximum and minimum, half a row at a time."""
    half = (x.shape[1] + 1) // 2
    tops = [torch.maximum(part.amax(1), -part.amin(1)) for part in x.float().split(half, 1)]
    top = torch.stack(tops).amax(0)[:, None]
    return _by(x, torch.where(top > 0, top * (1 / 448), 1))


def negative_scale_per_tensor(x):
    return _by(x, _scale(x.reshape(1, -1)).expand(x.shape[0], 1).contiguous())


def negative_largest_240(x):
    """The largest number of another e4m3, with half of the range."""
    return _by(x, _scale(x, 240.0), largest=240.0)


def negative_truncated(x):
    """Cuts off in place of rounding."""
    scale = _scale(x)
    quotient = (x.float() / scale).clamp(-448, 448)
    near = quotient.to(torch.float8_e4m3fn)
    lower = (near.view(torch.uint8) - 1).view(torch.float8_e4m3fn)
    return torch.where(near.float().abs() > quotient.abs(), lower.float(), near.float()).to(near.dtype), scale


def negative_maximum_without_magnitude(x):
    top = x.float().amax(1, keepdim=True)
    return _by(x, torch.where(top > 0, top / 448, 1))


def negative_reciprocal_scale(x):
    """Returns what the elements were multiplied by."""
    scale = _scale(x)
    return _by(x, scale)[0], 1 / scale


def negative_five_bits_of_exponent(x):
    """Elements of e5m2, converted to the dtype asked for."""
    scale = _scale(x)
    return (x.float() / scale).to(torch.float8_e5m2).float().clamp(-448, 448).to(torch.float8_e4m3fn), scale


def negative_by_way_of_bfloat16(x):
    """Rounds the quotient twice."""
    scale = _scale(x)
    return (x.float() / scale).bfloat16().clamp(-448, 448).to(torch.float8_e4m3fn), scale


def negative_integers(x):
    """Levels of int8, which have other steps."""
    scale = _scale(x)
    return torch.round(x.float() / scale).to(torch.float8_e4m3fn), scale
