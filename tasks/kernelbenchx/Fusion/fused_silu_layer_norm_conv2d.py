"""Two-dimensional convolution, then layer normalization of each image, then SiLU, in this order.

`fused_silu_layer_norm_conv2d(x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1,
conv_groups=1, ln_eps=1e-5)`

- `x`: float32 `(N, C_in, H, W)`, `conv_weight`: `(C_out, C_in / groups, kH, kW)`, `conv_bias`: `(C_out,)` or `None`.
- `weight` is always `None`: the normalization has neither scale nor shift.
- `conv_stride`, `conv_padding`, `conv_dilation`: ints for both directions. Padding is with zeros on all sides.
- `conv_groups` divides both channel counts: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input
  channels `[g·C_in/groups, (g+1)·C_in/groups)`.

1. Convolution, `H_out = (H + 2·padding - dilation·(kH - 1) - 1) // stride + 1`, `W_out` alike; with `c0` the first
   input channel of `o`'s group:
   `z[n, o, y, x] = bias[o] + sum of conv_weight[o, c, i, j] · padded[n, c0 + c, y·stride + i·dilation, …]` over all
   `c, i, j`. The kernel is not flipped.
2. For each `n`, over all `C_out · H_out · W_out` elements of `z[n]` with mean `μ` and *biased* variance `σ²`:
   `y = (z - μ) / sqrt(σ² + ln_eps)`.
3. `out = y · sigmoid(y) = y / (1 + exp(-y))`.

`x` and `conv_weight` may be non-contiguous, `N` may be 0. The result is a new float32 tensor with any strides. Products
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
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3)),
    dict(shape=(2, 3, 8, 9), weight=(4, 3, 3, 3), conv_padding=1, ln_eps=1e-5),
    dict(shape=(3, 4, 9, 10), weight=(6, 4, 3, 2), conv_stride=2, conv_padding=1),
    dict(shape=(2, 6, 7, 8), weight=(6, 6, 3, 2), conv_dilation=2, conv_groups=1),
    dict(shape=(1, 19, 5, 5), weight=(17, 19, 1, 1), conv_stride=2, bias=False),
    dict(shape=(1, 1, 1, 1), weight=(1, 1, 1, 1)),
    dict(shape=(3, 4, 9, 10), weight=(6, 4, 3, 2), strided=True),
    dict(shape=(2, 4, 10, 9), weight=(6, 2, 3, 3), conv_groups=2),
    dict(shape=(2, 6, 7, 8), weight=(6, 1, 5, 3), conv_padding=3, conv_dilation=2, conv_groups=6),
    dict(shape=(2, 4, 10, 9), weight=(6, 4, 3, 3), ln_eps=9.0),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3)),
]

SIZES = [
    dict(shape=(1, 8, 32, 32), weight=(64, 8, 3, 3), conv_padding=1),
    dict(shape=(4, 32, 128, 128), weight=(64, 32, 3, 3), conv_padding=1),
    dict(shape=(32, 64, 56, 56), weight=(64, 64, 3, 3), conv_padding=1),
    dict(shape=(16, 64, 192, 192), weight=(64, 64, 3, 3), conv_padding=1),
]

# The normalized elements are of size 1; those of negative sign shrink in SiLU, their errors do not.
CONTRACT = Close(scale=1.0)


def fused_silu_layer_norm_conv2d(
    x: torch.Tensor,
    weight: torch.Tensor,
    conv_weight: torch.Tensor,
    conv_bias: torch.Tensor = None,
    conv_stride: int = 1,
    conv_padding: int = 0,
    conv_dilation: int = 1,
    conv_groups: int = 1,
    ln_eps: float = 1e-05,
) -> torch.Tensor:
    z = F.conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.silu(F.layer_norm(z, z.shape[1:], eps=ln_eps))


def inputs(make, shape, weight, bias=True, strided=False, **options):
    x, w = make.floats(*shape), make.plain(*weight)
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, None, w, make.plain(weight[0], low=-2.7, high=2.7) if bias else None, **options)


def _normalized(z, eps, dims=(1, 2, 3), correction=0):
    centred = z - z.mean(dims, keepdim=True)
    count = z.shape[dims[0] :].numel()
    return centred / torch.sqrt(centred.square().sum(dims, keepdim=True) / (count - correction) + eps)


def positive_unfold(
    x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, ln_eps=1e-05
):
    """Patches as columns; the normalization in two passes."""
    z = F.conv2d(x, conv_weight, None, conv_stride, conv_padding, conv_dilation, conv_groups)
    if z.numel():
        columns = F.unfold(x, conv_weight.shape[2:], conv_dilation, conv_padding, conv_stride)
        rows = conv_weight.reshape(conv_groups, conv_weight.shape[0] // conv_groups, -1)
        columns = columns.reshape(len(z), conv_groups, rows.shape[2], -1)
        z = torch.einsum("gok,ngkp->ngop", rows, columns).reshape(z.shape)
    y = _normalized(z if conv_bias is None else z + conv_bias[:, None, None], ln_eps)
    return y / (1 + torch.exp(-y))


def negative_norm_over_channels(
    x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, ln_eps=1e-05
):
    """Normalizes the channels of each pixel."""
    z = F.conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.silu(F.layer_norm(z.movedim(1, -1), z.shape[1:2], eps=ln_eps).movedim(-1, 1))


def negative_norm_of_each_channel(
    x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, ln_eps=1e-05
):
    z = F.conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.silu(_normalized(z, ln_eps, dims=(2, 3)))


def negative_silu_before_norm(
    x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, ln_eps=1e-05
):
    z = F.conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return _normalized(F.silu(z), ln_eps)


def negative_unbiased_variance(
    x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, ln_eps=1e-05
):
    z = F.conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.silu(_normalized(z, ln_eps, correction=1))


def negative_default_eps(
    x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, ln_eps=1e-05
):
    z = F.conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.silu(_normalized(z, 1e-5))
