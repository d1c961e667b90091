"""Calls that show what serving needs of a kernel. They decide at no grade.

``batch_invariant``: the rows of a result have the same bits in every batch and at every place of it. The rows of a task are known to be
independent by an experiment with its reference in float64: some arguments, and all results, have one leading size; where these arguments
are other rows of the same ones, so are the results, to within ``NEAR``. A task for which no choice of arguments shows that is not asked.

``large_index``: the same rows again and again, until an argument has more than 2^31 elements. On a GPU the runner maps the memory of a few rows
many times, so that only the results take room; without one the executor reads the few rows again and again, and runs some of the programs. The
last rows of the results must be what the few rows give.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kbx.oracle import judge, truth
from kbx.oracle.task import InvalidTask, Task
from kbx.suite import Call
from kbx.suite.sharing import shared
from kbx.suite.values import leaves, transform, wide
from kbx.suite.values import tensors as tensors_of

BATCH_INVARIANT, REPEATABLE = "batch_invariant", "repeatable"
LARGE_INDEX, GRAPH_SAFE, STREAM_SAFE = "large_index", "graph_safe", "stream_safe"
NAMES = frozenset([BATCH_INVARIANT, REPEATABLE, LARGE_INDEX, GRAPH_SAFE, STREAM_SAFE])
"""Properties that are asked for by name, and shown alone."""

MOST = 257
"""Rows of the largest batch: one more than a power of two, so that the last block has a single one."""
SIZES = (1, 4, 16)
"""Rows of the other batches."""
NEAR = 2.0**-40
"""Of the root mean square of a result: what orders of summation in float64 differ by is less, and rows that depend on each other differ by more."""
MOST_BYTES = {"cpu": 16 << 20, "cuda": 256 << 20}
"""Of the rows of the largest batch, by kind of device: without a GPU each batch takes the executor a second or two."""
GRANULE = 2 << 20
"""Bytes that a GPU's driver maps at least: rows that are mapped many times take a multiple of it."""
MOST_MAPPED, MOST_RETURNED = 512 << 20, 24 << 30
"""Bytes of the rows that are mapped many times, and of all results for them."""
REPEATED = 7
"""Rows that are repeated without a GPU. An odd number: an index that is off by a power of two leads to another row."""
LARGE = 1 << 31
"""Elements beyond which an index does not fit 32 bits."""
_TRIED, _CHOICES = 12, 16
"""Batches of which is tried whether they are independent, and choices of arguments that are looked at of each case."""
_SEED = "e5"
"""Of the experiment: whether rows are independent is the same for every candidate."""


@dataclass(frozen=True)
class Batch:
    """Arguments ``names`` as rows ``picked`` of what they are in the task's case; ``places`` is where these stand in the largest batch, none
    where the rows are repeated until there are more than 2^31 elements."""

    names: frozenset[str]
    picked: tuple[int, ...]
    places: tuple[int, ...]

    def of(self, task: Task, call: Call) -> Call:
        """The call with these rows."""
        chosen = {id(tensor) for name, tensor in task.named_tensors(call) if name in self.names}

        def rows(leaf: Any) -> Any:
            if id(leaf) not in chosen:
                return leaf
            return leaf.index_select(0, torch.tensor(self.picked, device=leaf.device))

        return Call(transform(call.args, rows), transform(call.kwargs, rows))

    def difference(self, value: Any, largest: Any) -> str | None:
        """Which row of a result has other bits than in the result for the largest batch; None where all have the same."""
        for (path, got), (_, whole) in zip(leaves(value, "output"), leaves(largest, "output"), strict=True):
            if not isinstance(got, torch.Tensor):
                continue
            same = whole.index_select(0, torch.tensor(self.places, device=whole.device))
            if judge.equal_bits(got, same):
                continue
            row = next(row for row in range(len(self.places)) if not judge.equal_bits(got[row], same[row]))
            return f"{path}: row {row} of {len(self.places)} has other bits than the same row as number {self.places[row]} of {MOST}"
        return None


@dataclass(frozen=True)
class Batched:
    """The case whose rows are independent, and the arguments that have ``size`` of them."""

    case: int
    distribution: str
    names: frozenset[str]
    size: int

    def repeated(self) -> Batch:
        """The rows that are repeated without a GPU."""
        return self._first(REPEATED)

    def mapped(self, task: Task, device: str) -> Batch | None:
        """The rows that are mapped many times on a GPU; None where they, or all results for them, are too many bytes."""
        call = _called(task, self.case, self.distribution, device)
        rows = [t[0] for name, t in task.named_tensors(call) if name in self.names]
        sizes = [row.numel() * row.element_size() for row in rows]
        if not all(sizes):
            return None
        count = max(GRANULE // math.gcd(size, GRANULE) for size in sizes)
        returned = sum(t[0].numel() * t.element_size() for t in _exact(task, call) if t.dim() and t.shape[0])
        if sum(sizes) * count > MOST_MAPPED or returned * (LARGE // max(row.numel() for row in rows)) > MOST_RETURNED:
            return None
        return self._first(count)

    def _first(self, count: int) -> Batch:
        return Batch(self.names, tuple(place * self._step % self.size for place in range(count)), ())

    @property
    def _step(self) -> int:
        return next(step for step in (7, 5, 3, 1) if self.size % step or step == 1)

    def batches(self) -> list[Batch]:
        """The batches to call, the largest first; its middle row is in each of the others, at another place."""
        rows = [place * self._step % self.size for place in range(MOST)]
        middle, placed = MOST // 2, [tuple(range(MOST))]
        for n in SIZES:
            before = min(n - 1, 2)
            placed.append(tuple((middle + k) % MOST for k in range(-before, n - before)))
        placed += [tuple(reversed(range(MOST))), tuple((place + 3) % MOST for place in range(MOST))]
        return [Batch(self.names, tuple(rows[place] for place in places), places) for places in placed]


@functools.lru_cache(maxsize=256)
def batched(task: Task, cases: tuple[tuple[int, str], ...], device: str) -> Batched | None:
    """The largest of ``cases`` (their numbers, and distributions of their values) whose rows are independent, and not too many bytes: long rows
    are what kernels divide otherwise in small batches. None where there is none, and for random operations, whose rows never repeat."""
    return next(_longest(task, cases, device), None)


def _longest(task: Task, cases: tuple[tuple[int, str], ...], device: str) -> Iterator[Batched]:
    """What ``batched`` chooses from, the largest first."""
    found = [each for each in _all(task, cases, device) if each[0] * MOST <= MOST_BYTES[torch.device(device).type]]
    found.sort(key=lambda each: (each[1].size > 1, each[0]), reverse=True)
    return (each for _, each in found[:_TRIED] if _is_independent(task, each, device))


@functools.lru_cache(maxsize=256)
def repeated(task: Task, cases: tuple[tuple[int, str], ...], device: str) -> tuple[Batched, Batch] | None:
    """One of ``cases`` whose rows are independent, and its rows that are repeated; None where there is none, or where a call changes an argument, of
    which there is one memory for all its rows. On a GPU nobody would see that it does, and no call of such a task is made."""
    if torch.device(device).type == "cpu":
        longest = (each for each in _longest(task, cases, device) if not _changes_arguments(task, each, device))
        return next(((each, each.repeated()) for each in longest), None)
    if task.mutates:
        return None
    found = [(each, each.mapped(task, device)) for _, each in _all(task, cases, device)]
    fits = [(each, batch) for each, batch in found if batch is not None]
    fits.sort(key=lambda pair: len(pair[1].picked))
    return next((pair for pair in fits[:_TRIED] if _is_independent(task, pair[0], device)), None)


def _all(task: Task, cases: tuple[tuple[int, str], ...], device: str) -> list[tuple[int, Batched]]:
    """What may have independent rows, with the bytes of a row."""
    if task.contract.random or task.contract.remembers or task.judges_state:
        return []
    task, found = task.seeded(_SEED), []
    for case, values in cases:
        with contextlib.suppress(InvalidTask):
            choices = itertools.islice(_choices(task, _called(task, case, values, device)), _CHOICES)
            found += [(row, Batched(case, values, names, size)) for names, size, row in choices]
    return found


def _called(task: Task, case: int, distribution: str, device: str) -> Call:
    return task.call(task.cases[case], distribution, _SEED, device)


def _choices(task: Task, call: Call) -> Iterator[tuple[frozenset[str], int, int]]:
    """Names of arguments of one leading size, that size, and the bytes of a row of all; most of them first."""
    if any(shared(truth.argument_tensors(call))):
        return
    named = {name: t for name, t in task.named_tensors(call) if t.dim() and t.shape[0]}
    for size in dict.fromkeys(t.shape[0] for t in named.values()):
        of_size = [name for name, t in named.items() if t.shape[0] == size]
        for count in range(len(of_size), 0, -1):
            for names in itertools.combinations(of_size, count):
                row = sum(named[name][0].numel() * named[name].element_size() for name in names)
                yield frozenset(names), size, row


def _is_independent(task: Task, batched: Batched, device: str) -> bool:
    task = task.seeded(_SEED)
    if task.module(_SEED) is None:
        device = "cpu"  # an index of a row that is not there would stop a GPU for good
    call, (largest, *others) = _called(task, batched.case, batched.distribution, device), batched.batches()
    if device != "cpu" and not all(t.is_floating_point() for t in truth.argument_tensors(call)):
        return False
    with warnings.catch_warnings(), contextlib.suppress(RuntimeError, MemoryError):
        warnings.simplefilter("ignore")  # of shapes that are broadcast, say
        whole = _exact(task, largest.of(task, call))
        if not whole or any(t.dim() == 0 or t.shape[0] != MOST for t in whole):
            return False
        return all(_are_rows(_exact(task, batch.of(task, call)), whole, batch.places) for batch in others)
    return False


def _changes_arguments(task: Task, batched: Batched, device: str) -> bool:
    """Whether the reference does in this case: most tasks that may do so only where an argument says."""
    call = _called(task.seeded(_SEED), batched.case, batched.distribution, device)
    mine = truth.copy_call(call)
    with torch.no_grad():
        task.reference(*mine.args, **mine.kwargs)
    pairs = zip(truth.argument_tensors(call), truth.argument_tensors(mine), strict=True)
    return not all(judge.equal_bits(before, after) for before, after in pairs)


def _exact(task: Task, call: Call) -> list[torch.Tensor]:
    """The reference's results in float64, none where they are no tensors alone or the reference does not take the call."""
    try:
        known = truth.know(task, call, _SEED)
    except InvalidTask:
        return []
    found = tensors_of(known.truth)
    return found if len(found) == len(list(leaves(known.truth, ""))) else []


def _are_rows(got: Sequence[torch.Tensor], whole: Sequence[torch.Tensor], places: tuple[int, ...]) -> bool:
    return len(got) == len(whole) and all(
        _near(a, b.index_select(0, torch.tensor(places, device=b.device))) for a, b in zip(got, whole, strict=True)
    )


def _near(got: torch.Tensor, want: torch.Tensor) -> bool:
    if got.shape != want.shape:
        return False
    if judge.equal_bits(got, want):
        return True
    if not got.is_floating_point():
        return False
    a, b = wide(got), wide(want)
    scale = b.nan_to_num(0, 0, 0).square().mean().sqrt()
    return bool(((a == b) | ((a - b).abs() <= NEAR * scale)).all())
