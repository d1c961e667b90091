"""Gradients of layer normalization, as training computes them from what the forward kept.

`layernorm_backward(grad_output, input, weight, mean, rstd)` returns the tuple `(grad_input, grad_weight, grad_bias)`.

The forward was `y[t, h] = x̂[t, h] · weight[h] + bias[h]` with `x̂[t, h] = (input[t, h] − mean[t]) · rstd[t]`, `mean[t]` the mean of row `t` and
`rstd[t] = 1 / sqrt(biased variance of row t + eps)`. With `g[t, h] = grad_output[t, h] · weight[h]`:

    grad_input[t, h] = rstd[t] · (g[t, h] − (mean over h' of g[t, h']) − x̂[t, h] · (mean over h' of g[t, h'] · x̂[t, h']))
    grad_weight[h]   = sum over t of grad_output[t, h] · x̂[t, h]
    grad_bias[h]     = sum over t of grad_output[t, h]

- `grad_output` and `input` are bfloat16 `(T, H)`, `weight` is bfloat16 `(H,)`, `mean` and `rstd` are float32 `(T,)`; all are contiguous,
  `T ≥ 1`, `H ≥ 2`.
- `grad_input` is bfloat16 `(T, H)`, the other two are bfloat16 `(H,)`. All arithmetic and all sums are float32; each result is rounded once.

Sizes: widths of GPT-2 XL (1600), ViT-L (1024), Whisper large (1280), GPT-3 13B (5120) and 175B (12288), and Falcon-40B (8192), after their
model cards and papers; 8,192 tokens or so a step. Weights are in proportion to the elements.
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
    dict(rows=5, width=1031, shift=3.0),
    dict(rows=1, width=256),
    dict(rows=70, width=2),
    dict(rows=257, width=33, shift=-20.0),
    dict(rows=3, width=2560),
    dict(rows=64, width=512),
]

SIZES = [
    dict(rows=8192, width=1600),
    dict(rows=25216, width=1024),
    dict(rows=12000, width=1280),
    dict(rows=8192, width=5120),
    dict(rows=8192, width=12288),
    dict(rows=4096, width=8192),
]
WEIGHTS = [1, 2, 1.2, 3.2, 7.7, 2.6]

CONTRACT = Close(strides="contiguous")


def layernorm_backward(grad_output, input, weight, mean, rstd):
    wide = torch.promote_types(input.dtype, torch.float32)
    dy, w, r = grad_output.to(wide), weight.to(wide), rstd.to(wide)[:, None]
    normed = (input.to(wide) - mean.to(wide)[:, None]) * r
    g = dy * w
    grad_input = r * (g - g.mean(1, keepdim=True) - normed * (g * normed).mean(1, keepdim=True))
    return grad_input.to(input.dtype), (dy * normed).sum(0).to(weight.dtype), dy.sum(0).to(weight.dtype)


def inputs(make, rows, width, shift=0.0):
    x, dy = make.floats(rows, width) + shift, make.floats(rows, width)
    weight = make.plain(width, low=0.25, high=2.0)
    wide = x.float()
    return call(dy, x, weight, wide.mean(1), torch.rsqrt(wide.var(1, unbiased=False) + 1e-5))


def positive_blocks_of_rows(grad_output, input, weight, mean, rstd):
    """Means by scalar products, and the sums over rows in blocks of 16."""
    dy, w, r = grad_output.float(), weight.float(), rstd[:, None]
    normed = (input.float() - mean[:, None]) * r
    width = input.shape[1]
    first, second = (dy @ w / width)[:, None], torch.einsum("th,th->t", dy, normed * w)[:, None] / width
    grad_input = (dy * w - (first + normed * second)) * r
    weights = torch.stack([(a * b).sum(0) for a, b in zip(dy.split(16), normed.split(16), strict=True)]).sum(0)
    bias = torch.stack([a.sum(0) for a in dy.split(16)]).sum(0)
    return grad_input.to(input.dtype), weights.to(weight.dtype), bias.to(weight.dtype)


def _with_input_gradient(grad_output, input, weight, mean, rstd, compute):
    """The right results, but for the first, which `compute(g, normed, r)` gives."""
    r = rstd[:, None]
    normed, g = (input.float() - mean[:, None]) * r, grad_output.float() * weight.float()
    _, *others = layernorm_backward(grad_output, input, weight, mean, rstd)
    return compute(g, normed, r).to(input.dtype), *others


def negative_no_projection(grad_output, input, weight, mean, rstd):
    """Takes `rstd` for a constant."""
    return _with_input_gradient(
        grad_output, input, weight, mean, rstd, lambda g, normed, r: r * (g - g.mean(1, keepdim=True))
    )


def negative_no_mean_of_gradient(grad_output, input, weight, mean, rstd):
    """Takes the mean for a constant, as in RMS normalization."""
    return _with_input_gradient(
        grad_output, input, weight, mean, rstd,
        lambda g, normed, r: r * (g - normed * (g * normed).mean(1, keepdim=True)),
    )  # fmt: skip


def negative_padded_mean(grad_output, input, weight, mean, rstd):
    """Divides by the block's width, a power of two, in place of the row's."""
    block = 1 << (input.shape[1] - 1).bit_length()
    return _with_input_gradient(
        grad_output, input, weight, mean, rstd,
        lambda g, normed, r: r * (g - (g.sum(1, keepdim=True) + normed * (g * normed).sum(1, keepdim=True)) / block),
    )  # fmt: skip


def negative_no_weight(grad_output, input, weight, mean, rstd):
    _, *others = layernorm_backward(grad_output, input, weight, mean, rstd)
    return layernorm_backward(grad_output, input, torch.ones_like(weight), mean, rstd)[0], *others


def negative_masked_columns_not_zero(grad_output, input, weight, mean, rstd):
    """Columns beyond the row enter the second sum as `(0 − mean) · rstd`: their gradient is masked, the first element's is taken."""
    width = input.shape[1]
    padding = (1 << (width - 1).bit_length()) - width

    def compute(g, normed, r):
        extra = padding * g[:, :1] * -mean[:, None] * r
        return r * (g - g.mean(1, keepdim=True) - normed * ((g * normed).sum(1, keepdim=True) + extra) / width)

    return _with_input_gradient(grad_output, input, weight, mean, rstd, compute)


def negative_sums_in_bfloat16(grad_output, input, weight, mean, rstd):
    """Rounds the running sums over rows after each row."""
    normed = (input.float() - mean[:, None]) * rstd[:, None]
    weights, bias = torch.zeros_like(weight), torch.zeros_like(weight)
    for dy, x in zip(grad_output.float(), normed, strict=True):
        weights, bias = (weights.float() + dy * x).to(weight.dtype), (bias.float() + dy).to(weight.dtype)
    return layernorm_backward(grad_output, input, weight, mean, rstd)[0], weights, bias


def negative_weight_gradient_without_mean(grad_output, input, weight, mean, rstd):
    right = layernorm_backward(grad_output, input, weight, mean, rstd)
    return right[0], (grad_output.float() * input.float() * rstd[:, None]).sum(0).to(weight.dtype), right[2]
