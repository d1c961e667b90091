"""Distances between all rows of one matrix and all rows of another, each row divided by its norm first.

`fused_pairwise_distance_normalize(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-6, keepdim=False)`

`x1`: float32 `(N, D)`, `x2`: float32 `(M, D)`.

1. Rows are normalized: `u = x1 / max(‖x1‖_p, eps_norm)`, `v = x2 / max(‖x2‖_p, eps_norm)`, row by row.
2. `distance[i, j] = max(‖u_i - v_j‖_p, eps_distance)` for every pair of a row `i` of `x1` and a row `j` of `x2`.

`‖z‖_p = (Σ |z_k|^p)^(1/p)` with `p = p_norm ≥ 1`, the largest `|z_k|` for `p = inf`; the same `p` in both steps. A row of zeros
stays zero.

The result is a contiguous float32 tensor of shape `(N, M)`, or `(N, M, 1)` with `keepdim=True`. Arguments may be
non-contiguous, and `N` or `M` may be 0. Errors are judged relative to the size of the normalized rows, 1: where rows are
nearly equal, `‖u‖² + ‖v‖² - 2 u·v` in float32 is too coarse. TF32 and half precision are not allowed.
"""

import torch
import torch.nn.functional as F

from kbx.suite import Close, call

DIFFICULTY = 2
DTYPE = "float32"
TAGS = ("fusion", "normalization", "reduction")
MAGNITUDES = (-104, 120)

CASES = [
    dict(shape=(37, 65), second=21),
    dict(shape=(13, 33), second=13, p_norm=1.0, keepdim=True),
    dict(shape=(8, 41), second=1, eps_norm=1e-10),
    dict(shape=(21, 7), second=5, p_norm=1.0),
    dict(shape=(11, 131), second=67, keepdim=True),
    dict(shape=(1, 1), second=1),
    dict(shape=(9, 18), second=14, strided=True),
    dict(shape=(9, 23), second=14, p_norm=3.0),
    dict(shape=(21, 7), second=5, p_norm=float("inf")),
    dict(shape=(8, 40), second=3, eps_norm=25.0),
    dict(shape=(1, 19), second=6, eps_distance=1.4, keepdim=True),
    dict(shape=(11, 16), second=12, zero_rows=True),
    dict(shape=(0, 5), second=3),
]

SIZES = [
    dict(shape=(64, 128), second=64),
    dict(shape=(1024, 128), second=1024),
    dict(shape=(2048, 256), second=2048, p_norm=1.0),
    dict(shape=(3072, 256), second=3072),
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
    return _finished(_distances(u, v, p_norm), eps_distance, keepdim)


def _distances(u, v, p):
    return torch.cdist(u, v, p, compute_mode="donot_use_mm_for_euclid_dist")


def _finished(distances, eps, keepdim):
    distances = distances.clamp(min=eps)
    return distances.unsqueeze(-1) if keepdim else distances


def inputs(
    make,
    shape,
    second,
    p_norm=2.0,
    eps_norm=1e-12,
    eps_distance=1e-6,
    keepdim=False,
    zero_rows=False,
    strided=False,
):
    x1, x2 = make.floats(*shape), make.floats(second, shape[1])
    if zero_rows:
        x1[::3] = 0
        x2[::2] = 0
    if strided:
        x1, x2 = make.strided(x1), make.strided(x2)
    return call(x1, x2, p_norm=p_norm, eps_norm=eps_norm, eps_distance=eps_distance, keepdim=keepdim)


def _norm(x, p, keepdim=False):
    sizes = x.abs()
    if p == float("inf"):
        return sizes.amax(-1, keepdim=keepdim)
    return sizes.pow(p).sum(-1, keepdim=keepdim).pow(1 / p)


def positive_formula(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    u, v = (x * (1 / _norm(x, p_norm, True).clamp(min=eps_norm)) for x in (x1, x2))
    return _finished(_norm(u.unsqueeze(1) - v, p_norm), eps_distance, keepdim)


def negative_always_euclidean(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    return fused_pairwise_distance_normalize(x1, x2, 2.0, eps_norm, eps_distance, keepdim)


def negative_euclidean_norms(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    """Uses p for the distance alone."""
    u, v = F.normalize(x1, 2, 1, eps_norm), F.normalize(x2, 2, 1, eps_norm)
    return _finished(_distances(u, v, p_norm), eps_distance, keepdim)


def negative_eps_norm_added(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    u, v = (x / (_norm(x, p_norm, True) + eps_norm) for x in (x1, x2))
    return _finished(_distances(u, v, p_norm), eps_distance, keepdim)


def negative_default_eps_norm(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    return fused_pairwise_distance_normalize(x1, x2, p_norm, 1e-12, eps_distance, keepdim)


def negative_eps_distance_ignored(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    return fused_pairwise_distance_normalize(x1, x2, p_norm, eps_norm, 0.0, keepdim)


def negative_eps_distance_in_difference(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    """Adds eps to every element of the difference, as a plain pairwise distance does."""
    u, v = F.normalize(x1, p_norm, 1, eps_norm), F.normalize(x2, p_norm, 1, eps_norm)
    return _finished(_distances(u + eps_distance, v, p_norm), 0.0, keepdim)


def negative_row_by_row(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    """Compares row i with row i only."""
    u, v = F.normalize(x1, p_norm, 1, eps_norm), F.normalize(x2, p_norm, 1, eps_norm)
    rows = min(len(u), len(v))
    return _norm(u[:rows] - v[:rows], p_norm, keepdim).clamp(min=eps_distance)


def negative_not_normalized(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-06, keepdim=False):
    return _finished(_distances(x1, x2, p_norm), eps_distance, keepdim)
