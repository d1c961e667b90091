"""What the wrong elements of a result hold: zeros, twice what is expected, what belongs one place further on.

A relation is named only if it explains nearly all of the errors, of enough elements that differ: what it says an element holds must be
``CLOSER`` times nearer to what the element does hold than the truth is, and than 0 is. Whether a place holds what belongs to another one is also asked of
places chosen at random, so that results of few different values show nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import torch

SAMPLED, FIRST = 1 << 14, 1 << 8
"""Wrong elements that are looked at, and those of them that are looked at first where many things are tried."""
SEARCHED = 1 << 22
"""Elements of a result that is searched for what a wrong element holds; and of a table of all pairs of indices."""
NEARLY_ALL = 0.97
LEAST = 8
"""Elements that a relation must explain."""
TELLING, CLAIMED = 0.5, 0.75
"""The least part of the errors that are large enough to tell, and of these the least part about which a relation says something."""
EVIDENCE = 30
"""Bits by which places must be righter than random ones."""
CLOSER = 16
ROUNDINGS = 4
"""Units in the last place by which an error must exceed the rounding of what a relation gives."""
SPREAD = 1 / 8
"""Standard deviation over root mean square of expected values that can tell a factor from a difference."""
ANCHORS, FOUND, PROBES = 4, 32, 12
"""Wrong elements for which the result is searched, places of each that are tried, and elements of a slice that must agree."""
MASKED, MOST_MASKED = 32, 0.5
"""Wrong elements of which one value is expected, and the most part of all elements of which it may be."""
FEW = 64
"""Elements by whose errors arithmetic shows."""
MOST_INDICES = 2048
"""Indices of a dimension whose slices are compared with each other."""


@dataclass(frozen=True)
class Sample:
    """Some of the wrong elements, or all: flat ``indices``, and values in double precision; ``truth`` is all that is expected, flat."""

    shape: tuple[int, ...]
    indices: torch.Tensor
    got: torch.Tensor
    expected: torch.Tensor
    truth: torch.Tensor
    dtype: torch.dtype

    @staticmethod
    def of(got: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor) -> Sample:
        """``wrong`` is a mask of the result's shape; the same elements every time."""
        indices = _some(wrong.reshape(-1))
        flat, truth = got.detach().reshape(-1), expected.detach().reshape(-1)
        return Sample(tuple(got.shape), indices, _double(flat[indices]), _double(truth[indices]), truth, got.dtype)

    def at(self, indices: torch.Tensor) -> torch.Tensor:
        """What is expected elsewhere."""
        return _double(self.truth[indices])

    @cached_property
    def few(self) -> Sample:
        """As many as show that most relations do not hold."""
        count = self.indices.numel()
        return self if count <= FIRST else self.only(torch.linspace(0, count - 1, FIRST, device=self.got.device).long())

    @cached_property
    def error(self) -> torch.Tensor:
        return (self.got - self.expected).abs()

    @cached_property
    def near(self) -> torch.Tensor:
        """How far from what an element holds a relation may be."""
        size = self.got.abs()
        return torch.maximum(torch.minimum(self.error, size) / CLOSER, self.ulp * size)

    @cached_property
    def telling(self) -> torch.Tensor:
        """Whether an element is so wrong that it can tell."""
        return self.error > ROUNDINGS * self.ulp * self.got.abs()

    @cached_property
    def told(self) -> int:
        return int(self.telling.count_nonzero())

    @property
    def ulp(self) -> float:
        return torch.finfo(self.dtype).eps if self.dtype.is_floating_point or self.dtype.is_complex else 0.0

    def only(self, kept: torch.Tensor) -> Sample:
        """The elements of a mask over the sample, or at places in it."""
        return Sample(self.shape, self.indices[kept], self.got[kept], self.expected[kept], self.truth, self.dtype)

    def coordinate(self, dim: int) -> torch.Tensor:
        """Each element's index of a dimension."""
        return self.indices // math.prod(self.shape[dim + 1 :]) % self.shape[dim]

    def explained(self, claimed: torch.Tensor, known: torch.Tensor | None = None) -> float:
        """Part of the elements that hold what is claimed, of those whose errors are large enough to tell; 0 where these are few.

        ``known``: elements about which something is claimed.
        """
        if self.told < TELLING * self.got.numel():
            return 0.0
        asked = self.telling if known is None else self.telling & known
        count = self.told if known is None else int(asked.count_nonzero())
        if count < max(LEAST, CLAIMED * self.told):
            return 0.0
        return int((asked & ((self.got - claimed).abs() <= self.near)).count_nonzero()) / count

    def holds(self, claimed: torch.Tensor) -> bool:
        return self.explained(claimed) >= NEARLY_ALL


_Source: TypeAlias = Callable[[Sample], tuple[torch.Tensor, torch.Tensor | None]]
"""For each element the flat index where its value may come from, and of which elements that is said: None for all."""


def relation_of(
    got: torch.Tensor,
    expected: torch.Tensor,
    wrong: torch.Tensor,
    arguments: Mapping[str, torch.Tensor],
    others: Mapping[str, torch.Tensor],
) -> str | None:
    """What the wrong elements hold, as the predicate of a sentence: ``are 2 times what is expected``; None where there is nothing to say.

    ``got``, ``expected`` and the mask ``wrong`` are of one shape, ``arguments``, and what is expected of ``others``, tensors of any.
    """
    sample, share = Sample.of(got, expected, wrong), int(wrong.count_nonzero()) / wrong.numel()
    return _one_value(sample) or _related(sample, share, arguments, others) or _should_be(sample)


def _related(
    sample: Sample, share: float, arguments: Mapping[str, torch.Tensor], others: Mapping[str, torch.Tensor]
) -> str | None:
    """What is true of values that vary; ``share`` is the part of the result that is wrong."""
    finite = sample.got.isfinite() & sample.expected.isfinite()
    kept = int(finite.count_nonzero())
    if sample.dtype == torch.bool or kept < max(LEAST, NEARLY_ALL * finite.numel()):
        return None
    sample = sample.only(finite)
    texts = itertools.chain(
        _of_others(sample, others),
        _scaled(sample),
        _of_arguments(sample, arguments),
        _elsewhere(sample),
        _by_index(sample),
        _coarser(sample, share),
    )
    return next(texts, None)


def _some(wrong: torch.Tensor) -> torch.Tensor:
    """Indices of wrong elements, in order, no more than ``SAMPLED``."""
    random = torch.Generator().manual_seed(0)
    if wrong.numel() > SEARCHED and int(wrong.count_nonzero()) > wrong.numel() // SAMPLED:
        # The indices of all that are wrong might take more room than the result.
        tried = torch.randint(wrong.numel(), (64 * SAMPLED,), generator=random).unique().to(wrong.device)
        indices: torch.Tensor = tried[wrong[tried]]
    else:
        indices = wrong.nonzero().reshape(-1)
    if indices.numel() > SAMPLED:
        chosen = torch.randint(indices.numel(), (SAMPLED,), generator=random).unique()
        indices = indices[chosen.to(indices.device)]
    return indices


def _double(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.complex128 if values.is_complex() else torch.float64)


def _one_value(sample: Sample) -> str | None:
    """The same value in nearly all, which is not a number, infinite, 0, or another."""
    got, count = sample.got, sample.got.numel()
    for what, there in (("not a number", got.isnan()), ("infinite", got.isinf())):
        if count > 1 and there.count_nonzero() >= NEARLY_ALL * count:
            return f"are {what}"
    if got.is_complex():
        value, there = 0.0, got == 0
    else:
        value = float(got.nan_to_num().median())
        there = got == value
    if int(there.count_nonzero()) < NEARLY_ALL * count or count < (2 if value == 0 else LEAST):
        return None
    return f"are {bool(value)}" if sample.dtype == torch.bool else f"are {value:.6g}"


def _should_be(sample: Sample) -> str | None:
    """That one value is expected of nearly all, and not of most elements: of those that are masked, clipped or cut off."""
    want = sample.expected
    if want.is_complex() or want.numel() < MASKED:
        return None
    value = want.nanmedian()
    usual = (_double(sample.truth[:SEARCHED]) == value).double().mean()
    if int((want == value).count_nonzero()) < NEARLY_ALL * want.numel() or usual > MOST_MASKED:
        return None
    return f"should be {bool(value)}" if sample.dtype == torch.bool else f"should be {float(value):.6g}"


def _of_others(sample: Sample, others: Mapping[str, torch.Tensor]) -> Iterator[str]:
    """What is expected of another output."""
    for path, expected in others.items():
        if tuple(expected.shape) == sample.shape and sample.holds(_double(expected.reshape(-1)[sample.indices])):
            yield f"hold what is expected of {path}"


def _spread(values: torch.Tensor) -> bool:
    """Whether values differ so much that a factor is no constant difference."""
    size = values.abs().square().mean().sqrt()
    return bool((values - values.mean()).abs().square().mean().sqrt() >= SPREAD * size) and _varied(values)


def _varied(values: torch.Tensor) -> bool:
    """Whether there are more than three different values."""
    return len({*values[:1024].tolist()}) > 3


def _scaled(sample: Sample) -> Iterator[str]:
    """One factor, or one difference."""
    got, want = sample.got, sample.expected
    if not _spread(want):
        return
    if got.is_complex():
        factor = (got * want.conj()).sum() / want.abs().square().sum()
        if sample.holds(want.conj()):
            yield "are the complex conjugates of what is expected"
    else:
        factor = (got[want != 0] / want[want != 0]).median()
        difference = (got - want).median()
        if sample.holds(want + difference):
            yield f"are what is expected {'plus' if difference > 0 else 'minus'} {abs(float(difference)):.{3 if sample.ulp > 1e-4 else 4}g}"
    if sample.holds(want * factor):
        times = _factor(factor.item(), sample.ulp)
        yield "have the other sign" if times == "-1" else f"are {times} times what is expected"


def _factor(value: complex, ulp: float) -> str:
    """A factor as text, with the digits that its values have."""
    if isinstance(value, complex):
        value = value.real if abs(value.imag) < 4 * ulp * abs(value) else value
    known = max(3, int(-math.log10(ulp))) if ulp else 4
    return f"{value:.{known if abs(value - 1) < 1e-2 else min(known, 4)}g}"


def _of_arguments(sample: Sample, arguments: Mapping[str, torch.Tensor]) -> Iterator[str]:
    """An argument itself, or what is expected without one that is added or multiplied."""
    for name, argument in arguments.items():
        values = _broadcast(sample, argument)
        if values is None:
            continue
        if sample.holds(values):
            yield f"hold the argument {name!r}"
        if not _varied(values):
            continue
        want = sample.expected
        for claimed, text in (
            (want - values, f"are what is expected without adding {name!r}"),
            (want + values, f"are what is expected with {name!r} added once more, or not subtracted"),
            (want / values, f"are what is expected without the factor {name!r}"),
            (want * values, f"are what is expected with the factor {name!r} once more, or without dividing by it"),
        ):
            if sample.explained(claimed, claimed.isfinite()) >= NEARLY_ALL:
                yield text


def _broadcast(sample: Sample, argument: torch.Tensor) -> torch.Tensor | None:
    """An argument's values at the sample's places where it broadcasts to the result; one of one dimension along any of its length."""
    if argument.numel() < 2 or argument.dtype == torch.bool or argument.dim() > len(sample.shape):
        return None
    if argument.is_complex() and not sample.got.is_complex():
        return None
    lengths = list(argument.shape)
    if len(lengths) == 1 and lengths[0] != sample.shape[-1] and lengths[0] in sample.shape:
        lengths += [1] * (len(sample.shape) - 1 - sample.shape.index(lengths[0]))
    if any(n not in (1, m) for n, m in zip(reversed(lengths), reversed(sample.shape), strict=False)):
        return None
    values = argument.detach().to(sample.got.device).reshape(lengths).expand(sample.shape)
    return _double(values[tuple(sample.coordinate(d) for d in range(len(sample.shape)))])


def _elsewhere(sample: Sample) -> Iterator[str]:
    """What belongs to other places: further on, in the other order, with dimensions swapped, at another index of a dimension."""
    shape = sample.shape
    dims = [d for d, n in enumerate(shape) if n > 1]
    for dim in dims:
        for step in (1, -1):
            if _moved(sample, _stepped(dim, step)):
                yield _further(step, f"dimension {dim}" if len(shape) > 1 else None)
        if _moved(sample, _reversed(dim)):
            yield f"hold what is expected in the opposite order{f' of dimension {dim}' if len(shape) > 1 else ''}"
    for order in _orders(dims, len(shape)):
        if _moved(sample, _permuted(order)):
            yield (
                "hold the result transposed"
                if len(shape) == 2
                else f"hold the result with its dimensions permuted, {tuple(order)}"
            )
    for step in _steps(sample):
        if _moved(sample, _stepped(None, step)):
            yield _further(*_named_step(step, shape))
    for dim in dims:
        yield from _other_slices(sample, dim)


def _stepped(dim: int | None, step: int) -> _Source:
    """``step`` further on along a dimension, or in row-major order; nothing beyond the end."""

    def source(sample: Sample) -> tuple[torch.Tensor, torch.Tensor]:
        stride = 1 if dim is None else math.prod(sample.shape[dim + 1 :])
        length = sample.truth.numel() if dim is None else sample.shape[dim]
        target = (sample.indices if dim is None else sample.coordinate(dim)) + step
        inside = (target >= 0) & (target < length)
        return torch.where(inside, sample.indices + step * stride, sample.indices), inside

    return source


def _reversed(dim: int) -> _Source:
    def source(sample: Sample) -> tuple[torch.Tensor, None]:
        stride, last = math.prod(sample.shape[dim + 1 :]), sample.shape[dim] - 1
        return sample.indices + (last - 2 * sample.coordinate(dim)) * stride, None

    return source


def _further(step: int, along: str | None) -> str:
    places = "1 place" if abs(step) == 1 else f"{abs(step)} places"
    return f"hold what is expected {places} {'further on' if step > 0 else 'before'}{f' in {along}' if along else ''}"


def _named_step(step: int, shape: Sequence[int]) -> tuple[int, str | None]:
    """A distance of flat indices as one along a dimension, if it is."""
    for dim in range(len(shape)):
        stride = math.prod(shape[dim + 1 :])
        if step % stride == 0 and len(shape) > 1 and abs(step // stride) < shape[dim]:
            return step // stride, f"dimension {dim}"
    return step, "row-major order" if len(shape) > 1 else None


def _moved(sample: Sample, source: _Source) -> bool:
    """Whether elements hold what is expected elsewhere, more than at random places."""
    for some in (sample.few, sample):
        indices, known = source(some)
        claimed = some.at(indices)
        if some.explained(claimed, known) < NEARLY_ALL:
            return False
    random = torch.Generator().manual_seed(1)
    shuffled = torch.randperm(claimed.numel(), generator=random).to(claimed.device)
    chance = sample.explained(claimed[shuffled])
    count = claimed.numel() if known is None else int(known.count_nonzero())
    return chance <= 0.5 and -count * math.log2((chance * count + 1) / (count + 2)) >= EVIDENCE


def _orders(dims: Sequence[int], rank: int) -> Iterator[list[int]]:
    """Orders of dimensions: two swapped, or one moved."""
    seen = {tuple(range(rank))}
    for a, b in itertools.permutations(dims[:5], 2):
        swapped, moved = list(range(rank)), list(range(rank))
        swapped[a], swapped[b] = b, a
        moved.insert(b, moved.pop(a))
        for order in (swapped, moved):
            if tuple(order) not in seen:
                seen.add(tuple(order))
                yield order


def _permuted(order: Sequence[int]) -> _Source:
    """Where the elements come from that a result with its dimensions in another order has at the same flat indices."""

    def source(sample: Sample) -> tuple[torch.Tensor, None]:
        rest, found = sample.indices, torch.zeros_like(sample.indices)
        for dim in reversed(order):
            found += rest % sample.shape[dim] * math.prod(sample.shape[dim + 1 :])
            rest = rest // sample.shape[dim]
        return found, None

    return source


def _steps(sample: Sample) -> list[int]:
    """Distances at which some wrong elements find what they hold."""
    if sample.truth.numel() > SEARCHED:
        return []
    truth, steps = _double(sample.truth), dict[int, None]()
    for anchor in torch.linspace(0, sample.got.numel() - 1, ANCHORS).long().tolist():
        value = sample.got[anchor]
        places = ((truth - value).abs() <= sample.ulp * value.abs()).nonzero().reshape(-1)
        if places.numel() <= FOUND:
            steps.update(dict.fromkeys((places - sample.indices[anchor]).tolist()))
    return [step for step in steps if step]


def _other_slices(sample: Sample, dim: int) -> Iterator[str]:
    """Slices of one dimension that hold what belongs to others: one and the same, those of a block, or any."""
    length, width = sample.shape[dim], sample.truth.numel() // sample.shape[dim]
    if width < PROBES or length > MOST_INDICES:
        return
    place, stride = sample.coordinate(dim), math.prod(sample.shape[dim + 1 :])
    beside = sample.indices - place * stride
    found: dict[int, int] = {}
    starts = torch.arange(length, device=place.device) * stride
    rows = place.unique()
    for row in rows[torch.linspace(0, rows.numel() - 1, min(64, rows.numel())).long()].tolist():
        mine = (place == row).nonzero().reshape(-1)
        if mine.numel() < PROBES:
            continue
        mine = mine[torch.linspace(0, mine.numel() - 1, PROBES).long()]
        got, want = sample.got[mine], sample.at(starts[:, None] + beside[mine][None])
        near = ((want - got).abs() <= ROUNDINGS * sample.ulp * got.abs()).all(1).nonzero().reshape(-1)
        if near.numel() != 1 or int(near) == row or len({*got.tolist()}) < PROBES // 2:
            return
        found[row] = int(near)
    if found:
        where = f" of dimension {dim}" if len(sample.shape) > 1 else ""
        yield _source_of(found, where, length)


def _source_of(found: dict[int, int], where: str, length: int) -> str:
    """The slice that each one of ``found`` holds, in words."""
    (row, source), *others = found.items()
    if len({*found.values()}) == 1:
        return f"hold what is expected at index {source}{where}{', whatever the index' if others else ''}"
    if len({(b - a) % length for a, b in found.items()}) == 1:
        step = (source - row + length // 2) % length - length // 2
        return f"hold what is expected at index (i {'-' if step < 0 else '+'} {abs(step)}) mod {length}{where} at each index i"
    for block in range(2, max(found)):
        if all(b == a % block for a, b in found.items()):
            return f"hold what is expected at index i mod {block}{where} at each index i"
    return f"hold what is expected at other indices{where}, at {row} that of {source}"


def _by_index(sample: Sample) -> Iterator[str]:
    """A difference or a factor for each index of a dimension, or for each row."""
    rank = len(sample.shape)
    groups = {f"index of dimension {d}": (sample.coordinate(d), sample.shape[d]) for d in range(rank)}
    if rank > 2:
        groups["row of the last dimension"] = (
            sample.indices // sample.shape[-1],
            sample.truth.numel() // sample.shape[-1],
        )
    got, want = sample.got, sample.expected
    for name, (group, most) in groups.items():
        if not 1 < most <= got.numel() / 4 or int((torch.bincount(group, minlength=most) > 0).count_nonzero()) < 2:
            continue
        within = want - _means(want, group, most)
        if within.abs().square().mean() < SPREAD**2 * want.abs().square().mean():
            continue
        if sample.holds(want + _means(got - want, group, most)):
            yield f"are off by one difference for each {name}, as without a bias"
        sizes = _means(want.abs().square(), group, most)
        if sample.holds(want * _means(got * want.conj(), group, most) / sizes):
            yield f"are off by one factor for each {name}"


def _means(values: torch.Tensor, group: torch.Tensor, most: int) -> torch.Tensor:
    """The mean of each element's group."""
    sums = torch.zeros(most, dtype=values.dtype, device=values.device).index_add_(0, group, values)
    return (sums / torch.bincount(group, minlength=most).clamp(min=1))[group]


def _coarser(sample: Sample, share: float) -> Iterator[str]:
    """Values of a narrower dtype, or errors such as arithmetic in one has."""
    got, want = sample.got, sample.expected
    if sample.dtype not in (torch.float32, torch.float64) or got.numel() < 2 * LEAST or got.is_complex():
        return
    narrower = [torch.bfloat16, torch.float16] + [torch.float32] * (sample.dtype == torch.float64)
    for dtype in narrower:
        if _are_of(got, dtype) and not _are_of(want.to(sample.dtype).double(), dtype):
            yield f"are rounded to {_name(dtype)}"
            return
    error = (got - want) / (want.abs() + want.square().mean().sqrt())
    size = float(error.square().mean().sqrt())
    # But for a bias, as of operands that are cut off, errors of rounding go either way whatever the value. Those of an approximation are
    # alike where values are.
    unbiased = got - want * ((got * want).sum() / want.square().sum())
    signs = unbiased[want.argsort()].sign()
    alike = float((signs[1:] == signs[:-1]).double().mean())
    if share < 1 / 4 or got.numel() < FEW or not 0.3 < alike < 0.7 or float(error.abs().amax()) > 16 * size:
        return
    if sample.dtype == torch.float64:
        if 2.0**-28 < size < 2.0**-20:
            yield f"have errors of the size of float32 arithmetic, {size:.0e} of the values"
    elif 2.0**-14.5 < size < 2.0**-8.6:
        name = "float16 or TF32" if size < 2.0**-11.5 else "bfloat16" if size > 2.0**-10 else "16-bit or TF32"
        yield f"have errors of the size of {name} arithmetic, {size:.0e} of the values"


def _are_of(values: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether nearly all values are numbers of a dtype."""
    there = values.to(dtype).double() == values
    return int(there.count_nonzero()) >= NEARLY_ALL * values.numel()


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
