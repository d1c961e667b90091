"""Batch normalization over all dimensions but the second, then the piecewise linear logistic function.

`fused_hardsigmoid_batch_norm(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1,
eps=1e-5, inplace=False)`

`x` is float32 of shape `(N, C)`, `(N, C, L)` or `(N, C, H, W)`; the other tensors are float32 of shape `(C,)`. For each
channel `c`, over the `n` elements of `x[:, c, …]`:

    y = (x - mean) / sqrt(var + eps) · weight[c] + bias[c]            (weight None: 1, bias None: 0)
    out = min(max(y + 3, 0), 6) / 6

- `training=False`: `mean = running_mean[c]`, `var = running_var[c]`; neither is changed.
- `training=True`: `mean` and `var` are the batch's own, with the *biased* variance `Σ(x - mean)² / n`. `running_mean`
  and `running_var` are then updated in place with the batch's mean and its *unbiased* variance
  `Σ(x - mean)² / (n - 1)`:  `running = (1 - momentum) · running + momentum · batch`. Here `n ≥ 2`.

The mean may be far larger than the spread, so the variance must not be computed as `E[x²] - E[x]²` in float32.
`inplace` concerns an intermediate value that the caller never sees: `x` is left as it was. `x` may be non-contiguous,
and in inference empty. The result is a new tensor of `x`'s shape with any strides.
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
    dict(shape=(5, 3, 7, 9), training=True, inplace=True),
    dict(shape=(7, 6, 11, 13), training=False, inplace=False),
    dict(shape=(2, 17, 1, 31), affine=False, inplace=True),
    dict(shape=(1, 5, 37, 29), training=True, affine=False),
    dict(shape=(131, 3, 1, 3), training=True),
    dict(shape=(1, 1, 1, 1)),
    dict(shape=(37, 19), training=True),
    dict(shape=(3, 5, 67)),
    dict(shape=(3, 5, 67, 1), strided=True),
    dict(shape=(4, 6, 5, 5), tracked=True),
    dict(shape=(6, 4, 3, 7), training=True, offset=300.0),
    dict(shape=(37, 19, 2, 1), training=True, momentum=0.4),
    dict(shape=(3, 5, 67, 1), training=True, eps=0.5),
    dict(shape=(0, 3, 5, 2)),
]

SIZES = [
    dict(shape=(1, 64, 8, 8)),
    dict(shape=(32, 64, 28, 28), training=True),
    dict(shape=(1, 64, 1448, 1449)),
    dict(shape=(64, 128, 112, 112), training=True),
]


def magnitude(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5, inplace=False
):
    """What is left when the mean is taken away carries the rounding of what was there before."""
    if not training:
        return 1.0
    values = x.double()
    smallest = values.var([d for d in range(x.dim()) if d != 1], correction=0).min()
    return float(values.abs().max() / (smallest + eps).sqrt())


CONTRACT = Close(scale=magnitude)


def fused_hardsigmoid_batch_norm(
    x: torch.Tensor,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    weight: torch.Tensor = None,
    bias: torch.Tensor = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
    inplace: bool = False,
) -> torch.Tensor:
    y = F.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)
    return F.hardsigmoid(y, inplace)


def inputs(make, shape, affine=True, offset=0.0, tracked=False, strided=False, **options):
    """Running statistics are nearly 0 and 1, as after a few steps on such data, or ``tracked`` over other data."""
    x, c = make.floats(*shape) + offset, shape[1]
    mean = make.plain(c) if tracked else make.plain(c, low=-2e-3, high=-1e-4)
    var = make.plain(c, low=0.1, high=4.0) if tracked else make.plain(c, low=0.9985, high=1.0036)
    weight, bias = (make.plain(c), make.plain(c)) if affine else (None, None)
    return call(make.strided(x) if strided else x, mean, var, weight, bias, **options)


def _finished(x, running_mean, running_var, weight, bias, training, momentum, eps, own=0, tracked=1, update=True):
    """Two passes; ``own`` and ``tracked`` are what the two variances subtract from the count."""
    dims, channel = [d for d in range(x.dim()) if d != 1], [-1] + [1] * (x.dim() - 2)
    mean, var = running_mean, running_var
    if training:
        mean, n = x.mean(dims), x.numel() // x.shape[1]
        squares = (x - mean.reshape(channel)).square().sum(dims)
        var = squares / (n - own)
        if update:
            running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
            running_var.mul_(1 - momentum).add_(squares / (n - tracked), alpha=momentum)
    y = (x - mean.reshape(channel)) / torch.sqrt(var + eps).reshape(channel)
    y = y if weight is None else y * weight.reshape(channel)
    return y if bias is None else y + bias.reshape(channel)


def positive_two_passes(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    y = _finished(x, running_mean, running_var, weight, bias, training, momentum, eps)
    return (y / 6 + 0.5).clamp(0, 1)


def positive_one_factor(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    """Scale and shift of each channel worked out before its elements are touched."""
    if not training:
        weight = 1 if weight is None else weight
        scale = weight * torch.rsqrt(running_var + eps)
        shift = (0 if bias is None else bias) - running_mean * scale
        channel = [-1] + [1] * (x.dim() - 2)
        return F.hardsigmoid(x * scale.reshape(channel) + shift.reshape(channel))
    return F.hardsigmoid(_finished(x, running_mean, running_var, weight, bias, training, momentum, eps))


def negative_no_activation(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    return _finished(x, running_mean, running_var, weight, bias, training, momentum, eps)


def negative_fifth(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    """The variant with slope 0.2 and ends at ±2.5."""
    y = _finished(x, running_mean, running_var, weight, bias, training, momentum, eps)
    return (0.2 * y + 0.5).clamp(0, 1)


def negative_smooth(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    return torch.sigmoid(_finished(x, running_mean, running_var, weight, bias, training, momentum, eps))


def negative_activation_first(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    return _finished(F.hardsigmoid(x), running_mean, running_var, weight, bias, training, momentum, eps)


def negative_biased_running_var(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    return F.hardsigmoid(_finished(x, running_mean, running_var, weight, bias, training, momentum, eps, tracked=0))


def negative_unbiased_normalization(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    return F.hardsigmoid(_finished(x, running_mean, running_var, weight, bias, training, momentum, eps, own=1))


def negative_one_pass_variance(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    """E[x²] - E[x]² in float32: loses the variance behind a large mean."""
    if not training:
        return fused_hardsigmoid_batch_norm(x, running_mean, running_var, weight, bias)
    dims, n = [d for d in range(x.dim()) if d != 1], x.numel() // x.shape[1]
    mean = x.mean(dims)
    var = (x.square().mean(dims) - mean.square()).clamp(min=0)
    running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
    running_var.mul_(1 - momentum).add_(var * n / (n - 1), alpha=momentum)
    return F.hardsigmoid(F.batch_norm(x, mean, var, weight, bias, False, momentum, eps))


def negative_no_running_update(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    return F.hardsigmoid(_finished(x, running_mean, running_var, weight, bias, training, momentum, eps, update=False))


def negative_momentum_of_the_old(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    """Takes momentum as the share that is kept."""
    return F.hardsigmoid(_finished(x, running_mean, running_var, weight, bias, training, 1 - momentum, eps))


def negative_no_eps(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False
):
    return F.hardsigmoid(_finished(x, running_mean, running_var, weight, bias, training, momentum, 0.0))
