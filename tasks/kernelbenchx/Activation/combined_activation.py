"""Linear layer without bias, sigmoid, tanh, then an element-wise factor and summand.

`combined_activation(input, weight1, weight2, bias, *, out=None)` computes

    tanh(σ(input @ weight1)) * weight2 + bias,      σ(z) = 1 / (1 + exp(-z)).

- `input`: `(N, D_in)`, two-dimensional; `weight1`: `(D_in, D_out)`. With `D_in = 0` the product is zero.
- `weight2`, `bias`: each broadcasts to `(N, D_out)` by PyTorch's rules: `(D_out,)`, `(N, 1)`, `(N, D_out)`, `(1,)` …
- `out`: if given, a contiguous float32 `(N, D_out)` tensor; it is filled and returned.

All tensors are float32, may be non-contiguous or expanded, and `N` or `D_out` may be 0. Products and sums are
float32: TF32 and half precision are not allowed. Without `out` the result is a new `(N, D_out)` tensor with any
strides.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "fusion", "broadcast")
MAGNITUDES = (-104, 56)

CASES = [
    dict(n=5, d_in=10, d_out=3, weight2=(5, 3), bias=(5, 3)),
    dict(n=17, d_in=31, d_out=70, weight2=(17, 70), bias=(17, 70)),
    dict(n=37, d_in=67, d_out=45, weight2=(37, 45), bias=(37, 45)),
    dict(n=33, d_in=128, d_out=65, weight2=(33, 65), bias=(33, 65)),
    dict(n=140, d_in=33, d_out=150, weight2=(140, 150), bias=(140, 150)),
    dict(n=1, d_in=1, d_out=1, weight2=(1, 1), bias=(1, 1)),
    dict(n=37, d_in=67, d_out=45, weight2=(37, 45), bias=(37, 45), strided=True),
    dict(n=33, d_in=128, d_out=65),
    dict(n=17, d_in=31, d_out=70, weight2=(1,), bias=(17, 70), out=True),
    dict(n=9, d_in=20, d_out=33, weight2=(1, 33), bias=(9, 1)),
    dict(n=7, d_in=0, d_out=5, weight2=(7, 5), bias=(7, 5)),
    dict(n=0, d_in=16, d_out=8, weight2=(0, 8), bias=(0, 8)),
]

SIZES = [
    dict(n=64, d_in=64, d_out=64, weight2=(64, 64), bias=(64, 64)),
    dict(n=512, d_in=512, d_out=512, weight2=(512, 512), bias=(512, 512)),
    dict(n=2048, d_in=2048, d_out=2048, weight2=(2048, 2048), bias=(2048, 2048)),
    dict(n=4096, d_in=4096, d_out=4096, weight2=(4096, 4096), bias=(4096, 4096)),
]


def magnitude(input, weight1, weight2, bias, *, out=None):
    """The rounding errors of the product, as far as the slope of the sigmoid lets them through."""
    s = torch.sigmoid(input @ weight1)
    return weight2.abs() * s * (1 - s) * (input.square() @ weight1.square()).sqrt() + bias.abs()


# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=magnitude, growth=4)


def combined_activation(input, weight1, weight2, bias, *, out=None):
    result = torch.tanh(torch.sigmoid(torch.mm(input, weight1))) * weight2 + bias
    return result if out is None else out.copy_(result)


def inputs(make, n, d_in, d_out, weight2=None, bias=None, strided=False, out=False):
    """`weight1` is scaled, in long products as in a network, or sigmoid would be flat."""
    x, w1 = make.floats(n, d_in), make.plain(d_in, d_out) * (0.25 if d_in <= 256 else d_in**-0.5)
    w2, b = make.plain(*(weight2 or (d_out,))), make.plain(*(bias or (d_out,)))
    if strided:
        x, w1, w2, b = (make.strided(t) for t in (x, w1, w2, b))
    return call(x, w1, w2, b, out=make.plain(n, d_out) if out else None)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_exponentials(input, weight1, weight2, bias, *, out=None):
    """Four partial products; both activations written as 1 / (1 + exp(…))."""
    z = sum(a @ b for a, b in zip(input.tensor_split(4, 1), weight1.tensor_split(4, 0), strict=True))
    s = 1 / (1 + torch.exp(-z))
    return _given((2 / (1 + torch.exp(-2 * s)) - 1) * weight2 + bias, out)


def negative_tanh_first(input, weight1, weight2, bias, *, out=None):
    return _given(torch.sigmoid(torch.tanh(input @ weight1)) * weight2 + bias, out)


def negative_no_tanh(input, weight1, weight2, bias, *, out=None):
    return _given(torch.sigmoid(input @ weight1) * weight2 + bias, out)


def negative_bias_scaled(input, weight1, weight2, bias, *, out=None):
    return _given((torch.tanh(torch.sigmoid(input @ weight1)) + bias) * weight2, out)


def negative_ignores_out(input, weight1, weight2, bias, *, out=None):
    return combined_activation(input, weight1, weight2, bias)


def negative_tf32(input, weight1, weight2, bias, *, out=None):
    """Drops the 13 low bits of the operands, as a TF32 tensor core does."""
    x, w = ((t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (input, weight1))
    return _given(torch.tanh(torch.sigmoid(x @ w)) * weight2 + bias, out)
