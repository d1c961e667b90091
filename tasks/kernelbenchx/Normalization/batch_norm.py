"""Batch normalization over all dimensions but the second.

`batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5)`

`input` is float32 of shape `(N, C)`, `(N, C, L)` or `(N, C, H, W)`; the other tensors are float32 of shape `(C,)`. For
each channel `c`, over the `n` elements of `input[:, c, …]`:

    y = (x - mean) / sqrt(var + eps) · weight[c] + bias[c]            (weight None: 1, bias None: 0)

- `training=False`: `mean = running_mean[c]`, `var = running_var[c]`; neither is changed.
- `training=True`: `mean` and `var` are the batch's own, with the *biased* variance `Σ(x - mean)² / n`. `running_mean` and
  `running_var`, unless `None`, are then updated in place with the batch's mean and its *unbiased* variance
  `Σ(x - mean)² / (n - 1)`:  `running = (1 - momentum) · running + momentum · batch`. Here `n ≥ 2`.

The mean may be far larger than the spread, so the variance must not be computed as `E[x²] - E[x]²` in float32. `input` may
be non-contiguous, and in inference empty. The result is a new tensor of `input`'s shape with any strides.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("normalization", "reduction", "in-place")
MAGNITUDES = (-104, 56)
MUTATES = ("running_mean", "running_var")

CASES = [
    dict(shape=(5, 3, 7, 9), training=True),
    dict(shape=(7, 6, 11, 13)),
    dict(shape=(3, 5, 17, 1), training=True, affine=False),
    dict(shape=(2, 4, 9, 8), affine=False),
    dict(shape=(4, 7, 3, 31), momentum=0.2, eps=1e-3, affine=False),
    dict(shape=(2, 1, 1, 1), training=True),
    dict(shape=(37, 19), training=True),
    dict(shape=(3, 5, 67)),
    dict(shape=(6, 4, 5, 7), training=True, strided=True),
    dict(shape=(6, 4, 7, 3), training=True, offset=100.0),
    dict(shape=(4, 6, 5, 4), running="used"),
    dict(shape=(4, 6, 5, 3), training=True, running="used", affine="weight"),
    dict(shape=(4, 6, 5, 5), training=True, running=None, affine="bias"),
    dict(shape=(5, 3, 4, 6), training=True, momentum=0.4),
    dict(shape=(5, 3, 8, 3), training=True, eps=0.1),
    dict(shape=(0, 3, 5, 2)),
]

SIZES = [
    dict(shape=(8, 16, 16, 16)),
    dict(shape=(32, 64, 28, 28), training=True),
    dict(shape=(64, 128, 56, 56), training=True),
    dict(shape=(64, 256, 112, 112), training=True),
]


def magnitude(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """What is left when the mean is taken away carries the rounding of what was there before."""
    if not training:
        return 1.0
    x = input.double()
    smallest = x.var([d for d in range(x.dim()) if d != 1], correction=0).min()
    return float(x.abs().max() / (smallest + eps).sqrt())


CONTRACT = Close(scale=magnitude, strides="any")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def inputs(
    make, shape, affine=True, running="fresh", training=False, momentum=0.1, eps=1e-5, offset=0.0, strided=False
):
    """`running` statistics are those before the first batch, or `"used"`, or None."""
    x, c = make.floats(*shape) + offset, shape[1]
    mean, var = torch.zeros(c, device=x.device), torch.ones(c, device=x.device)
    if running == "used":
        mean, var = make.plain(c), make.plain(c, low=0.1, high=4.0)
    mean, var = (mean, var) if running else (None, None)
    weight, bias = (
        make.plain(c, low=-2.0, high=2.0) if affine in (True, name) else None for name in ("weight", "bias")
    )
    x = make.strided(x) if strided else x
    return call(x, mean, var, weight, bias, training=training, momentum=momentum, eps=eps)


def _per_channel(input):
    """Dimensions that are reduced, and the shape of a channel's value beside the input."""
    return [d for d in range(input.dim()) if d != 1], [-1 if d == 1 else 1 for d in range(input.dim())]


def _update(running, batch, momentum):
    if running is not None:
        running.mul_(1 - momentum).add_(batch.reshape(-1), alpha=momentum)


def _normalize(input, mean, var, weight, bias, eps):
    shape = _per_channel(input)[1]
    y = (input - mean.reshape(shape)) / torch.sqrt(var.reshape(shape) + eps)
    y = y if weight is None else y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def _train(input, running_mean, running_var, weight, bias, momentum, eps, own=0, tracked=1):
    """Two passes; ``own`` and ``tracked`` are what the two variances subtract from the count."""
    dims = _per_channel(input)[0]
    mean = input.mean(dims, keepdim=True)
    squares, n = (input - mean).square().sum(dims), input.numel() // input.shape[1]
    _update(running_mean, mean, momentum)
    _update(running_var, squares / (n - tracked), momentum)
    return _normalize(input, mean, squares / (n - own), weight, bias, eps)


def positive_two_passes(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    if training:
        return _train(input, running_mean, running_var, weight, bias, momentum, eps)
    return _normalize(input, running_mean, running_var, weight, bias, eps)


def negative_biased_running_var(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    if training:
        return _train(input, running_mean, running_var, weight, bias, momentum, eps, tracked=0)
    return _normalize(input, running_mean, running_var, weight, bias, eps)


def negative_unbiased_normalization(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    if training:
        return _train(input, running_mean, running_var, weight, bias, momentum, eps, own=1)
    return _normalize(input, running_mean, running_var, weight, bias, eps)


def negative_no_running_update(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    return (
        F.batch_norm(input, None, None, weight, bias, True, momentum, eps)
        if training
        else F.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    )


def negative_momentum_of_the_old(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    """Takes momentum as the share that is kept."""
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, 1 - momentum, eps)


def negative_no_eps(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        return _train(input, running_mean, running_var, weight, bias, momentum, 0.0)
    return _normalize(input, running_mean, running_var, weight, bias, 0.0)


def negative_one_pass_variance(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    """E[x²] - E[x]² in float32: loses the variance behind a large mean."""
    if not training:
        return _normalize(input, running_mean, running_var, weight, bias, eps)
    dims, n = _per_channel(input)[0], input.numel() // input.shape[1]
    mean = input.mean(dims)
    var = (input.square().mean(dims) - mean.square()).clamp(min=0)
    _update(running_mean, mean, momentum)
    _update(running_var, var * n / (n - 1), momentum)
    return _normalize(input, mean, var, weight, bias, eps)
