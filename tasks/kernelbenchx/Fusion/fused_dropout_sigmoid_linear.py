"""Linear layer, then the logistic function, then dropout.

`fused_dropout_sigmoid_linear(input, weight, bias=None, p=0.5, training=True, inplace=False)`

1. `z = input @ weightᵀ + bias`, with `input`: `(…, in_features)`, `weight`: `(out_features, in_features)`, `bias`:
   `(out_features,)` or `None`, all float32.
2. `y = 1 / (1 + exp(-z))`.
3. If `training`, every element of `y` is independently set to 0 with probability `p` and multiplied by `1 / (1 - p)`
   otherwise; `p = 1` gives zeros only. If not `training`, or if `p = 0`, the result is `y`.

Which elements are dropped is the kernel's own choice, at random: independent of the data and of each other, and anew in
each call, so seed from `torch`'s generator or a counter. `inplace` concerns an intermediate that the caller never sees:
`input` is left as it was either way. The result is a new, contiguous `(…, out_features)` float32 tensor. `input` and `weight`
may be non-contiguous, leading dimensions may be empty. Products and sums are float32: no TF32, no half precision.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Random, call, mask_complaints

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("matmul", "random", "fusion")

CASES = [
    dict(shape=(67, 37), features=53),
    dict(shape=(1, 29), features=1031, p=0.1, bias=False),
    dict(shape=(70, 20), features=45, p=0.3, inplace=True),
    dict(shape=(19, 30), features=21, training=False),
    dict(shape=(131, 1031), features=17, p=0.1, gain=9.0),
    dict(shape=(1, 1), features=1),
    dict(shape=(5, 13, 33), features=61, bias=False),
    dict(shape=(65, 33), features=61, p=0.1, strided=True),
    dict(shape=(17, 18), features=35, p=0.0),
    dict(shape=(9, 11), features=7, p=1.0),
    dict(shape=(0, 12), features=6),
]

SIZES = [
    dict(shape=(1024, 256), features=256),
    dict(shape=(1024, 4096), features=1024),
    dict(shape=(4096, 4096), features=4096),
    dict(shape=(16384, 4096), features=4096, p=0.1),
]


def fused_dropout_sigmoid_linear(
    input: torch.Tensor, weight: torch.Tensor, bias=None, p=0.5, training=True, inplace=False
) -> torch.Tensor:
    return F.dropout(torch.sigmoid(F.linear(input, weight, bias)), p, training, inplace)


def inputs(make, shape, features, bias=True, p=0.5, training=True, inplace=False, gain=1.0, strided=False):
    """Weights are scaled by ``gain`` / sqrt(in_features), as in a network: the logistic function is not saturated."""
    x, w = make.floats(*shape), make.plain(features, shape[-1]) * gain * shape[-1] ** -0.5
    if strided:
        x, w = make.strided(x), make.strided(w)
    return call(x, w, make.plain(features) if bias else None, p=p, training=training, inplace=inplace)


def check(args, kwargs, results, expected):
    x, w, b = (None if t is None else t.double() for t in args)
    p = kwargs["p"] if kwargs["training"] else 0.0
    if p == 1:
        return ["p = 1, yet not all zero"] if any((r != 0).any() for r in results) else []
    y = torch.sigmoid(F.linear(x, w, b))
    error = _rounding(x, w, b, y)
    seen = y > 1e-30
    for r in results:
        wrong = ((r.double() * (1 - p) - y).abs() > error) & ((r != 0) | (seen if p == 0 else False))
        if wrong.any() or not r.isfinite().all():
            return [f"{int(wrong.sum())} kept elements are not sigmoid(linear) / (1 - p)"]
    return mask_complaints([r != 0 for r in results], p, y, seen)


def _rounding(x, w, b, y):
    """What float32 may be off: the dot product's rounding through the slope of the logistic function, and its own."""
    u, k = torch.finfo(torch.float32).eps, x.shape[-1]
    size = F.linear(x.abs(), w.abs(), None if b is None else b.abs())
    return u * (4 + k**0.5) * size * y * (1 - y) + 8 * u * y + 1e-37


CONTRACT = Random(check, strides="contiguous")


def _dropped(y, mask, p):
    return y * mask / (1 - p) if p < 1 else torch.zeros_like(y)


def positive_own_mask(input, weight, bias=None, p=0.5, training=True, inplace=False):
    z = (input.unsqueeze(-2) * weight).sum(-1)
    y = torch.sigmoid(z if bias is None else z + bias)
    return _dropped(y, torch.rand_like(y) >= p, p) if training else y


def negative_not_rescaled(input, weight, bias=None, p=0.5, training=True, inplace=False):
    y = torch.sigmoid(F.linear(input, weight, bias))
    return y * (torch.rand_like(y) >= p) if training else y


def negative_keeps_with_probability_p(input, weight, bias=None, p=0.5, training=True, inplace=False):
    y = torch.sigmoid(F.linear(input, weight, bias))
    return _dropped(y, torch.rand_like(y) < p, p) if training else y


def negative_drops_in_inference(input, weight, bias=None, p=0.5, training=True, inplace=False):
    return F.dropout(torch.sigmoid(F.linear(input, weight, bias)), p)


def negative_never_drops(input, weight, bias=None, p=0.5, training=True, inplace=False):
    return torch.sigmoid(F.linear(input, weight, bias))


def negative_dropout_before_sigmoid(input, weight, bias=None, p=0.5, training=True, inplace=False):
    return torch.sigmoid(F.dropout(F.linear(input, weight, bias), p, training))


def negative_same_mask_every_call(input, weight, bias=None, p=0.5, training=True, inplace=False):
    y = torch.sigmoid(F.linear(input, weight, bias))
    fixed = torch.rand(y.shape, generator=torch.Generator().manual_seed(0)).to(y.device)
    return _dropped(y, fixed >= p, p) if training else y


def negative_one_decision_per_row(input, weight, bias=None, p=0.5, training=True, inplace=False):
    y = torch.sigmoid(F.linear(input, weight, bias))
    return _dropped(y, torch.rand_like(y[..., :1]) >= p, p) if training else y


def negative_same_row_mask(input, weight, bias=None, p=0.5, training=True, inplace=False):
    """A stream that starts anew in every row."""
    y = torch.sigmoid(F.linear(input, weight, bias))
    return _dropped(y, torch.rand(y.shape[-1], device=y.device) >= p, p) if training else y


def negative_drops_the_smallest(input, weight, bias=None, p=0.5, training=True, inplace=False):
    y = torch.sigmoid(F.linear(input, weight, bias))
    return _dropped(y, y >= y.quantile(p), p) if training and y.numel() else y


def negative_half_precision(input, weight, bias=None, p=0.5, training=True, inplace=False):
    y = torch.sigmoid(F.linear(input.half().float(), weight.half().float(), bias))
    return F.dropout(y, p, training)
