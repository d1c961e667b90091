"""Cosine similarity of vectors that are normalized by a `p`-norm first.

`normalized_cosine_similarity(x1, x2, dim=1, eps_similarity=1e-8, p_norm=2, eps_norm=1e-12)`

1. `u = x1 / max(‖x1‖_p, eps_norm)` and `v = x2 / max(‖x2‖_p, eps_norm)`, the norms along `dim`, with `p = p_norm ≥ 1`:
   `‖z‖_p = (Σ |z_i|^p)^(1/p)`, the largest `|z_i|` for `p = inf`.
2. `similarity = Σ u_i v_i / (max(‖u‖_2, eps_similarity) · max(‖v‖_2, eps_similarity))`, sums and Euclidean norms along `dim`.

`x1` and `x2` are float32 tensors with equally many dimensions and the same size along `dim`, which may be negative; in the
others `x2` has the size of `x1` or 1, and is broadcast. The result is a new, contiguous float32 tensor of `x1`'s shape without
`dim`. The similarity with a vector of zeros is 0. Arguments may be non-contiguous, and dimensions but `dim` may be 0.
Errors are judged relative to the sum of `|u_i v_i|` over the same denominator.
"""

import torch.nn.functional as F
from torch import Tensor

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "float32"
TAGS = ("normalization", "reduction", "memory-bound")
MAGNITUDES = (-52, 56)

CASES = [
    dict(shape=(13, 65)),
    dict(shape=(37, 19), dim=0),
    dict(shape=(9, 70), p_norm=1),
    dict(shape=(6, 31), eps_norm=1e-10),
    dict(shape=(1, 29), dim=0),
    dict(shape=(7, 1031), zero_rows=True),
    dict(shape=(1, 1)),
    dict(shape=(13, 64), strided=True),
    dict(shape=(5, 17, 9)),
    dict(shape=(3, 4, 33), second=(1, 4, 33)),
    dict(shape=(3, 33), dim=-1),
    dict(shape=(3, 34), p_norm=3),
    dict(shape=(7, 20), p_norm=float("inf")),
    dict(shape=(9, 71), p_norm=1, eps_similarity=0.5),
    dict(shape=(6, 31), eps_norm=50.0, eps_similarity=0.3),
    dict(shape=(6, 30), eps_norm=50.0),
    dict(shape=(0, 5)),
]

SIZES = [
    dict(shape=(64, 1024)),
    dict(shape=(2048, 1024)),
    dict(shape=(65536, 1024)),
    dict(shape=(16384, 2048), dim=1),
]


def magnitude(x1, x2, dim=1, eps_similarity=1e-8, p_norm=2, eps_norm=1e-12):
    """Rounding errors of the inner product grow with its terms, not with what is left after cancellation."""
    return normalized_cosine_similarity(x1.double().abs(), x2.double().abs(), dim, eps_similarity, p_norm, eps_norm)


CONTRACT = Close(scale=magnitude, strides="contiguous")


def normalized_cosine_similarity(
    x1: Tensor, x2: Tensor, dim: int = 1, eps_similarity: float = 1e-08, p_norm: float = 2, eps_norm: float = 1e-12
) -> Tensor:
    u, v = F.normalize(x1, p_norm, dim, eps_norm), F.normalize(x2, p_norm, dim, eps_norm)
    return F.cosine_similarity(u, v, dim, eps_similarity)


def inputs(make, shape, second=None, zero_rows=False, strided=False, **options):
    x1, x2 = make.floats(*shape), make.floats(*(second or shape))
    if zero_rows:
        x1[::3] = 0
    if strided:
        x1, x2 = make.strided(x1), make.strided(x2)
    return call(x1, x2, **options)


def _norm(x, p, dim):
    sizes = x.abs()
    if p == float("inf"):
        return sizes.amax(dim, keepdim=True)
    return sizes.pow(p).sum(dim, keepdim=True).pow(1 / p)


def _similarity(u, v, dim, eps):
    sizes = (_norm(u, 2, dim).clamp(min=eps) * _norm(v, 2, dim).clamp(min=eps)).squeeze(dim)
    return (u * v).sum(dim) / sizes


def positive_formula(x1, x2, dim=1, eps_similarity=1e-08, p_norm=2, eps_norm=1e-12):
    u, v = (x / _norm(x, p_norm, dim).clamp(min=eps_norm) for x in (x1, x2))
    return _similarity(u, v, dim, eps_similarity)


def positive_divided_at_the_end(x1, x2, dim=1, eps_similarity=1e-08, p_norm=2, eps_norm=1e-12):
    """Sums of the plain elements; all scalars are applied to them."""
    a, b = (_norm(x, p_norm, dim).clamp(min=eps_norm) for x in (x1, x2))
    c, d = ((_norm(x, 2, dim) / n).clamp(min=eps_similarity) for x, n in ((x1, a), (x2, b)))
    return (x1 * x2).sum(dim) / (a * b * c * d).squeeze(dim)


def negative_eps_under_the_root(x1, x2, dim=1, eps_similarity=1e-08, p_norm=2, eps_norm=1e-12):
    u, v = F.normalize(x1, p_norm, dim, eps_norm), F.normalize(x2, p_norm, dim, eps_norm)
    sizes = ((u * u).sum(dim) + eps_similarity**2).sqrt() * ((v * v).sum(dim) + eps_similarity**2).sqrt()
    return (u * v).sum(dim) / sizes


def negative_eps_of_the_product(x1, x2, dim=1, eps_similarity=1e-08, p_norm=2, eps_norm=1e-12):
    """Compares the product of the norms with the epsilon instead of each norm."""
    u, v = F.normalize(x1, p_norm, dim, eps_norm), F.normalize(x2, p_norm, dim, eps_norm)
    sizes = _norm(u, 2, dim) * _norm(v, 2, dim)
    return (u * v).sum(dim) / sizes.clamp(min=eps_similarity).squeeze(dim)


def negative_not_normalized(x1, x2, dim=1, eps_similarity=1e-08, p_norm=2, eps_norm=1e-12):
    return F.cosine_similarity(x1, x2, dim, eps_similarity)


def negative_inner_product(x1, x2, dim=1, eps_similarity=1e-08, p_norm=2, eps_norm=1e-12):
    """Takes the normalized vectors for unit vectors."""
    return (F.normalize(x1, p_norm, dim, eps_norm) * F.normalize(x2, p_norm, dim, eps_norm)).sum(dim)


def negative_last_dimension(x1, x2, dim=1, eps_similarity=1e-08, p_norm=2, eps_norm=1e-12):
    u, v = F.normalize(x1, p_norm, -1, eps_norm), F.normalize(x2, p_norm, -1, eps_norm)
    return F.cosine_similarity(u, v, -1, eps_similarity)
