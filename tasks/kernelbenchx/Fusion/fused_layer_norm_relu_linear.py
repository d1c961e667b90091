"""Linear layer, then ReLU, then layer normalization, in this order.

`fused_layer_norm_relu_linear(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True)`

1. `z = input @ weightᵀ + bias`, with `input`: `(…, in_features)`, `weight`: `(out_features, in_features)`, `bias`:
   `(out_features,)` or `None`. `z` has shape `(…, out_features)`.
2. `a = max(z, 0)`.
3. `a` is normalized over its trailing dimensions `normalized_shape`, always given: an int, or a tuple or `torch.Size`
   that equals the last dimensions of `a`. With mean `μ` and *biased* variance `σ²` of those elements,
   `y = (a - μ) / sqrt(σ² + eps)`.

`elementwise_affine` has no effect, since no scale and shift are passed. The result is a contiguous float32 tensor of
`a`'s shape. `input` and `weight` may be non-contiguous, and the leading dimensions may be empty. Products and sums are
float32: TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("matmul", "normalization", "fusion")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(19, 37), features=45),
    dict(shape=(1, 67), features=1031, bias=False),
    dict(shape=(7, 1031), features=17),
    dict(shape=(33, 29), features=70, normalized_shape=(70,)),
    dict(shape=(19, 5), features=3, eps=1e-3),
    dict(shape=(1, 1), features=1),
    dict(shape=(3, 5, 33), features=21),
    dict(shape=(2, 7, 18), features=10, normalized_shape=(7, 10)),
    dict(shape=(13, 9), features=17, normalized_shape=torch.Size([17])),
    dict(shape=(13, 65), features=70, strided=True),
    dict(shape=(13, 65), features=70, eps=1e-2),
    dict(shape=(13, 65), features=70, elementwise_affine=False),
    dict(shape=(0, 12), features=6),
]

SIZES = [
    dict(shape=(32, 256), features=128),
    dict(shape=(1024, 1024), features=1024),
    dict(shape=(4096, 2048), features=2048),
    dict(shape=(8192, 4096), features=4096),
]

# A sum of thousands of products in order errs more than PyTorch's, which may add up a tree: four times the usual room.
CONTRACT = Close(scale=1.0, strides="contiguous", growth=4)


def fused_layer_norm_relu_linear(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor = None,
    normalized_shape: torch.Size = None,
    eps: float = 1e-05,
    elementwise_affine: bool = True,
) -> torch.Tensor:
    a = F.relu(F.linear(input, weight, bias))
    return F.layer_norm(a, _shape(a, normalized_shape), eps=eps)


def _shape(a, normalized_shape):
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


def inputs(make, shape, features, bias=True, normalized_shape=None, eps=1e-5, elementwise_affine=True, strided=False):
    x, w = make.floats(*shape), make.plain(features, shape[-1])
    if strided:
        x, w = make.strided(x), make.strided(w)
    b = make.plain(features) if bias else None
    return call(x, w, b, normalized_shape=normalized_shape or features, eps=eps, elementwise_affine=elementwise_affine)


def _normalized(a, shape, eps, correction=0):
    dims = tuple(range(a.dim() - len(shape), a.dim()))
    centred = a - a.mean(dims, keepdim=True)
    return centred / torch.sqrt((centred * centred).sum(dims, keepdim=True) / (shape.numel() - correction) + eps)


def positive_two_pass(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True):
    z = (input.unsqueeze(-2) * weight).sum(-1)
    a = (z if bias is None else z + bias).clamp(min=0)
    return _normalized(a, torch.Size(_shape(a, normalized_shape)), eps)


def negative_no_eps(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True):
    a = F.relu(F.linear(input, weight, bias))
    return _normalized(a, torch.Size(_shape(a, normalized_shape)), 0.0)


def negative_default_eps(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True):
    a = F.relu(F.linear(input, weight, bias))
    return F.layer_norm(a, _shape(a, normalized_shape))


def negative_unbiased_variance(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True):
    a = F.relu(F.linear(input, weight, bias))
    return _normalized(a, torch.Size(_shape(a, normalized_shape)), eps, correction=1)


def negative_norm_before_relu(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True):
    z = F.linear(input, weight, bias)
    return F.relu(F.layer_norm(z, _shape(z, normalized_shape), eps=eps))


def negative_last_dimension_only(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True):
    a = F.relu(F.linear(input, weight, bias))
    return F.layer_norm(a, a.shape[-1:], eps=eps)
