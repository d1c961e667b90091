"""Gradients of RMS normalization, as training computes them from what the forward kept.

`rmsnorm_backward(grad_output, input, weight, rstd)` returns the tuple `(grad_input, grad_weight)`.

The forward was `y[t, h] = x̂[t, h] · weight[h]` with `x̂[t, h] = input[t, h] · rstd[t]` and
`rstd[t] = 1 / sqrt(mean over h of input[t, h]² + eps)`. With `g[t, h] = grad_output[t, h] · weight[h]`:

    grad_input[t, h] = rstd[t] · (g[t, h] − x̂[t, h] · (mean over h' of g[t, h'] · x̂[t, h']))
    grad_weight[h]   = sum over t of grad_output[t, h] · x̂[t, h]

- `grad_output` and `input` are bfloat16 `(T, H)`, `weight` is bfloat16 `(H,)`, `rstd` is float32 `(T,)`; all are contiguous, `T ≥ 1`, `H ≥ 1`.
- `grad_input` is bfloat16 `(T, H)`, `grad_weight` bfloat16 `(H,)`. All arithmetic and all sums are float32; each result is rounded once.

Sizes: hidden sizes of Llama 3.1 8B (4096) and 70B (8192), Qwen2.5-7B (3584) and DeepSeek-V3 (7168), and the normalization of Qwen3's query
heads (128 wide, 32 heads a token), after their model cards; a training step of 4,096 to 16,384 tokens. Weights are the parts of the tokens'
time, in proportion to the elements.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("backward", "normalization", "reduction", "memory-bound", "training")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "large")

CASES = [
    dict(rows=37, width=128),
    dict(rows=131, width=67),
    dict(rows=5, width=1031),
    dict(rows=1, width=256),
    dict(rows=70, width=1),
    dict(rows=257, width=33),
    dict(rows=3, width=2560),
    dict(rows=64, width=512),
    dict(rows=19, width=896, unit=True),
]

SIZES = [
    dict(rows=4096, width=4096),
    dict(rows=8192, width=4096),
    dict(rows=8192, width=8192),
    dict(rows=8192, width=3584),
    dict(rows=16384, width=7168),
    dict(rows=262144, width=128),
]
WEIGHTS = [1, 2, 4, 1.75, 7, 2]

CONTRACT = Close(strides="contiguous")


def rmsnorm_backward(grad_output, input, weight, rstd):
    wide = torch.promote_types(input.dtype, torch.float32)
    dy, w, r = grad_output.to(wide), weight.to(wide), rstd.to(wide)[:, None]
    normed = input.to(wide) * r
    g = dy * w
    grad_input = r * (g - normed * (g * normed).mean(1, keepdim=True))
    return grad_input.to(input.dtype), (dy * normed).sum(0).to(weight.dtype)


def inputs(make, rows, width, unit=False):
    x, dy = make.floats(rows, width), make.floats(rows, width)
    weight = torch.ones_like(x[0]) if unit else make.plain(width, low=0.25, high=2.0)
    rstd = torch.rsqrt(x.float().square().mean(1) + 1e-5)
    return call(dy, x, weight, rstd)


def positive_dot_product_first(grad_output, input, weight, rstd):
    """The mean by one scalar product a row, and the sum over rows in blocks of 16."""
    dy, x, w, r = grad_output.float(), input.float(), weight.float(), rstd[:, None]
    dot = torch.einsum("th,th->t", dy * w, x)[:, None] / x.shape[1]
    grad_input = dy * w * r - x * (dot * r * r * r)
    parts = [(a * b).sum(0) for a, b in zip(dy.split(16), (x * r).split(16), strict=True)]
    return grad_input.to(input.dtype), torch.stack(parts).sum(0).to(weight.dtype)


def negative_no_mean_term(grad_output, input, weight, rstd):
    """Takes `rstd` for a constant."""
    right = rmsnorm_backward(grad_output, input, weight, rstd)
    return (grad_output.float() * weight.float() * rstd[:, None]).to(input.dtype), right[1]


def negative_no_weight(grad_output, input, weight, rstd):
    """Leaves the weight out of the gradient of the input."""
    right = rmsnorm_backward(grad_output, input, weight, rstd)
    return rmsnorm_backward(grad_output, input, torch.ones_like(weight), rstd)[0], right[1]


def negative_weight_gradient_of_raw_input(grad_output, input, weight, rstd):
    right = rmsnorm_backward(grad_output, input, weight, rstd)
    return right[0], (grad_output.float() * input.float()).sum(0).to(weight.dtype)


def negative_weight_gradient_in_bfloat16(grad_output, input, weight, rstd):
    """Rounds the running sum over rows after each row."""
    total = torch.zeros_like(weight)
    for row in grad_output.float() * input.float() * rstd[:, None]:
        total = (total.float() + row).to(weight.dtype)
    return rmsnorm_backward(grad_output, input, weight, rstd)[0], total


def negative_mean_over_rows(grad_output, input, weight, rstd):
    right = rmsnorm_backward(grad_output, input, weight, rstd)
    return right[0], (grad_output.float() * input.float() * rstd[:, None]).mean(0).to(weight.dtype)


def negative_sum_in_place_of_mean(grad_output, input, weight, rstd):
    right = rmsnorm_backward(grad_output, input, weight, rstd)
    r, g = rstd[:, None], grad_output.float() * weight.float()
    normed = input.float() * r
    return (r * (g - normed * (g * normed).sum(1, keepdim=True))).to(input.dtype), right[1]


def negative_padded_mean(grad_output, input, weight, rstd):
    """Divides by the block's width, a power of two, in place of the row's."""
    right = rmsnorm_backward(grad_output, input, weight, rstd)
    r, g, block = rstd[:, None], grad_output.float() * weight.float(), 1 << (input.shape[1] - 1).bit_length()
    normed = input.float() * r
    return (r * (g - normed * (g * normed).sum(1, keepdim=True) / block)).to(input.dtype), right[1]
