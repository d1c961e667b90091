"""Reduction of segments of rows, whose borders are given: messages at the nodes of a graph, or the bags of an embedding.

`segment_reduce(x, offsets, reduce='sum')` returns the bfloat16 tensor `(S, D)` whose row `s` is made of the rows `offsets[s] … offsets[s + 1] −
1` of `x`: their `'sum'`, their `'mean'`, or the `'max'` of each column. A segment without rows gives zeros, whatever `reduce` is.

- `x` is bfloat16 `(E, D)`, `offsets` int64 `(S + 1,)`, not decreasing, from 0 to `E`; both are contiguous, `E ≥ 1`, `S ≥ 1`. The result is new
  and contiguous.
- Sums are float32, rounded once. Segments differ very much: most have few rows, some have thousands.

Sizes: neighbourhoods as in ogbn-products (128 features, 25 neighbours in the mean, a part of its nodes) and ogbn-arxiv (128, 7), the hidden sizes
of GraphSAGE on them (256), and the bags of MLPerf's DLRM-DCNv2 (128 wide, 10 to 100 ids each), after their descriptions; and the sums over each
token's eight experts of DeepSeek-V3 (7168). Weights are in proportion to the elements.
"""

import torch

from kbx.suite import Close, call

DIFFICULTY = 3
DTYPE = "bfloat16"
TAGS = ("sparse", "reduction", "memory-bound")

CASES = [
    dict(segments=37, rows=131, width=45),
    dict(segments=131, rows=300, width=33, reduce="mean"),
    dict(segments=5, rows=257, width=64, reduce="max"),
    dict(segments=1, rows=1031, width=17),
    dict(segments=19, rows=1, width=130, reduce="max"),
    dict(segments=64, rows=515, width=1, reduce="mean"),
    dict(segments=300, rows=67, width=16),
    dict(segments=7, rows=2049, width=19, reduce="mean"),
    dict(segments=33, rows=900, width=67, reduce="max"),
]

SIZES = [
    dict(segments=169343, rows=1166243, width=128, reduce="mean"),
    dict(segments=100000, rows=2500000, width=128),
    dict(segments=100000, rows=2500000, width=256, reduce="max"),
    dict(segments=65536, rows=1310720, width=128),
    dict(segments=16384, rows=131072, width=7168, even=True),
    dict(segments=4096, rows=409600, width=128, reduce="mean"),
]
WEIGHTS = [1.7, 3.4, 6.7, 1.8, 11, 0.6]


def _terms(x, offsets, reduce="sum"):
    """The norm of what is added up, which rounding errors are relative to; a largest element has none."""
    if reduce == "max":
        return 0.0
    counts = offsets.diff()
    owners = torch.repeat_interleave(torch.arange(len(counts), device=x.device), counts, output_size=len(x))
    squares = torch.zeros(len(counts), x.shape[1], dtype=torch.float64, device=x.device)
    norm = squares.index_add_(0, owners, x.double().square()).sqrt_()
    return norm / counts.clamp(min=1)[:, None] if reduce == "mean" else norm


CONTRACT = Close(scale=_terms, strides="contiguous")


def segment_reduce(x, offsets, reduce: str = "sum"):
    counts, width = offsets.diff(), x.shape[1]
    owners = torch.repeat_interleave(torch.arange(len(counts), device=x.device), counts, output_size=len(x))
    out = torch.zeros(len(counts), width, dtype=torch.promote_types(x.dtype, torch.float32), device=x.device)
    if reduce == "max":
        out.index_reduce_(0, owners, x.to(out.dtype), "amax", include_self=False)
    else:
        out.index_add_(0, owners, x.to(out.dtype))
    if reduce == "mean":
        out /= counts.clamp(min=1)[:, None]
    return out.to(x.dtype)


def inputs(make, segments, rows, width, reduce="sum", even=False):
    """Segments' borders are drawn so that few are long and some are empty, or `even`."""
    if even:
        offsets = torch.arange(segments + 1, device=make.device) * (rows // segments)
    else:
        cuts = rows * make.plain(segments - 1, dtype=torch.float64, low=0.0, high=1.0) ** 2
        ends = torch.tensor([0, rows], device=make.device)
        offsets = torch.cat([ends[:1], cuts.long().sort().values, ends[1:]])
    return call(make.floats(rows, width), offsets, reduce=reduce)


def _each(x, offsets, reduce, empty=0.0):
    """Row by row; `empty` is what a segment without rows gives."""
    counts = offsets.diff()
    out = torch.full((len(counts), x.shape[1]), empty, device=x.device)
    for s, part in enumerate(x.float().split(counts.tolist())):
        if len(part):
            out[s] = part.amax(0) if reduce == "max" else part.sum(0) / (len(part) if reduce == "mean" else 1)
    return out.to(x.dtype)


def positive_segment_by_segment(x, offsets, reduce="sum"):
    return _each(x, offsets, reduce)


def positive_differences_of_running_sums(x, offsets, reduce="sum"):
    """In float64, since a difference of long sums keeps few bits."""
    if reduce == "max":
        return _each(x, offsets, reduce)
    running = torch.nn.functional.pad(x.double().cumsum(0), (0, 0, 1, 0))
    out = running[offsets[1:]] - running[offsets[:-1]]
    return (out / offsets.diff().clamp(min=1)[:, None] if reduce == "mean" else out).to(x.dtype)


def negative_lowest_number_of_empty_segments(x, offsets, reduce="sum"):
    return _each(x, offsets, reduce, empty=float("-inf") if reduce == "max" else 0.0)


def negative_mean_divides_by_zero(x, offsets, reduce="sum"):
    return _each(x, offsets, reduce, empty=float("nan") if reduce == "mean" else 0.0)


def negative_largest_begins_with_zero(x, offsets, reduce="sum"):
    out = _each(x, offsets, reduce)
    return out.clamp(min=0) if reduce == "max" else out


def negative_last_row_left_out(x, offsets, reduce="sum"):
    """Of segments with more than one."""
    ends = torch.where(offsets.diff() > 1, offsets[1:] - 1, offsets[1:])
    kept = torch.ones(len(x), dtype=torch.bool, device=x.device)
    kept[(offsets[1:] - 1)[offsets.diff() > 1]] = False
    counts = torch.nn.functional.pad((ends - offsets[:-1]).cumsum(0), (1, 0))
    return _each(x[kept], counts, reduce)


def negative_borders_off_by_one(x, offsets, reduce="sum"):
    return _each(x, torch.nn.functional.pad((offsets[1:-1] + 1).clamp(max=len(x)), (1, 1)) + _ends(offsets), reduce)


def _ends(offsets):
    """Zeros but for the last border."""
    ends = torch.zeros_like(offsets)
    ends[-1] = offsets[-1]
    return ends


def negative_always_sum(x, offsets, reduce="sum"):
    return _each(x, offsets, "sum")


def negative_mean_over_longest(x, offsets, reduce="sum"):
    """Divides by the length that segments are padded to."""
    out = _each(x, offsets, "sum" if reduce == "mean" else reduce)
    return (out.float() / offsets.diff().amax()).to(x.dtype) if reduce == "mean" else out


def negative_at_most_256_rows(x, offsets, reduce="sum"):
    """Goes over no more than a block of a segment."""
    counts = offsets.diff()
    kept = [part[:256] for part in x.split(counts.tolist())]
    borders = torch.nn.functional.pad(counts.clamp(max=256).cumsum(0), (1, 0))
    return (
        _each(torch.cat(kept), borders, "sum" if reduce == "mean" else reduce)
        if reduce == "sum"
        else _each(torch.cat(kept), borders, reduce)
    )


def negative_sums_in_bfloat16(x, offsets, reduce="sum"):
    if reduce == "max":
        return _each(x, offsets, reduce)
    counts, out = offsets.diff(), torch.zeros(len(offsets) - 1, x.shape[1], dtype=x.dtype, device=x.device)
    for s, part in enumerate(x.split(counts.tolist())):
        for row in part:
            out[s] += row
    return (out.float() / counts.clamp(min=1)[:, None]).to(x.dtype) if reduce == "mean" else out
