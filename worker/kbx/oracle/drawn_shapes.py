"""A shape of a task that no file names: one of its cases with other sizes, drawn from the seed of a judgement.

A candidate that is right for the shapes of ``CASES`` and ``SIZES`` alone can read these in the task's file, and cannot foresee the drawn one.
Equal sizes of a case become equal ones, so that what must fit still does. Small numbers stay: they may be dimensions, strides or
windows. What comes of it counts only where it is of the published grade and the reference takes it.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

from kbx.oracle import properties
from kbx.oracle.task import InvalidTask, Parameters, Task
from kbx.oracle.truth import argument_tensors
from kbx.suite import Call
from kbx.suite.values import copied, transform

LEAST = 5
"""Smaller numbers are no sizes, or too small to become others."""
SHRUNK, GROWN = 0.6, 1.6
"""By which factors a size may become another."""
TRIES = 12
"""Drawn shapes that are tried for one task."""
_NO_SIZES = ("dim", "seed", "axis", "alpha", "beta", "value", "p", "order", "diagonal")
"""Parameters of cases whose whole numbers are never sizes."""


def draw(task: Task, cases: list[Parameters], distribution: str, seed: str) -> Parameters | None:
    """One of ``cases`` with other sizes; None where none was found. ``distribution`` and ``seed`` are those that the call will have."""
    chance = random.Random(f"{seed}/shape")
    order = list(cases)
    chance.shuffle(order)
    tries = 0
    for case in order:
        for changes in _changes(case, chance):
            if tries == TRIES:
                return None
            tries += 1
            other = {name: _changed(name, value, changes) for name, value in case.items()}
            if _is_taken(task, other, distribution, seed):
                return other
    return None


def _changes(case: Parameters, chance: random.Random) -> Iterator[dict[int, int]]:
    """Other sizes by size: first of all, then of one at a time."""
    sizes = sorted({n for name, value in case.items() for n in _sizes(name, value)})
    others = {n: chance.choice([m for m in range(int(n * SHRUNK), int(n * GROWN) + 1) if m != n]) for n in sizes}
    if others:
        yield others
    if len(others) > 1:
        for n in chance.sample(sizes, len(sizes)):
            yield {n: others[n]}


def _sizes(name: str, value: object) -> Iterator[int]:
    if name in _NO_SIZES:
        return
    for each in value if isinstance(value, (tuple, list)) else (value,):
        if isinstance(each, (tuple, list)):
            yield from _sizes(name, each)
        elif type(each) is int and each >= LEAST:
            yield each


def _changed(name: str, value: object, changes: dict[int, int]) -> object:
    if name in _NO_SIZES:
        return value
    if isinstance(value, (tuple, list)):
        return type(value)(_changed(name, each, changes) for each in value)
    return changes.get(value, value) if type(value) is int else value


def _is_taken(task: Task, parameters: Parameters, distribution: str, seed: str) -> bool:
    """Whether a call is of the published grade, has shapes of its own, and is one that the reference takes."""
    try:
        call = task.inside(task.call(parameters, distribution, seed))
        if _forms(call) in _known(task) or properties.of_call(task, call, call) | task.asked(parameters):
            return False
        scratch = Call(transform(call.args, copied), transform(call.kwargs, copied))
        task.run("the reference", task.reference, *scratch.args, **scratch.kwargs)
    except (InvalidTask, ValueError, RuntimeError, IndexError, TypeError):
        return False
    return True


@functools.lru_cache(maxsize=256)
def _known(task: Task) -> frozenset[tuple[tuple[int, ...], ...]]:
    """The shapes of all cases."""
    return frozenset(_forms(task.call(case, task.distributions[0], task.name)) for case in task.cases)


def _forms(call: Call) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(tensor.shape) for tensor in argument_tensors(call))
