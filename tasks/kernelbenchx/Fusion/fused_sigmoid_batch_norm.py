"""Batch normalization over all dimensions but the second, then the logistic function.

`fused_sigmoid_batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1,
eps=1e-5)`

`input` is float32 of shape `(N, C)` or `(N, C, L)`; the other tensors are float32 of shape `(C,)`. For each
channel `c`, over the `n` elements of `input[:, c, …]`:

    y = (x - mean) / sqrt(var + eps) · weight[c] + bias[c]            (weight None: 1, bias None: 0)
    out = 1 / (1 + exp(-y))

- `training=False`: `mean = running_mean[c]`, `var = running_var[c]`; neither is changed.
- `training=True`: `mean` and `var` are the batch's own, with the *biased* variance `Σ(x - mean)² / n`. `running_mean`
  and `running_var`, unless `None`, are then updated in place with the batch's mean and its *unbiased* variance
  `Σ(x - mean)² / (n - 1)`:  `running = (1 - momentum) · running + momentum · batch`. Here `n ≥ 2`.

The mean may be far larger than the spread, so the variance must not be computed as `E[x²] - E[x]²` in float32.
`input` may be non-contiguous, and in inference empty. The result is a new tensor of `input`'s shape with any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("normalization", "reduction", "in-place", "fusion", "memory-bound")
MAGNITUDES = (-104, 56)
MUTATES = ("running_mean", "running_var")

CASES = [
    dict(shape=(37, 19), training=True),
    dict(shape=(67, 131), training=False),
    dict(shape=(29, 13), affine=False, momentum=0.2, eps=1e-3),
    dict(shape=(1031, 3), affine=False, training=True),
    dict(shape=(23, 7), training=True, momentum=0.2, eps=1e-3),
    dict(shape=(1, 1)),
    dict(shape=(37, 19), strided=True),
    dict(shape=(5, 3, 67), training=True),
    dict(shape=(41, 17), training=True, momentum=0.4, eps=0.5),
    dict(shape=(24, 5), training=True, offset=300.0),
    dict(shape=(25, 6), training=True, statistics=None),
    dict(shape=(33, 5), statistics="wide"),
    dict(shape=(0, 3)),
]

SIZES = [
    dict(shape=(32, 128)),
    dict(shape=(32, 32768)),
    dict(shape=(200704, 128), training=True),
    dict(shape=(4096, 16384), training=True),
    dict(shape=(32, 4194304)),
]


def magnitude(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """What is left when the mean is taken away carries the rounding of what was there before."""
    if not training:
        return 1.0
    values = input.double()
    smallest = values.var([d for d in range(input.dim()) if d != 1], correction=0).min()
    return float(values.abs().max() / (smallest + eps).sqrt())


CONTRACT = Close(scale=magnitude)


def fused_sigmoid_batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    return torch.sigmoid(F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps))


def inputs(make, shape, affine=True, statistics="near", offset=0.0, strided=False, **options):
    """``statistics``: whether the tracked mean and variance are near 0 and 1, as after few updates, or there at all."""
    x, c, mean, var = make.floats(*shape) + offset, shape[1], None, None
    if statistics == "near":
        mean, var = make.plain(c, low=-0.079, high=0.081), make.plain(c, low=0.94, high=1.07)
    elif statistics:
        mean, var = make.plain(c), make.plain(c, low=0.1, high=4.0)
    weight, bias = (make.plain(c), make.plain(c)) if affine else (None, None)
    return call(make.strided(x) if strided else x, mean, var, weight, bias, **options)


def _finished(input, running_mean, running_var, weight, bias, training, momentum, eps, own=0, tracked=1, update=True):
    """Two passes; ``own`` and ``tracked`` are what the two variances subtract from the count."""
    dims, channel = [d for d in range(input.dim()) if d != 1], [-1] + [1] * (input.dim() - 2)
    mean, var = running_mean, running_var
    if training:
        mean, n = input.mean(dims), input.numel() // input.shape[1]
        squares = (input - mean.reshape(channel)).square().sum(dims)
        var = squares / (n - own)
        if running_mean is not None and update:
            running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
            running_var.mul_(1 - momentum).add_(squares / (n - tracked), alpha=momentum)
    y = (input - mean.reshape(channel)) / torch.sqrt(var + eps).reshape(channel)
    y = y if weight is None else y * weight.reshape(channel)
    return y if bias is None else y + bias.reshape(channel)


def positive_two_passes(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    y = _finished(input, running_mean, running_var, weight, bias, training, momentum, eps)
    return 0.5 + 0.5 * torch.tanh(0.5 * y)


def positive_one_factor(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    """Scale and shift of each channel worked out before its elements are touched."""
    if not training:
        weight = 1 if weight is None else weight
        scale = weight * torch.rsqrt(running_var + eps)
        shift = (0 if bias is None else bias) - running_mean * scale
        channel = [-1] + [1] * (input.dim() - 2)
        return torch.sigmoid(input * scale.reshape(channel) + shift.reshape(channel))
    return torch.sigmoid(_finished(input, running_mean, running_var, weight, bias, training, momentum, eps))


def negative_no_activation(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    return _finished(input, running_mean, running_var, weight, bias, training, momentum, eps)


def negative_hard(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    return F.hardsigmoid(_finished(input, running_mean, running_var, weight, bias, training, momentum, eps))


def negative_activation_first(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    return _finished(torch.sigmoid(input), running_mean, running_var, weight, bias, training, momentum, eps)


def negative_biased_running_var(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    return torch.sigmoid(_finished(input, running_mean, running_var, weight, bias, training, momentum, eps, tracked=0))


def negative_unbiased_normalization(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    return torch.sigmoid(_finished(input, running_mean, running_var, weight, bias, training, momentum, eps, own=1))


def negative_no_running_update(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    return torch.sigmoid(
        _finished(input, running_mean, running_var, weight, bias, training, momentum, eps, update=False)
    )


def negative_momentum_of_the_old(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05
):
    """Takes momentum as the share that is kept."""
    return torch.sigmoid(_finished(input, running_mean, running_var, weight, bias, training, 1 - momentum, eps))


def negative_no_eps(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    return torch.sigmoid(_finished(input, running_mean, running_var, weight, bias, training, momentum, 0.0))
