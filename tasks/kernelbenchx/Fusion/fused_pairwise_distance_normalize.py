"""Distances between the rows of two matrices, each row divided by its norm first.

`fused_pairwise_distance_normalize(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-6, keepdim=False)`

1. Rows are normalized: `u = x1 / max(‖x1‖_p, eps_norm)`, `v = x2 / max(‖x2‖_p, eps_norm)`, the norms along dimension 1.
2. `distance = ‖u - v + eps_distance‖_p`, row by row: `eps_distance` is added to every element of the difference.

`‖z‖_p = (Σ |z_i|^p)^(1/p)` with `p = p_norm ≥ 1`, the largest `|z_i|` for `p = inf`; the same `p` in both steps. A row of zeros
stays zero.

`x1` and `x2` are float32 matrices of shape `(N, D)`; one of them may have one row, which then stands against each row of
the other. The result is a contiguous float32 tensor of shape `(N,)`, or `(N, 1)` with `keepdim=True`. Arguments may be
non-contiguous and `N` may be 0. Errors are judged relative to the size of the normalized rows, 1.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("fusion", "normalization", "reduction", "memory-bound")

CASES = [
    dict(shape=(1, 1)),
    dict(shape=(37, 65)),
    dict(shape=(13, 33), p_norm=1.0, keepdim=True),
    dict(shape=(9, 18), p_norm=3.0, strided=True),
    dict(shape=(21, 7), p_norm=float("inf"), eps_distance=0.2),
    dict(shape=(8, 40), second=(1, 40), eps_norm=25.0),
    dict(shape=(1, 19), second=(6, 19), eps_distance=0.1, keepdim=True),
    dict(shape=(11, 16), zero_rows=True),
    dict(shape=(0, 5)),
]

SIZES = [
    dict(shape=(64, 128)),
    dict(shape=(8192, 128)),
    dict(shape=(65536, 512)),
    dict(shape=(262144, 256), p_norm=1.0),
]

CONTRACT = Close(scale=1.0, strides="contiguous")


def fused_pairwise_distance_normalize(
    x1: torch.Tensor,
    x2: torch.Tensor,
    p_norm: float = 2.0,
    eps_norm: float = 1e-12,
    eps_distance: float = 1e-06,
    keepdim: bool = False,
) -> torch.Tensor:
    u, v = F.normalize(x1, p_norm, 1, eps_norm), F.normalize(x2, p_norm, 1, eps_norm)
    return F.pairwise_distance(u, v, p_norm, eps_distance, keepdim)


def inputs(
    make,
    shape,
    second=None,
    p_norm=2.0,
    eps_norm=1e-12,
    eps_distance=1e-6,
    keepdim=False,
    zero_rows=False,
    strided=False,
):
    x1, x2 = make.floats(*shape), make.floats(*(second or shape))
    if zero_rows:
        x1[::3] = 0
        x2[::2] = 0
    if strided:
        x1, x2 = make.strided(x1), make.strided(x2)
    return call(x1, x2, p_norm=p_norm, eps_norm=eps_norm, eps_distance=eps_distance, keepdim=keepdim)


def _norm(x, p, keepdim):
    sizes = x.abs()
    if p == float("inf"):
        return sizes.amax(1, keepdim=keepdim)
    return sizes.pow(p).sum(1, keepdim=keepdim).pow(1 / p)


def positive_formula(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    u, v = (x * (1 / _norm(x, p_norm, True).clamp(min=eps_norm)) for x in (x1, x2))
    return _norm(u - v + eps_distance, p_norm, keepdim)


def negative_always_euclidean(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    return fused_pairwise_distance_normalize(x1, x2, 2.0, eps_norm, eps_distance, keepdim)


def negative_euclidean_norms(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    """Uses p for the distance alone."""
    u, v = F.normalize(x1, 2, 1, eps_norm), F.normalize(x2, 2, 1, eps_norm)
    return F.pairwise_distance(u, v, p_norm, eps_distance, keepdim)


def negative_eps_norm_added(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    u, v = (x / (_norm(x, p_norm, True) + eps_norm) for x in (x1, x2))
    return F.pairwise_distance(u, v, p_norm, eps_distance, keepdim)


def negative_eps_distance_subtracted(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    return fused_pairwise_distance_normalize(x1, x2, p_norm, eps_norm, -eps_distance, keepdim)


def negative_eps_distance_added_once(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    return fused_pairwise_distance_normalize(x1, x2, p_norm, eps_norm, 0.0, keepdim) + eps_distance


def negative_not_normalized(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    return F.pairwise_distance(x1, x2, p_norm, eps_distance, keepdim)
