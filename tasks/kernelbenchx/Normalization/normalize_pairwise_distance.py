"""Distances between the vectors of two tensors, divided by their norm along one dimension.

`normalize_pairwise_distance(x1, x2, p_distance=2.0, eps_distance=1e-6, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12)`

1. `d = ‖x1 - x2‖_p + eps_distance` with `p = p_distance`, along the last dimension: `eps_distance` is added to the distance,
   not to the elements of the difference. `d` has the shape of `x1` without the last dimension, or with size 1 there if `keepdim`.
2. `d / max(‖d‖_q, eps_norm)` with `q = p_norm`, the norm along dimension `dim_norm` of `d`, which may be negative.

`‖z‖_p = (Σ |z_i|^p)^(1/p)` with `p ≥ 1`, and the largest `|z_i|` for `p = inf`.

`x1` and `x2` are float32 tensors of one shape `(…, D)`; for matrices without `keepdim`, `d` is one-dimensional and `dim_norm`
must be 0 or -1. They may be non-contiguous, and dimensions but the last may be 0 where no largest element is asked for.
The result is a new, contiguous float32 tensor of `d`'s shape.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("normalization", "reduction", "memory-bound")
MAGNITUDES = (-104, 56)

CASES = [
    dict(shape=(3, 13, 37)),
    dict(shape=(29, 18), dim_norm=0, p_distance=1.0),
    dict(shape=(17, 5, 35), p_distance=1.0),
    dict(shape=(31, 7), dim_norm=0),
    dict(shape=(2, 33, 129)),
    dict(shape=(1, 1), dim_norm=0),
    dict(shape=(29, 17), dim_norm=0, strided=True),
    dict(shape=(5, 9, 21), p_norm=1),
    dict(shape=(5, 9, 20), p_norm=float("inf")),
    dict(shape=(5, 9, 19), p_distance=3.0),
    dict(shape=(11, 8), p_distance=float("inf"), dim_norm=0),
    dict(shape=(4, 7, 17), keepdim=True),
    dict(shape=(4, 7, 16), dim_norm=-1),
    dict(shape=(4, 7, 15), eps_distance=0.3),
    dict(shape=(6, 4, 33), eps_norm=1e3),
    dict(shape=(2, 3, 5, 19)),
    dict(shape=(0, 4, 5)),
]

SIZES = [
    dict(shape=(16, 16, 128)),
    dict(shape=(16, 1024, 128)),
    dict(shape=(16, 8192, 128)),
    dict(shape=(16, 32768, 128)),
]

CONTRACT = Close(strides="contiguous")


def normalize_pairwise_distance(
    x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    return F.normalize(_distance(x1, x2, p_distance, eps_distance, keepdim), p_norm, dim_norm, eps_norm)


def _distance(x1, x2, p, eps, keepdim):
    return torch.linalg.vector_norm(x1 - x2, p, -1, keepdim) + eps


def inputs(make, shape, strided=False, **options):
    x1, x2 = make.floats(*shape), make.floats(*shape)
    return call(make.strided(x1), make.strided(x2), **options) if strided else call(x1, x2, **options)


def _norm(x, p, dim, keepdim):
    sizes = x.abs()
    if p == float("inf"):
        return sizes.amax(dim, keepdim=keepdim)
    return sizes.pow(p).sum(dim, keepdim=keepdim).pow(1 / p)


def positive_formula(x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12):
    d = eps_distance + _norm(x2 - x1, p_distance, -1, keepdim)
    return d * (1 / _norm(d, p_norm, dim_norm, True).clamp(min=eps_norm))


def negative_not_normalized(
    x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    return _distance(x1, x2, p_distance, eps_distance, keepdim)


def negative_normalized_over_all(
    x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    d = _distance(x1, x2, p_distance, eps_distance, keepdim)
    return d / torch.linalg.vector_norm(d, 2).clamp(min=eps_norm)


def negative_exponents_swapped(
    x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    return normalize_pairwise_distance(x1, x2, p_norm, eps_distance, keepdim, p_distance, dim_norm, eps_norm)


def negative_eps_norm_added(
    x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    d = _distance(x1, x2, p_distance, eps_distance, keepdim)
    return d / (_norm(d, p_norm, dim_norm, True) + eps_norm)


def negative_eps_distance_of_elements(
    x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    """Adds the epsilon to every element of the difference, as torch's pairwise_distance does."""
    d = F.pairwise_distance(x1, x2, p_distance, eps_distance, keepdim)
    return F.normalize(d, p_norm, dim_norm, eps_norm)


def negative_ignores_eps_distance(
    x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    return normalize_pairwise_distance(x1, x2, p_distance, 0.0, keepdim, p_norm, dim_norm, eps_norm)


def negative_first_dimension(
    x1, x2, p_distance=2.0, eps_distance=1e-06, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    """Normalizes along dimension 0, whatever is asked for."""
    d = _distance(x1, x2, p_distance, eps_distance, keepdim)
    return F.normalize(d, p_norm, 0, eps_norm)
