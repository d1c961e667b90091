"""Atomic operations. Lanes of one operation take their turns by program and place; each gets the value that it found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers, decoded, encoded, rounded
from kbx.ttir.lanes import Environment, Lanes
from kbx.ttir.lowering import Lowering, Step, lowers
from kbx.ttir.memory import Touched
from kbx.ttir.operations.accesses import Site, chosen
from kbx.ttir.operations.arith import larger, smaller, unsigned
from kbx.ttir.tree import Operation, Value
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
        self._looks = used or kind != "exch"
        self._update = _UPDATES[kind]
        if element.kind == "float" and kind in ("max", "min"):
            self._update = larger if kind == "max" else smaller

    def run(self, environment: Environment, pointer: Lanes, values: list[Lanes], mask: Lanes | None) -> Lanes:
        """Updates memory; returns what each lane found."""
        shape, launch = (environment.size, *self.shape), environment.launch
        found = np.zeros(shape, self.element.dtype)
        touched = self.locate(environment, pointer, mask)
        for lanes, value in zip(values, self._new_values(), strict=True):
            self.check_value(environment, lanes, value, mask, touched)
        for region, index, live in touched:
            at = chosen(index, live, shape)
            if not len(at):
                continue
            news = [chosen(value.data, live, shape) for value in values]
            view = region.view(self.size)
            before, access = view[at], None
            if self._looks and region.filling(self.size, self._floats) is not None:
                self.check_written(environment, Touched(region, index, live), view[index])
            if launch.observer is not None:
                who = self.programs(environment, environment.size, live, shape)
                access = self.access(environment, region, at, who, False)
                launch.observer.update(access)
            got = self._apply(view, at, news)
            after = view[at]
            launch.changes += bool((after != before).any())
            if launch.observer is not None and access is not None:
                launch.observer.updated(access, self._changed(before != after, got, news), self._used)
            if got is not None:
                found[np.broadcast_to(True if live is None else live, shape)] = got
        return Lanes(found)

    def _new_values(self) -> list[Value]:
        """The operands that are written or compared: of a descriptor the last one."""
        operands = self.operation.operands
        if self.operation.name == "tt.descriptor_reduce":
            return operands[-1:]
        return operands[1:3] if self.operation.name == "tt.atomic_cas" else operands[1:2]

    def _changed(self, elements: Numbers, got: Numbers | None, news: list[Numbers]) -> Numbers:
        """The lanes that have changed their element, where it is known what each found; else all whose element is another one."""
        return elements if got is None else self._update(got, *news) != got

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
