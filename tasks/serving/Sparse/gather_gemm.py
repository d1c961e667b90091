"""Sparse convolution as a gathered product: each voxel adds up what its neighbours give by the weights of their places.

`gather_gemm(x, neighbours, weight)` is the bfloat16 tensor `(M, N)`

    out[m] = sum over p with neighbours[m, p] ≥ 0 of x[neighbours[m, p]] @ weight[p].

- `x` is bfloat16 `(V, C)`, the features of the voxels; `weight` is bfloat16 `(P, C, N)`, a matrix for each of the `P` places of the convolution's
  window.
- `neighbours` is int32 `(M, P)`: the row of `x` at that place, or −1 where there is no voxel, which gives nothing. Most places of a window are empty.
- Sums are float32, rounded once.

All are contiguous, `V, M, C, N ≥ 1`; the result is new and contiguous.

Sizes: layers of MinkUNet-42 (3 × 3 × 3 windows, 32 to 256 channels) on scans as of SemanticKITTI (about 100,000 voxels, fewer at coarser levels),
and the input and downsampling (2 × 2 × 2) layers of CenterPoint's voxel backbone, after their papers. Weights are in proportion to the flops of a
dense window, halved where layers come once.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 4
DTYPE = "bfloat16"
TAGS = ("sparse", "matmul", "gather", "tensor-core")
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small", "wide", "zeros")

CASES = [
    dict(voxels=67, rows=67, places=27, inside=16, outside=32),
    dict(voxels=131, rows=45, places=8, inside=33, outside=19),
    dict(voxels=37, rows=130, places=9, inside=64, outside=48),
    dict(voxels=5, rows=19, places=27, inside=4, outside=16),
    dict(voxels=1, rows=1, places=1, inside=1, outside=1),
    dict(voxels=300, rows=33, places=3, inside=130, outside=65),
    dict(voxels=64, rows=64, places=8, inside=32, outside=32, kept=0.0),
    dict(voxels=50, rows=90, places=9, inside=20, outside=40, kept=0.9),
]

SIZES = [
    dict(voxels=100000, rows=100000, places=27, inside=32, outside=32),
    dict(voxels=100000, rows=60000, places=8, inside=32, outside=64),
    dict(voxels=60000, rows=60000, places=27, inside=64, outside=64),
    dict(voxels=30000, rows=30000, places=27, inside=128, outside=128),
    dict(voxels=12000, rows=12000, places=27, inside=256, outside=256),
    dict(voxels=120000, rows=120000, places=27, inside=16, outside=16),
]
WEIGHTS = [2.8, 0.5, 6.6, 13.3, 21.2, 0.8]

CONTRACT = Close(strides="contiguous")


def gather_gemm(x, neighbours, weight):
    wide = torch.promote_types(x.dtype, torch.float32)
    out = torch.zeros(neighbours.shape[0], weight.shape[2], dtype=wide, device=x.device)
    for place, matrix in zip(neighbours.T, weight.to(wide), strict=True):
        found = torch.where((place >= 0)[:, None], x[place.clamp(min=0)], 0)
        out += found.to(wide) @ matrix
    return out.to(x.dtype)


def inputs(make, voxels, rows, places, inside, outside, kept=0.3):
    """`kept`: the part of the places that have a voxel; the middle one always has, but for 0."""
    neighbours = make.ints(rows, places, low=0, high=voxels, dtype=torch.int32)
    hidden = make.bools(rows, places, p=1 - kept)
    hidden[:, places // 2] = kept == 0
    weight = make.plain(places, inside, outside) * inside**-0.5
    return call(make.floats(voxels, inside), neighbours.masked_fill(hidden, -1), weight)


def _dense(x, neighbours, weight):
    """Features of all places, `(M, P, C)`, with zeros where there is none."""
    found = x[neighbours.clamp(min=0)].float()
    return found * (neighbours >= 0)[..., None]


def positive_one_product(x, neighbours, weight):
    """All places side by side."""
    gathered = _dense(x, neighbours, weight).flatten(1)
    return (gathered @ weight.float().flatten(0, 1)).to(x.dtype)


def positive_backwards_over_places(x, neighbours, weight):
    gathered, acc = _dense(x, neighbours, weight), 0
    for p in reversed(range(weight.shape[0])):
        acc = acc + gathered[:, p] @ weight[p].float()
    return acc.to(x.dtype)


def negative_last_row_for_empty(x, neighbours, weight):
    """Takes −1 for the last row."""
    return (x[neighbours].float().flatten(1) @ weight.float().flatten(0, 1)).to(x.dtype)


def negative_first_row_for_empty(x, neighbours, weight):
    gathered = x[neighbours.clamp(min=0)].float().flatten(1)
    return (gathered @ weight.float().flatten(0, 1)).to(x.dtype)


def negative_row_zero_taken_for_empty(x, neighbours, weight):
    return positive_one_product(x, torch.where(neighbours > 0, neighbours, -1), weight)


def negative_places_reversed(x, neighbours, weight):
    return positive_one_product(x, neighbours.flip(1), weight)


def negative_weights_transposed(x, neighbours, weight):
    """Where matrices are square; else rows in another order."""
    other = weight.mT if weight.shape[1] == weight.shape[2] else weight.flip(1)
    return positive_one_product(x, neighbours, other.contiguous())


def negative_middle_place_only(x, neighbours, weight):
    kept = torch.full_like(neighbours, -1)
    kept[:, weight.shape[0] // 2] = neighbours[:, weight.shape[0] // 2]
    return positive_one_product(x, kept, weight)


def negative_last_place_left_out(x, neighbours, weight):
    return positive_one_product(x, torch.cat([neighbours[:, :-1], torch.full_like(neighbours[:, :1], -1)], 1), weight)


def negative_mean_over_places(x, neighbours, weight):
    gathered = _dense(x, neighbours, weight).flatten(1)
    counts = (neighbours >= 0).sum(1, keepdim=True).clamp(min=1)
    return (gathered @ weight.float().flatten(0, 1) / counts).to(x.dtype)


def negative_rounded_after_each_place(x, neighbours, weight):
    """Adds up in bfloat16, as a scatter of finished products does."""
    gathered = _dense(x, neighbours, weight)
    acc = torch.zeros(neighbours.shape[0], weight.shape[2], dtype=x.dtype, device=x.device)
    for p in range(weight.shape[0]):
        acc = acc + (gathered[:, p] @ weight[p].float()).to(x.dtype)
    return acc


def negative_channels_cut_to_blocks(x, neighbours, weight):
    """Leaves out channels beyond a multiple of 16."""
    kept = x.clone()
    kept[:, x.shape[1] // 16 * 16 :] = 0
    return positive_one_product(kept, neighbours, weight)
