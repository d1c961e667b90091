"""Atomic operations. Lanes of one operation take their turns by program and place; each gets the value that it found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers, decoded, encoded, rounded
from kbx.ttir.lanes import Environment, Lanes
from kbx.ttir.lowering import Lowering, Step, lowers
from kbx.ttir.operations.accesses import Site, chosen
from kbx.ttir.operations.arith import larger, smaller, unsigned
from kbx.ttir.races import Access
from kbx.ttir.tree import Operation
from kbx.ttir.types import Element

Update = Callable[..., Numbers]


def _unsigned(function: Update) -> Update:
    def run(old: Numbers, new: Numbers) -> Numbers:
        return function(unsigned(old), unsigned(new)).view(old.dtype)

    return run


def _exchange(old: Numbers, new: Numbers) -> Numbers:
    return np.broadcast_to(new, old.shape)


def _swap(old: Numbers, expected: Numbers, new: Numbers) -> Numbers:
    return np.where(old == expected, new, old)


_UPDATES: dict[str, Update] = {
    "add": np.add, "fadd": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "exch": _exchange, "max": np.maximum, "min": np.minimum,
    "umax": _unsigned(np.maximum), "umin": _unsigned(np.minimum),
    "cas": _swap,
}  # fmt: skip
_ACCUMULATED: dict[str, np.ufunc] = {
    "add": np.add, "fadd": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "max": np.maximum, "min": np.minimum,
}  # fmt: skip


class Atomic(Site):
    """One atomic operation, of kind ``add``, ``cas`` and so on. ``used`` says whether anybody looks at what it found."""

    def __init__(
        self, operation: Operation, element: Element, shape: tuple[int, ...], kind: str, used: bool = True
    ) -> None:
        super().__init__(operation, element, shape)
        if kind not in _UPDATES:
            raise Unsupported(operation.line, f"the atomic operation {kind}")
        self._kind, self._used = kind, used
        self._update = _UPDATES[kind]
        if element.kind == "float" and kind in ("max", "min"):
            self._update = larger if kind == "max" else smaller

    def run(self, environment: Environment, pointer: Lanes, values: list[Lanes], mask: Lanes | None) -> Lanes:
        """Updates memory; returns what each lane found."""
        shape = (environment.size, *self.shape)
        for value in values:
            self.check_value(environment, value, mask)
        found = np.zeros(shape, self.element.dtype)
        for region, index, live in self.locate(environment, pointer, mask):
            at = chosen(index, live, shape)
            if not len(at):
                continue
            news = [chosen(value.data, live, shape) for value in values]
            if environment.launch.observer is not None:
                who = self.programs(environment, environment.size, live, shape)
                environment.launch.observer.update(Access(self.operation, region, self.size, at, who, False))
            view = region.view(self.size)
            before = view[at]
            got = self._apply(view, at, news)
            environment.launch.changes += bool((view[at] != before).any())
            if got is not None:
                found[np.broadcast_to(True if live is None else live, shape)] = got
        return Lanes(found)

    def _apply(self, view: Numbers, at: Numbers, news: list[Numbers]) -> Numbers | None:
        """Updates elements ``at``; returns what each lane found, or None where nobody asks."""
        whole = not self.element.narrow and self.element.bits > 1
        if (
            not self._used
            and whole
            and self._kind in _ACCUMULATED
            and (self.element.kind == "int" or self._kind == "fadd")
        ):
            _ACCUMULATED[self._kind].at(view.view(self.element.dtype), at, news[0])
            return None
        if len(at) == 1:
            return self._turn(view, at, news)
        order = np.argsort(at, kind="stable")
        sorted_at = at[order]
        first = np.concatenate([[True], sorted_at[1:] != sorted_at[:-1]])
        got = np.empty(len(at), self.element.dtype)
        sorted_news = [np.broadcast_to(new, at.shape)[order] for new in news]
        got[order] = self._in_turns(view, sorted_at, first, sorted_news)
        return got

    def _in_turns(self, view: Numbers, at: Numbers, first: Numbers, news: list[Numbers]) -> Numbers:
        """Of lanes sorted by element: all that are the first of their element at once, then all that are the second."""
        begins = np.flatnonzero(first)
        if len(begins) == len(at):
            return self._turn(view, at, news)
        quick = self._quick(view, at, first, begins, news)
        if quick is not None:
            return quick
        turn = np.arange(len(at)) - np.repeat(begins, np.diff([*begins, len(at)]))
        by_turn = np.argsort(turn, kind="stable")
        got = np.empty(len(at), self.element.dtype)
        start = 0
        for end in np.cumsum(np.bincount(turn)):
            lanes = by_turn[start:end]
            got[lanes] = self._turn(view, at[lanes], [new[lanes] for new in news])
            start = end
        return got

    def _quick(
        self, view: Numbers, at: Numbers, first: Numbers, begins: Numbers, news: list[Numbers]
    ) -> Numbers | None:
        """Counters, and compare-and-swap by which lanes try to take the same lock, without a turn for each lane."""
        ends = np.concatenate([begins[1:], [len(at)]]) - 1
        if self._kind == "add" and self.element.kind == "int":
            sums = np.cumsum(news[0], dtype=news[0].dtype)
            before = sums - news[0]
            got: Numbers = np.repeat(view[at[begins]] - before[begins], ends - begins + 1) + before
            view[at[begins]] = got[ends] + news[0][ends]
            return got
        same = self._kind == "cas" and all(bool((new == new[0]).all()) for new in news)
        if not same or self.element.kind != "int" or self.element.bits == 1:
            return None
        expected, new = news[0][0], news[1][0]
        old = view[at[begins]]
        took = old == expected
        later = np.where(took, new, old)
        got = np.repeat(later, ends - begins + 1)
        got[begins] = old
        view[at[begins]] = later
        return got

    def _turn(self, view: Numbers, at: Numbers, news: list[Numbers]) -> Numbers:
        """Updates elements that are all different."""
        here = decoded(view[at], self.element)
        updated = self._update(here, *news)
        if self.element.kind == "float":
            updated = rounded(updated, self.element)
        view[at] = encoded(updated, self.element)
        return here


def _used(operation: Operation, lowering: Lowering) -> bool:
    return operation.results[0] in lowering.wanted


@lowers("tt.atomic_rmw")
def _rmw(operation: Operation, lowering: Lowering) -> Step:
    pointer, value, mask = [*operation.operands, None][:3]
    assert pointer is not None and value is not None
    element, kind = value.type.element, operation.words[0][1]
    atomic, result = (
        Atomic(operation, element, value.type.shape, kind, _used(operation, lowering)),
        operation.results[0],
    )

    def step(environment: Environment) -> None:
        allowed = None if mask is None else environment[mask]
        environment[result] = atomic.run(environment, environment[pointer], [environment[value]], allowed)

    return step


@lowers("tt.atomic_cas")
def _cas(operation: Operation, lowering: Lowering) -> Step:
    pointer, expected, new = operation.operands
    atomic, result = Atomic(operation, new.type.element, new.type.shape, "cas"), operation.results[0]

    def step(environment: Environment) -> None:
        values = [environment[expected], environment[new]]
        environment[result] = atomic.run(environment, environment[pointer], values, None)

    return step
