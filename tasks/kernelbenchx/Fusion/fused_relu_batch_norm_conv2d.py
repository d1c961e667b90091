"""Two-dimensional convolution, then batch normalization, then ReLU, in this order.

`fused_relu_batch_norm_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None,
running_var=None, bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-5, inplace=False)`

- `input`: float32 `(N, C_in, H, W)`, `weight`: `(C_out, C_in / groups, kH, kW)`, all other tensors `(C_out,)` or
  `None`.
- `stride`, `padding`, `dilation`: an int, or a pair `(vertical, horizontal)`. Padding is with zeros on both sides; it
  may also be `'valid'` (none) or, with stride 1, `'same'` (the result is as large as the image:
  `T = dilation · (k - 1)` zeros along an axis, `T // 2` of them before, the rest after).
- `groups` divides both channel counts: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input
  channels `[g·C_in/groups, (g+1)·C_in/groups)`.

1. Convolution, `H_out = (H + 2·padding - dilation·(kH - 1) - 1) // stride + 1`; with `c0` the first input channel of
   `o`'s group, the kernel not flipped:
   `z[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] · padded[n, c0 + c, y·stride + i·dilation, …]`.
2. `y = (z - mean) / sqrt(var + eps) · bn_weight[o] + bn_bias[o]` (`None`: 1 and 0), where
   - `training=False`: `mean = running_mean[o]`, `var = running_var[o]`, both given and left as they are;
   - `training=True`: mean and *biased* variance of the `m ≥ 2` elements `z[:, o]`. `running_mean` and `running_var`,
     unless `None`, are then updated in place with that mean and the *unbiased* variance (`/ (m - 1)`):
     `running = (1 - momentum) · running + momentum · batch`.
3. `out = max(0, y)`.

`inplace` concerns an intermediate value that the caller never sees: `input` is left as it was. `input` and `weight` may
be non-contiguous; in inference `N` may be 0. The result is a new float32 tensor with any strides. Products and sums are
float32: TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("convolution", "normalization", "fusion", "in-place")
MAGNITUDES = (-104, 56)
MUTATES = ("running_mean", "running_var")

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3), padding=1, training=True),
    dict(shape=(2, 4, 9, 10), weight=(6, 4, 3, 3), stride=2, padding=1, training=False),
    dict(shape=(3, 5, 6, 7), weight=(7, 5, 3, 3), padding=1, training=True, momentum=0.1, eps=1e-5, inplace=False),
    dict(shape=(1, 2, 17, 19), weight=(13, 2, 3, 3), padding=1),
    dict(shape=(4, 7, 5, 3), weight=(11, 7, 3, 2), stride=2, padding=1, dilation=1, groups=1, training=True),
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 3, 3), padding=1),
    dict(shape=(2, 3, 8, 9), weight=(6, 3, 3, 3), padding=1, statistics="wide"),
    dict(shape=(2, 4, 9, 10), weight=(6, 4, 3, 2), padding=1, strided=True, inplace=True),
    dict(shape=(2, 4, 9, 10), weight=(6, 4, 3, 2), stride=(2, 1), padding=(1, 0)),
    dict(shape=(2, 4, 8, 9), weight=(6, 4, 3, 3), padding=1, training=True, momentum=0.4, eps=0.5),
    dict(shape=(2, 6, 7, 8), weight=(6, 1, 3, 3), padding="same", dilation=(1, 2), groups=6),
    dict(shape=(3, 5, 6, 7), weight=(7, 5, 3, 3), padding=1, training=True, statistics=None, affine=False, bias=False),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3), padding=1),
]

SIZES = [
    dict(shape=(1, 64, 32, 32), weight=(128, 64, 3, 3), padding=1),
    dict(shape=(8, 128, 28, 28), weight=(128, 128, 3, 3), padding=1, training=True),
    dict(shape=(32, 64, 56, 56), weight=(64, 64, 3, 3), padding=1, training=True),
    dict(shape=(1, 256, 128, 128), weight=(512, 256, 3, 3), padding=1),
    dict(shape=(32, 64, 112, 112), weight=(128, 64, 3, 3), padding=1, training=True),
]


def magnitude(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-5, inplace=False,
):  # fmt: skip
    """The convolution's size, divided as the normalization divides it."""
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups).double()
    if not z.numel():
        return 0.0
    var = z.var((0, 2, 3), correction=0) if training else running_var
    gain = 1.0 if bn_weight is None else bn_weight.abs()
    return float((z.square().mean((0, 2, 3)).sqrt() / (var + eps).sqrt() * gain).max())


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def fused_relu_batch_norm_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return F.relu(F.batch_norm(z, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps), inplace)


def inputs(make, shape, weight, bias=True, affine=True, statistics="near", strided=False, **options):
    """``statistics``: whether the tracked mean and variance are near 0 and 1, as after few updates, or there at all."""
    x, w, c = make.floats(*shape), make.plain(*weight), weight[0]
    if strided:
        x, w = make.strided(x), make.strided(w)
    mean = var = gain = shift = None
    if statistics == "near":
        mean, var = make.plain(c, low=-0.14, high=0.24), make.plain(c, low=1.0, high=5.7)
    elif statistics:
        mean, var = make.plain(c), make.plain(c, low=0.5, high=9.0)
    if affine:
        gain, shift = make.plain(c, low=-1.5, high=2.3), make.plain(c, low=-2.6, high=2.6)
    b = make.plain(c, low=-2.6, high=2.6) if bias else None
    return call(x, w, b, running_mean=mean, running_var=var, bn_weight=gain, bn_bias=shift, **options)


def _convolved(input, weight, bias, stride, padding, dilation, groups):
    """Input channels in the other order, the bias last."""
    channels = weight.shape[1]
    order = torch.arange(groups * channels, device=input.device).reshape(groups, channels).flip(1).flatten()
    z = F.conv2d(input[:, order], weight.flip(1), None, stride, padding, dilation, groups)
    return z if bias is None else z + bias[:, None, None]


def _finished(z, running_mean, running_var, gain, shift, training, momentum, eps, own=0, tracked=1, update=True):
    """``own`` and ``tracked`` are what the two variances subtract from the count."""
    mean, var = running_mean, running_var
    if training:
        mean, m = z.mean((0, 2, 3)), z.numel() // z.shape[1]
        squares = (z - mean[:, None, None]).square().sum((0, 2, 3))
        var = squares / (m - own)
        if running_mean is not None and update:
            running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
            running_var.mul_(1 - momentum).add_(squares / (m - tracked), alpha=momentum)
    factor = (var + eps).rsqrt() if gain is None else (var + eps).rsqrt() * gain
    y = (z - mean[:, None, None]) * factor[:, None, None]
    return (y if shift is None else y + shift[:, None, None]).clamp(min=0)


def positive_two_passes(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    z = _convolved(input, weight, bias, stride, padding, dilation, groups)
    return _finished(z, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps)


def positive_folded(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    """In inference, normalization as a change of the weights and the bias."""
    if training:
        z = _convolved(input, weight, bias, stride, padding, dilation, groups)
        return _finished(z, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps)
    factor = (running_var + eps).rsqrt() * (1 if bn_weight is None else bn_weight)
    shift = ((0 if bias is None else bias) - running_mean) * factor + (0 if bn_bias is None else bn_bias)
    return F.conv2d(input, weight * factor[:, None, None, None], shift, stride, padding, dilation, groups).clamp(min=0)


def negative_no_relu(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return F.batch_norm(z, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps)


def negative_relu_before_norm(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    z = F.relu(F.conv2d(input, weight, bias, stride, padding, dilation, groups))
    return F.batch_norm(z, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps)


def negative_biased_running_var(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return _finished(z, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps, tracked=0)


def negative_unbiased_normalization(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return _finished(z, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps, own=1)


def negative_no_running_update(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return _finished(z, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps, update=False)


def negative_always_inference(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    z, batch = F.conv2d(input, weight, bias, stride, padding, dilation, groups), running_mean is None
    return _finished(z, running_mean, running_var, bn_weight, bn_bias, batch, momentum, eps)


def negative_no_eps(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-05, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return _finished(z, running_mean, running_var, bn_weight, bn_bias, training, momentum, 0.0)
