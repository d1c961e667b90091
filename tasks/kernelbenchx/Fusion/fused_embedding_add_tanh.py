"""Rows of a table picked by index, plus a tensor, then the hyperbolic tangent.

`fused_embedding_add_tanh(input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0,
scale_grad_by_freq=False, sparse=False, out=None)` computes `tanh(weight[input_indices] + other)`.

- `input_indices`: an int64 tensor of any shape `S`, with values in `[0, V)`. `weight`: float32 `(V, D)`.
  `other`: a float32 tensor that broadcasts to `(*S, D)`, the shape of the result.
- `max_norm`: if given, every row of `weight` that some index names is first shortened **in place**, in `weight` itself:
  with its norm `n = (Σ |w_j|^p)^(1/p)`, `p = norm_type` (1 or an even number), a row of `n > max_norm` is
  multiplied by `max_norm / (n + 1e-7)`, once, however often it is named. The shortened rows are what is picked. Rows
  that no index names stay as they are, and so does `weight` without `max_norm`.
- `padding_idx` (in `[-V, V)`), `scale_grad_by_freq` and `sparse` concern gradients only: they change nothing here, and
  the row at `padding_idx` is picked as any other.
- `out`: if given, a contiguous float32 tensor of the result's shape; it is filled and returned.

Arguments may be non-contiguous, expanded or empty (`weight` is contiguous where `max_norm` is given). Without `out` the
result is a new tensor with any strides. Sums reach several thousand, where the tangent is ±1.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("index", "gather", "elementwise", "memory-bound", "in-place", "fusion")
MAGNITUDES = (-104, 120)
MUTATES = ("weight",)

CASES = [
    dict(shape=(37,), rows=19, width=45, other=(37, 45)),
    dict(shape=(5, 7), rows=67, width=33, other=(5, 7, 33), padding_idx=0),
    dict(shape=(41,), rows=30, width=17, other=(41, 17), max_norm=1.0),
    dict(shape=(3,), rows=131, width=1031, other=(3, 1031), norm_type=1.0),
    dict(shape=(13, 3), rows=29, width=1, other=(13, 3, 1)),
    dict(shape=(1,), rows=1, width=1, other=(1, 1)),
    dict(shape=(37,), rows=19, width=45, other=(37, 45), out=True),
    dict(shape=(5, 7), rows=67, width=33, other=(5, 7, 33), strided=True),
    dict(shape=(5, 7), rows=67, width=33, other=(7, 33)),
    dict(shape=(3, 9), rows=23, width=50, other=()),
    dict(shape=(), rows=9, width=20, other=(20,)),
    dict(shape=(11,), rows=9, width=21, other=(11, 21), padding_idx=-1, scale_grad_by_freq=True, sparse=True),
    dict(shape=(11,), rows=9, width=21, other=(11, 21), max_norm=5.0, norm_type=1.0),
    dict(shape=(11,), rows=9, width=21, other=(11, 21), max_norm=1.0, norm_type=4.0),
    dict(shape=(0, 4), rows=5, width=6, other=(0, 4, 6)),
]

SIZES = [
    dict(shape=(4, 8), rows=1024, width=8, other=(4, 8, 8)),
    dict(shape=(64, 64), rows=1024, width=64, other=(64, 64, 64)),
    dict(shape=(8192,), rows=32768, width=1024, other=(8192, 1024), max_norm=1.0),
    dict(shape=(512, 512), rows=1024, width=512, other=(512, 512, 512)),
]


# A tangent made of exponentials, such as 2σ(2x) - 1, loses what is small against 1.
CONTRACT = Close(scale=1.0)


def fused_embedding_add_tanh(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    picked = F.embedding(input_indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    result = torch.tanh(torch.add(picked, other))
    return result if out is None else out.copy_(result)


def inputs(make, shape, rows, width, other, strided=False, out=False, **options):
    index = make.ints(*shape, low=0, high=rows)
    w, y = make.floats(rows, width), make.floats(*other)
    if strided:
        index, w, y = make.strided(index), make.strided(w), make.strided(y)
    return call(index, w, y, out=make.plain(*shape, width) if out else None, **options)


def _given(result, out):
    return result if out is None else out.copy_(result)


def _shortened(rows, max_norm, norm_type):
    norm = rows.abs().pow(norm_type).sum(-1, keepdim=True).pow(1 / norm_type)
    return torch.where(norm > max_norm, rows * (max_norm / (norm + 1e-7)), rows)


def positive_explicit(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    """Named rows shortened one by one, norms as powers, tanh through the logistic function."""
    if max_norm is not None:
        named = input_indices.long().flatten().unique()
        weight[named] = _shortened(weight[named], max_norm, norm_type)
    x = weight[input_indices.long()] + other
    return _given(2 * torch.sigmoid(2 * x) - 1, out)


def negative_weight_left_alone(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    """Shortens what was picked, not the table."""
    rows = weight[input_indices.long()]
    return _given(torch.tanh((rows if max_norm is None else _shortened(rows, max_norm, norm_type)) + other), out)


def negative_shortens_all_rows(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    """Rows that no index names too."""
    if max_norm is not None:
        weight.copy_(_shortened(weight, max_norm, norm_type))
    return _given(torch.tanh(weight[input_indices.long()] + other), out)


def negative_always_euclidean(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    picked = F.embedding(input_indices, weight, max_norm=max_norm)
    return _given(torch.tanh(picked + other), out)


def negative_padding_row_is_zero(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    picked = F.embedding(input_indices, weight, max_norm=max_norm, norm_type=norm_type)
    if padding_idx is not None:
        picked = picked.masked_fill((input_indices == padding_idx % len(weight)).unsqueeze(-1), 0.0)
    return _given(torch.tanh(picked + other), out)


def negative_ignores_out(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    return torch.tanh(F.embedding(input_indices, weight, max_norm=max_norm, norm_type=norm_type) + other)
