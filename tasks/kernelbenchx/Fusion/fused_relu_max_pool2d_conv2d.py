"""Two-dimensional convolution, then maximum pooling, then ReLU.

`fused_relu_max_pool2d_conv2d(input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1,
pool_kernel_size=2, pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False)`

- `input`: float32 `(N, C_in, H, W)`, `weight`: `(C_out, C_in / groups, kH, kW)`, `bias`: `(C_out,)` or `None`.
- Every stride, padding, dilation and `pool_kernel_size` is an int, or a pair `(vertical, horizontal)`;
  `pool_stride=None` means `pool_kernel_size`. `conv_padding` may also be `'valid'` (none) or, with stride 1, `'same'`
  (the result is as large as the image: `T = dilation · (k - 1)` zeros along an axis, `T // 2` of them before, the rest
  after).
- `conv_groups` divides both channel counts: output channels `[g·C_out/groups, (g+1)·C_out/groups)` see only the input
  channels `[g·C_in/groups, (g+1)·C_in/groups)`.

1. Convolution with zeros around the image, `H_z = (H + 2·padding - dilation·(kH - 1) - 1) // stride + 1` rows; `c0` is
   the first input channel of `o`'s group, the kernel is not flipped:
   `z[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] · padded[n, c0 + c, y·stride + i·dilation, …]`.
2. `p[n, o, u, v] = max over i, j of z[n, o, u·stride + i·dilation - padding, v·stride + …]` with the pool's numbers,
   over those places that lie in `z`. There are `(H_z + 2·padding - dilation·(k - 1) - 1) / stride + 1` rows, the
   quotient rounded down, or up with `pool_ceil_mode`; then a last row whose window would begin in the bottom
   padding, at `u·stride ≥ H_z + padding`, is left out. Columns alike. `pool_padding ≤ pool_kernel_size / 2`.
3. `out = max(0, p)`.

`inplace` concerns an intermediate value that the caller never sees: `input` is left as it was. `input` and `weight` may
be non-contiguous, `N` may be 0. The result is a new float32 tensor with any strides. Products and sums are float32:
TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("convolution", "pooling", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(2, 3, 11, 13), weight=(5, 3, 3, 3)),
    dict(shape=(2, 3, 10, 9), weight=(4, 3, 3, 3), conv_padding=1),
    dict(shape=(1, 4, 13, 11), weight=(6, 4, 3, 2), conv_stride=2, conv_padding=1),
    dict(shape=(2, 4, 10, 9), weight=(6, 4, 3, 3), bias=False, pool_kernel_size=3, pool_stride=2, pool_padding=1),
    dict(shape=(1, 5, 17, 15), weight=(7, 5, 3, 3), conv_padding=1, pool_kernel_size=2, pool_stride=2, pool_padding=0,
         inplace=False),
    dict(shape=(1, 1, 2, 2), weight=(1, 1, 1, 1)),
    dict(shape=(2, 3, 9, 11), weight=(5, 3, 3, 3), strided=True),
    dict(shape=(1, 4, 9, 11), weight=(6, 4, 3, 2), conv_stride=(2, 1), conv_padding=(1, 0), pool_kernel_size=(2, 3)),
    dict(shape=(2, 4, 10, 9), weight=(6, 2, 3, 3), conv_padding=1, conv_groups=2),
    dict(shape=(2, 3, 9, 8), weight=(4, 3, 2, 3), pool_kernel_size=3, pool_ceil_mode=True),
    dict(shape=(1, 6, 9, 12), weight=(6, 1, 3, 3), conv_padding="same", conv_dilation=(1, 2), conv_groups=6,
         pool_kernel_size=(3, 2), pool_stride=(1, 2), pool_padding=(1, 0), pool_dilation=(2, 3), inplace=True),
    dict(shape=(0, 3, 8, 8), weight=(4, 3, 3, 3)),
]  # fmt: skip

SIZES = [
    dict(shape=(1, 3, 34, 34), weight=(64, 3, 3, 3)),
    dict(shape=(1, 3, 514, 514), weight=(64, 3, 3, 3)),
    dict(shape=(32, 3, 224, 224), weight=(64, 3, 7, 7), conv_stride=2, conv_padding=1, pool_kernel_size=3,
         pool_stride=2, pool_padding=1),
    dict(shape=(16, 64, 112, 112), weight=(64, 64, 3, 3), conv_padding=1),
    dict(shape=(1, 3, 1538, 1538), weight=(64, 3, 3, 3)),
]  # fmt: skip


def magnitude(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    """A maximum near zero carries the rounding of its convolution."""
    z = F.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return float(z.double().square().mean().sqrt()) if z.numel() else 0.0


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def fused_relu_max_pool2d_conv2d(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.relu(F.max_pool2d(z, pool_kernel_size, pool_stride, pool_padding, pool_dilation, pool_ceil_mode), inplace)


def inputs(make, shape, weight, bias=True, strided=False, **options):
    x, w = make.floats(*shape), make.plain(*weight)
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(weight[0], low=-2.5, high=2.5) if bias else None, **options)


def _convolved(input, weight, bias, stride, padding, dilation, groups):
    """Input channels in the other order, the bias last."""
    channels = weight.shape[1]
    order = torch.arange(groups * channels, device=input.device).reshape(groups, channels).flip(1).flatten()
    z = F.conv2d(input[:, order], weight.flip(1), None, stride, padding, dilation, groups)
    return z if bias is None else z + bias[:, None, None]


def _pair(value):
    return (value, value) if isinstance(value, int) else value


def positive_relu_first(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    """The maximum is monotone: ReLU may come first, and padding may count as zero."""
    z = _convolved(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups).clamp(min=0)
    like = F.max_pool2d(z, pool_kernel_size, pool_stride, pool_padding, pool_dilation, pool_ceil_mode)
    (h, w), (py, px), (dy, dx) = like.shape[2:], _pair(pool_padding), _pair(pool_dilation)
    (ky, kx), (sy, sx) = _pair(pool_kernel_size), _pair(pool_stride or pool_kernel_size)
    z, out = F.pad(z, (px, px + kx * dx + sx, py, py + ky * dy + sy)), torch.zeros_like(like)
    for i in range(ky):
        for j in range(kx):
            out = torch.maximum(out, z[:, :, i * dy :: sy, j * dx :: sx][:, :, :h, :w])
    return out


def negative_no_relu(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.max_pool2d(z, pool_kernel_size, pool_stride, pool_padding, pool_dilation, pool_ceil_mode)


def negative_ignores_pool_padding(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    """Windows begin at the convolution's first row and column."""
    z = F.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.relu(F.max_pool2d(z, pool_kernel_size, pool_stride, 0, pool_dilation, pool_ceil_mode))


def negative_ignores_pool_dilation(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.relu(F.max_pool2d(z, pool_kernel_size, pool_stride, pool_padding, 1, pool_ceil_mode))


def negative_always_floor(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.relu(F.max_pool2d(z, pool_kernel_size, pool_stride, pool_padding, pool_dilation))


def negative_stride_one_by_default(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.relu(F.max_pool2d(z, pool_kernel_size, pool_stride or 1, pool_padding, pool_dilation, pool_ceil_mode))


def negative_no_bias(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    z = F.conv2d(input, weight, None, conv_stride, conv_padding, conv_dilation, conv_groups)
    return F.relu(F.max_pool2d(z, pool_kernel_size, pool_stride, pool_padding, pool_dilation, pool_ceil_mode))
