"""Two-dimensional convolution, then SELU, then instance normalization, in this order.

`fused_instance_norm_selu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, num_features=None,
eps=1e-5, momentum=0.1, affine=False, track_running_stats=False)`

- `input`: float32 `(N, C_in, H, W)`, `weight`: `(C_out, C_in / groups, kH, kW)`, `bias`: `(C_out,)` or `None`.
- `stride`, `padding`, `dilation`: an int, or a pair `(vertical, horizontal)`. Padding is with zeros on both sides.
- `groups` divides both channel counts: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input
  channels `[g·C_in/groups, (g+1)·C_in/groups)`.

1. Convolution, `H_out = (H + 2·padding - dilation·(kH - 1) - 1) // stride + 1`, `W_out` alike; with `c0` the first
   input channel of `o`'s group:
   `z[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] · padded[n, c0 + c, y·stride + i·dilation, …]`.
   The kernel is not flipped.
2. `a = scale · (max(0, z) + min(0, alpha · (exp(z) - 1)))`, `scale = 1.0507009873554805`, `alpha = 1.6732632423543772`.
3. For each `n` and `o`, over the `H_out · W_out` (at least two) elements of `a[n, o]` with mean `μ` and *biased*
   variance `σ²`: `out = (a - μ) / sqrt(σ² + eps)`.

The statistics are always the image's own, and there is no scale and shift: `num_features` (`None` or `C_out`),
`momentum`, `affine` and `track_running_stats` have no effect. A channel may be constant: then rounding errors of `a`
are divided by `sqrt(eps)`, and are tolerated as such; still, the variance must be summed up from differences to the
mean. `input` and `weight` may be non-contiguous; `N ≥ 1`. The result is a new float32 tensor with any strides. Products
and sums are float32: TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("convolution", "normalization", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(17, 3, 3, 3)),
    dict(shape=(1, 5, 9, 11), weight=(13, 5, 3, 3), stride=2),
    dict(shape=(2, 3, 9, 8), weight=(4, 3, 3, 3), padding=1),
    dict(shape=(1, 19, 5, 5), weight=(17, 19, 1, 1), stride=2, bias=False),
    dict(shape=(1, 1, 37, 31), weight=(3, 1, 5, 5), padding=1),
    dict(shape=(1, 1, 1, 2), weight=(1, 1, 1, 1)),
    dict(shape=(1, 4, 9, 11), weight=(12, 4, 3, 3), strided=True),
    dict(shape=(1, 4, 9, 11), weight=(12, 4, 3, 3), stride=(2, 1)),
    dict(shape=(1, 4, 9, 11), weight=(12, 4, 3, 3), padding=(2, 1)),
    dict(shape=(2, 3, 10, 12), weight=(11, 3, 3, 3), stride=2),
    dict(shape=(3, 6, 7, 8), weight=(12, 1, 5, 3), dilation=(1, 2), groups=6),
    dict(shape=(2, 3, 11, 13), weight=(17, 3, 3, 3), eps=0.5),
    dict(shape=(2, 3, 9, 8), weight=(4, 3, 3, 3), num_features=4, momentum=0.7, affine=True, track_running_stats=True),
]

SIZES = [
    dict(shape=(1, 8, 32, 32), weight=(64, 8, 3, 3)),
    dict(shape=(8, 64, 64, 64), weight=(64, 64, 3, 3)),
    dict(shape=(8, 64, 256, 256), weight=(64, 64, 3, 3)),
    dict(shape=(16, 128, 128, 128), weight=(64, 128, 3, 3), padding=1),
]


def magnitude(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, num_features=None, eps=1e-5, momentum=0.1,
    affine=False, track_running_stats=False,
):  # fmt: skip
    """What is left when the mean is taken away carries the rounding of what was there before."""
    a = F.selu(F.conv2d(input, weight, bias, stride, padding, dilation, groups))
    return (
        a.double().square().mean((2, 3), keepdim=True).sqrt()
        / (a.double().var((2, 3), correction=0, keepdim=True) + eps).sqrt()
    )


CONTRACT = Close(scale=magnitude)


def fused_instance_norm_selu_conv2d(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias=None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    num_features=None,
    eps=1e-05,
    momentum=0.1,
    affine=False,
    track_running_stats=False,
) -> torch.Tensor:
    a = F.selu(F.conv2d(input, weight, bias, stride, padding, dilation, groups))
    return F.instance_norm(a, eps=eps)


def inputs(make, shape, weight, bias=True, strided=False, **options):
    """Weights are scaled by the number of products in a sum, as in a network, so that SELU is not linear everywhere."""
    x, w = make.floats(*shape), make.plain(*weight) * 2 / (weight[1] * weight[2] * weight[3]) ** 0.5
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(weight[0]) if bias else None, **options)


def _normalized(a, eps, dims=(2, 3), correction=0):
    centred = a - a.mean(dims, keepdim=True)
    count = a[0, 0].numel() if dims == (2, 3) else a.numel() // a.shape[1 if dims == (0, 2, 3) else 0]
    return centred / torch.sqrt(centred.square().sum(dims, keepdim=True) / (count - correction) + eps)


def _selu(z):
    return 1.0507009873554805 * torch.where(z > 0, z, 1.6732632423543772 * torch.expm1(z))


def positive_unfold(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, num_features=None, eps=1e-05, momentum=0.1,
    affine=False, track_running_stats=False,
):  # fmt: skip
    """Patches as columns; the normalization in two passes."""
    z = F.conv2d(input, weight, None, stride, padding, dilation, groups)
    columns = F.unfold(input, weight.shape[2:], dilation, padding, stride).reshape(len(z), groups, -1, z[0, 0].numel())
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    z = torch.einsum("gok,ngkp->ngop", rows, columns).reshape(z.shape)
    return _normalized(_selu(z if bias is None else z + bias[:, None, None]), eps)


def negative_norm_before_selu(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, num_features=None, eps=1e-05, momentum=0.1,
    affine=False, track_running_stats=False,
):  # fmt: skip
    return F.selu(F.instance_norm(F.conv2d(input, weight, bias, stride, padding, dilation, groups), eps=eps))


def negative_elu(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, num_features=None, eps=1e-05, momentum=0.1,
    affine=False, track_running_stats=False,
):  # fmt: skip
    return _normalized(F.elu(F.conv2d(input, weight, bias, stride, padding, dilation, groups)), eps)


def negative_unbiased_variance(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, num_features=None, eps=1e-05, momentum=0.1,
    affine=False, track_running_stats=False,
):  # fmt: skip
    return _normalized(_selu(F.conv2d(input, weight, bias, stride, padding, dilation, groups)), eps, correction=1)


def negative_batch_statistics(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, num_features=None, eps=1e-05, momentum=0.1,
    affine=False, track_running_stats=False,
):  # fmt: skip
    """One mean and variance for the channel in all images."""
    return _normalized(_selu(F.conv2d(input, weight, bias, stride, padding, dilation, groups)), eps, dims=(0, 2, 3))


def negative_default_eps(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, num_features=None, eps=1e-05, momentum=0.1,
    affine=False, track_running_stats=False,
):  # fmt: skip
    return _normalized(_selu(F.conv2d(input, weight, bias, stride, padding, dilation, groups)), 1e-5)


def negative_bias_after_selu(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, num_features=None, eps=1e-05, momentum=0.1,
    affine=False, track_running_stats=False,
):  # fmt: skip
    """A bias added after the activation vanishes in the normalization."""
    return _normalized(_selu(F.conv2d(input, weight, None, stride, padding, dilation, groups)), eps)
