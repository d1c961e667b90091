"""Sum, product and group normalization: `group_norm((input1 + input2) · input2)`.

`fused_add_mul_groupnorm(input1, input2, weight, bias, num_groups, eps=1e-5, *, out=None)`

`input1` is float32 of shape `(N, C, *)` with any number of trailing dimensions, `input2` is float32 and broadcasts to
that shape by PyTorch's rules. `weight` is float32 `(C,)`, or `None` for ones, `bias` likewise, or `None` for zeros, and
`num_groups` divides `C`.

1. `m = (input1 + input2) · input2`, element by element.
2. The channels fall into `num_groups` groups of `C / num_groups` neighbours. For each `n` and group, over all its
   elements `m[n, group, …]` with mean `μ` and *biased* variance `σ²`:
   `y = (m - μ) / sqrt(σ² + eps) · weight[c] + bias[c]`.

The result has `input1`'s shape. `out`, if given, is a contiguous float32 tensor of that shape: it is filled and returned.
Otherwise the result is a new tensor with any strides. The mean may be far larger than the spread, so the variance must
not be computed as `E[m²] - E[m]²` in float32. `input1` and `input2` may be non-contiguous or expanded, `N` may be 0;
`m` has more than one element for each channel, or a group more than one channel.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("normalization", "broadcast", "reduction", "fusion", "memory-bound")
MAGNITUDES = (-104, 56)

CASES = [
    dict(shape=(2, 4, 5, 5), num_groups=2),
    dict(shape=(4, 6, 11, 13), num_groups=3),
    dict(shape=(3, 8, 7, 19), num_groups=1, affine=False),
    dict(shape=(2, 6, 3, 37), second=(1, 6, 1, 1), num_groups=2),
    dict(shape=(1, 4, 5, 67), num_groups=4),
    dict(shape=(3, 6, 7, 9), num_groups=3, eps=0.5),
    dict(shape=(2, 4, 9, 7), num_groups=2, strided=True),
    dict(shape=(2, 6, 37), second=(2, 6, 37), num_groups=3),
    dict(shape=(2, 6, 7, 5), second=(2, 6, 1, 1), expanded=True, num_groups=2),
    dict(shape=(2, 10, 3, 4), num_groups=5),
    dict(shape=(3, 8, 5, 19), num_groups=4, out=True),
    dict(shape=(2, 4, 5, 13), num_groups=2, offset=50.0),
    dict(shape=(0, 4, 5, 3), num_groups=2),
]

SIZES = [
    dict(shape=(2, 32, 16, 16), num_groups=4),
    dict(shape=(16, 64, 32, 32), num_groups=4),
    dict(shape=(16, 64, 128, 64), num_groups=4),
    dict(shape=(16, 64, 128, 512), num_groups=4),
]


def magnitude(input1, input2, weight, bias, num_groups, eps=1e-5, *, out=None):
    """What is left when the mean is taken away carries the rounding of what was there before."""
    m = ((input1 + input2) * input2).double()
    if not m.numel():
        return 0.0
    groups = m.reshape(m.shape[0], num_groups, -1)
    size = groups.square().mean(2).sqrt() / (groups.var(2, correction=0) + eps).sqrt()
    size = size.repeat_interleave(m.shape[1] // num_groups, 1) * (1 if weight is None else weight.abs())
    return size.reshape(size.shape + (1,) * (m.dim() - 2))


CONTRACT = Close(scale=magnitude)


def fused_add_mul_groupnorm(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    result = F.group_norm(torch.mul(torch.add(input1, input2), input2), num_groups, weight, bias, eps)
    return result if out is None else out.copy_(result)


def inputs(
    make, shape, num_groups, second=None, eps=1e-5, affine=True, offset=0.0, strided=False, expanded=False, out=False
):
    x, y = make.floats(*shape) + offset, make.floats(*(second or shape)) + offset
    if strided:
        x, y = make.strided(x), make.strided(y)
    if expanded:
        y = make.expanded(y, *shape)
    weight, bias = (make.plain(shape[1]) if affine else None for _ in range(2))
    return call(x, y, weight, bias, num_groups, eps=eps, out=make.plain(*shape) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _normalized(m, weight, bias, num_groups, eps, correction=0):
    groups = m.reshape(m.shape[0], num_groups, m.shape[1:].numel() // num_groups)
    centred = groups - groups.mean(2, keepdim=True)
    variance = centred.square().sum(2, keepdim=True) / (groups.shape[2] - correction)
    return _affine((centred / torch.sqrt(variance + eps)).reshape(m.shape), weight, bias)


def _affine(y, weight, bias):
    channel = [-1] + [1] * (y.dim() - 2)
    return y if weight is None else y * weight.reshape(channel) + bias.reshape(channel)


def positive_two_passes(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    """Mean and variance one after the other."""
    return _given(_normalized(input2 * (input2 + input1), weight, bias, num_groups, eps), out)


def negative_multiplies_by_the_first(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    return _given(_normalized((input1 + input2) * input1, weight, bias, num_groups, eps), out)


def negative_unbiased_variance(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    return _given(_normalized((input1 + input2) * input2, weight, bias, num_groups, eps, correction=1), out)


def negative_layer_norm(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    """One group for all channels."""
    return _given(_normalized((input1 + input2) * input2, weight, bias, 1, eps), out)


def negative_default_eps(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    return _given(_normalized((input1 + input2) * input2, weight, bias, num_groups, 1e-5), out)


def negative_interleaved_groups(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    """Every num_groups-th channel in one group."""
    m = (input1 + input2) * input2
    order = torch.arange(m.shape[1], device=m.device).reshape(-1, num_groups).mT.reshape(-1)
    back = order.argsort()
    return _given(_affine(_normalized(m[:, order], None, None, num_groups, eps)[:, back], weight, bias), out)


def negative_one_pass_variance(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    """E[m²] - E[m]² in float32: loses the variance behind a large mean."""
    m = (input1 + input2) * input2
    groups = m.reshape(m.shape[0], num_groups, m.shape[1:].numel() // num_groups)
    mean = groups.mean(2, keepdim=True)
    variance = (groups.square().mean(2, keepdim=True) - mean.square()).clamp(min=0)
    return _given(_affine(((groups - mean) / torch.sqrt(variance + eps)).reshape(m.shape), weight, bias), out)


def negative_ignores_out(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    return _normalized((input1 + input2) * input2, weight, bias, num_groups, eps)
