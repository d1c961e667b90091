"""What the published tests of a task pass, and by which names a call leaves that.

``published.json`` in a suite's folder says for each task and argument what was recorded of those tests; ``bench/envelope.py`` writes it. A
call that stays inside is of the published grade. Sizes and seeds are free.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch

from kbx.oracle import windows
from kbx.suite.values import tensors as tensors_of
from kbx.tensors import broadcast

FILE = "published.json"
"""In a suite's folder."""

SHARE, FEW = 0.01, 2
"""Share of a tensor's values that may lie beyond the published range, or so many in a small one, of ten at most one: they are pulled in.
With more of them a call is of another kind."""
FAINT = 4
"""A tensor has tiny values if its root mean square, or more than a few values, are less than the least published one by this factor."""
RARE = 1e-3
"""Up to this share of zeros is what rounding leaves of drawn values."""
SEVERAL = 5
"""Values of fewer say nothing of how they are spread."""
FAR = 4
"""Values beyond the published range are an offset if their mean is this many standard deviations from 0."""
OF_THE_HARNESS = frozenset({"device", "generator"})
"""Options that say where and from which source a result is drawn: kbx has its own."""
LENGTHS = frozenset({"normalized_shape", "target_sizes", "size", "output_size", "s", "steps"})
"""Options that are sizes, and as free as those of tensors."""

_NONE = inspect.Parameter.empty
"""In place of a default that there is not."""
Ranks: TypeAlias = Mapping[str, int]
"""Of the tensors of one call."""


@dataclass(frozen=True)
class Values:
    """A tensor argument: ``low`` to ``high`` is the range of its values, ``smallest`` the least magnitude of one that is not 0, ``rms``
    the least root mean square of a tensor; ``zeros``, ``empty``, ``one`` (element), ``even`` (all values equal), ``strided`` (not
    contiguous) say what occurs."""

    dtypes: tuple[str, ...]
    ranks: tuple[int, ...]
    low: float
    high: float
    smallest: float
    rms: float
    zeros: bool = False
    empty: bool = False
    one: bool = False
    even: bool = False
    strided: bool = False

    def ends(self, tensor: torch.Tensor) -> tuple[float, float]:
        """The range as a floating-point tensor holds it: what is brought back to an end of it is not beyond."""
        dtype = tensor.real.dtype if tensor.is_complex() else tensor.dtype
        return torch.tensor(self.low, dtype=dtype).item(), torch.tensor(self.high, dtype=dtype).item()


@dataclass(frozen=True)
class Option:
    """An argument that is no tensor: its ``values``, the kinds and lengths of the ``lists`` that it is, and what these hold."""

    values: tuple[Any, ...] = ()
    lists: tuple[tuple[str, int], ...] = ()
    items: Option | None = None

    def holds(self, value: object, free: bool) -> bool:
        """Whether a value lies inside; of a ``free`` one only its kind and sign do."""
        if isinstance(value, (list, tuple)):
            items = self.items or Option()
            kind = "tuple" if isinstance(value, tuple) else "list"
            return (kind, len(value)) in self.lists and all(items.holds(v, free) for v in value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return _text(value) in map(_text, self.values)
        numbers = [v for v in self.values if isinstance(v, (int, float)) and not isinstance(v, bool)]
        alike = [v for v in numbers if (v > 0) == (value > 0) and (v < 0) == (value < 0)]
        return bool(alike) and (free or min(alike) <= value <= max(alike))


@dataclass(frozen=True)
class Envelope:
    """What the calls of a task's published tests have between them. ``omitted`` are arguments that some call leaves out; ``unread``
    updated arguments that no test looks at afterwards."""

    tensors: Mapping[str, Values]
    options: Mapping[str, Option]
    omitted: frozenset[str]
    ranks: tuple[Ranks, ...]
    broadcasts: bool
    whole_windows: bool
    unread: frozenset[str] = frozenset()

    def left_by(self, call: inspect.BoundArguments, fitting: bool, values: bool = True) -> frozenset[str]:
        """The names of what puts a call outside; none if it is inside. ``fitting``: its tensors may be broadcast against each other;
        those of different ranks are ``batch_broadcast`` where no published call has these, and fit by chance where one has.
        Without ``values``, what elements are does not count: they need not exist."""
        tensors = {name: tensors_of(value) for name, value in call.arguments.items() if name != "out"}
        tensors = {name: found for name, found in tensors.items() if found}
        longest = max((n for found in tensors.values() for t in found for n in t.shape), default=0)
        left = set(self._of_relations(tensors, call, fitting))
        for name, parameter in call.signature.parameters.items():
            if found := tensors.get(name):
                left |= self._of_tensors(name, found, parameter.default, longest if values else None)
            elif name not in OF_THE_HARNESS and (name in call.arguments or name not in self.omitted):
                value = call.arguments.get(name, parameter.default)
                several = parameter.kind == inspect.Parameter.VAR_POSITIONAL
                left |= self._of_option(name, list(value) if several else value, parameter.default)
        return frozenset(left)

    def pull_in(self, call: inspect.BoundArguments, matrices: bool = True) -> None:
        """Brings the few floating-point values beyond the published range back to its end, in place. Without ``matrices`` not those of square
        ones, whose elements depend on each other: a positive definite one of a thousand rows has a diagonal beyond all that smaller ones
        have, and is none without it."""
        for name, value in call.arguments.items():
            if name == "out" or (published := self.tensors.get(name)) is None:
                continue
            for tensor in tensors_of(value):
                square = tensor.ndim > 1 and tensor.shape[-1] == tensor.shape[-2]
                if (tensor.is_floating_point() or tensor.is_complex()) and (matrices or not square):
                    real = torch.view_as_real(tensor) if tensor.is_complex() else tensor
                    real.clamp_(*published.ends(tensor))

    def _of_tensors(self, name: str, tensors: Sequence[torch.Tensor], default: object, longest: int | None) -> set[str]:
        if (published := self.tensors.get(name)) is None:
            return {f"option:{name}" if default is not _NONE else f"option_value:{name}"}
        left = {p for tensor in tensors for p in _of_form(published, tensor)}
        return left if longest is None else left.union(*(_of_values(published, tensor, longest) for tensor in tensors))

    def _of_option(self, name: str, value: object, default: object) -> set[str]:
        if name == "out":
            return {"out_argument"} if tensors_of(value) and name not in self.tensors else set()
        plain = value is _NONE or (value == default and type(value) is type(default))
        if name not in self.options and name not in self.tensors:
            return set() if plain else {{"inplace": "in_place"}.get(name, f"option:{name}")}
        option = self.options.get(name, Option())
        if name in self.omitted:
            option = replace(option, values=(*option.values, default))
        inside = plain and name in self.omitted
        return set() if inside or option.holds(value, name in LENGTHS) else {f"option_value:{name}"}

    def _of_relations(
        self, tensors: Mapping[str, Sequence[torch.Tensor]], call: inspect.BoundArguments, fitting: bool
    ) -> Iterator[str]:
        shapes = {name: found[0].shape for name, found in tensors.items() if name in self.tensors}
        ranks = {name: len(shape) for name, shape in shapes.items()}
        known = all(rank in self.tensors[name].ranks for name, rank in ranks.items())
        if known and not any(_agree(ranks, each) for each in self.ranks):
            yield "batch_broadcast"
        pairs = itertools.combinations(shapes.values(), 2)
        if fitting and not self.broadcasts and any(len(a) == len(b) and broadcasts(a, b) for a, b in pairs):
            yield "broadcast"
        options = {name: value for name, value in call.arguments.items() if name not in shapes}
        if "output_padding" in call.signature.parameters:
            options.setdefault("output_padding", 0)  # of a transposed convolution, whose windows leave no rest
        if self.whole_windows and not windows.whole(shapes, options):
            yield "ragged_windows"


def broadcasts(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two shapes differ and fit each other."""
    if tuple(one) == tuple(other) or 0 in (*one, *other):
        return False
    try:
        broadcast(torch.Size(one), torch.Size(other))
    except RuntimeError:
        return False
    return True


def _agree(mine: Ranks, published: Ranks) -> bool:
    return all(published.get(name) == rank for name, rank in mine.items())


def _text(value: object) -> str:
    """As recorded: of a dtype its name, of any other object than a literal its class."""
    if isinstance(value, (str, torch.dtype)):
        return str(value)
    return str(type(value)) if isinstance(value, torch.Generator) else repr(value)


def _of_form(published: Values, tensor: torch.Tensor) -> Iterator[str]:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in published.dtypes:
        yield f"dtype:{dtype}"
    if tensor.dim() not in published.ranks:
        yield f"rank:{tensor.dim()}" if tensor.dim() else "zero_dim"
    if tensor.numel() == 0:
        if not published.empty:
            yield "empty"
    elif any(stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.shape, strict=True)):
        yield "expanded"
    elif not (published.strided or tensor.is_contiguous()):
        yield "non_contiguous"
    if tensor.numel() == 1 and tensor.dim() and not published.one:
        yield "size_one"


def _of_values(published: Values, tensor: torch.Tensor, longest: int) -> Iterator[str]:
    """``longest`` is the largest dimension in the call: integers may point that far."""
    if not tensor.numel() or tensor.dtype == torch.bool:
        return
    values = torch.view_as_real(tensor).flatten().double() if tensor.is_complex() else tensor.flatten().double()
    finite = values[values.isfinite()]
    if finite.numel() < values.numel():
        yield "special_values"
    if not finite.numel():
        return
    floating = tensor.is_floating_point() or tensor.is_complex()
    farthest = max(published.high, longest - 1) if tensor.dtype == torch.int64 else published.high
    low, high = published.ends(tensor) if floating else (published.low, farthest)
    beyond = ((finite < low) | (finite > high)) & (finite != 0 if floating else True)
    if _many(beyond) if floating else bool(beyond.any()):
        spread = float(finite.std(correction=0))
        yield "offset" if abs(float(finite.mean())) > FAR * spread and finite.numel() > 2 else "wide_values"
    if finite.numel() >= SEVERAL and not published.even and bool((finite == finite[0]).all()):
        yield "degenerate"
    if not floating:
        return
    if not published.zeros and float((finite == 0).double().mean()) > RARE:
        yield "zeros"
    faint = float(finite.square().mean().sqrt()) * FAINT < published.rms
    if finite.numel() >= SEVERAL and (faint or _many((finite != 0) & (finite.abs() * FAINT < published.smallest))):
        yield "tiny_values"


def _many(values: torch.Tensor) -> bool:
    """Whether these are more than a few of a tensor's values."""
    return int(values.sum()) > max(SHARE * values.numel(), min(FEW, -(-values.numel() // 10)))


@functools.lru_cache(maxsize=64)
def _suite(path: str, changed: int) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def of_task(path: str) -> Envelope | None:
    """What was recorded for the task in a file ``SUITE/CATEGORY/NAME.py``; None where its suite has no such record."""
    folder, file = os.path.split(os.path.abspath(path))
    record = os.path.join(os.path.dirname(folder), FILE)
    try:
        changed = os.stat(record).st_mtime_ns
    except OSError:
        return None
    found = _suite(record, changed).get(f"{os.path.basename(folder)}/{os.path.splitext(file)[0]}")
    return None if found is None else read(found)


def read(record: Mapping[str, Any]) -> Envelope:
    """An envelope from its JSON."""
    return Envelope(
        tensors={name: _values(tensor) for name, tensor in record["tensors"].items()},
        options={name: _option(option) for name, option in record["options"].items()},
        omitted=frozenset(record["omitted"]), ranks=tuple(record["ranks"]), broadcasts=record["broadcasts"],
        whole_windows=record["whole_windows"], unread=frozenset(record.get("unread", ())),
    )  # fmt: skip


def _values(record: Mapping[str, Any]) -> Values:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    return Values(**fields)


def _option(record: Mapping[str, Any]) -> Option:
    items = record.get("items")
    return Option(
        tuple(record.get("values", ())),
        tuple((kind, n) for kind, n in record.get("lists", ())),
        items and _option(items),
    )
