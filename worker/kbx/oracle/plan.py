"""Which calls a candidate is judged on."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from kbx.messages.oracle import CallPlan
from kbx.oracle import drawn_shapes, module_variations, properties, serving, shape_tracing
from kbx.oracle.task import OWN, InvalidTask, Parameters, Task, describe
from kbx.oracle.truth import argument_tensors
from kbx.suite import Call
from kbx.suite.contracts import Close, Exact
from kbx.suite.inputs import SPECIAL, times
from kbx.ttir.launch import ASCENDING, REVERSED, SHUFFLED

REPEATED = 2
"""Cases whose first call is made once more at the end to see whether the bits agree: those with the largest inputs, of the published grade if
there are so many."""


@dataclass(frozen=True)
class PlannedCall:
    """One correctness call; ``repeats`` is the index of the call whose inputs it has."""

    index: int
    parameters: Parameters
    distribution: str
    seed: str
    """Seeds this call's values, and names them among all calls of the run."""
    repeats: int | None = None
    turn: int = 0
    """Every other call leaves out the keyword arguments that equal their defaults."""
    properties: frozenset[str] = frozenset()
    """What it asks for beyond the ordinary and beyond what the published tests do; none of a call of the published grade."""
    order: str = ASCENDING
    """That in which the programs of its launches go, where they are executed: see ``kbx.ttir.launch``."""
    dtype: str | None = None
    """What a module and its arguments are cast to for this call; None: they stay what they are in the others."""
    batch: serving.Batch | None = None
    """The rows of its arguments, where it is made to compare rows."""

    @property
    def sized(self) -> bool:
        """Whether it has a benchmark size, and values that are made as those of timed calls are."""
        return properties.SIZED in self.properties

    @property
    def special(self) -> bool:
        """Whether it decides nothing."""
        return not self.properties.isdisjoint({properties.SPECIAL, *serving.NAMES})

    @property
    def key(self) -> str:
        """Equal for calls of equal arguments alone."""
        return f"{self.seed}/{self.index}" if self.batch else self.seed

    @property
    def kind(self) -> tuple[str, frozenset[str], str | None]:
        """Equal for calls of equal shapes that ask for the same."""
        return describe(self.parameters), self.properties, self.dtype

    def judging(self, task: Task) -> Task:
        """The task as this call is judged by: what no published test reads counts only where the call is made for it."""
        return task if properties.STATE in self.properties else task.without(task.unread)

    def made(self, task: Task, device: str | torch.device) -> Call:
        """Its arguments."""
        call = task.call(self.parameters, self.distribution, self.seed, device, fast=self.sized)
        state = properties.STATE in self.properties
        call = task.inside(call) if not self.properties or self.batch or self.sized else call
        call = self.batch.of(task, call) if self.batch else call
        return task.with_state(call, 1 if state else self.turn) if state or task.judges_state else call

    def message(self, task: Task | None = None) -> CallPlan:
        """As in ``messages.oracle.Opened.calls``. ``task`` is the one that it is a call of."""
        case = describe(self.parameters) if task is None else shape_tracing.shown(task, self.parameters)
        case = f"{case}, {len(self.batch.picked)} rows" if self.batch else case
        return {
            "index": self.index, "case": case, "distribution": self.distribution, "repeats": self.repeats,
            "properties": sorted(self.properties), "dtype": self.dtype,
        }  # fmt: skip


ORDINARY = ("standard", "uniform", "outliers")
"""Distributions of the published grade, where values of theirs stay inside what the published tests pass."""
SEEDS = 3
"""Calls of each case of the published grade, all of fresh values."""
OTHER_ROUNDS = 2
"""Calls of each other case of a task whose published tests are known."""
PASSES_ON = {"elementwise", "reduction", "softmax", "normalization", "loss", "pooling"}
"""Tags of operations that say what becomes of NaN and infinities, if they have none of the next: there one reaches every element."""
MIXES = {"matmul", "convolution", "linear-algebra", "decomposition", "attention"}


class _Wanted(NamedTuple):
    """A call to plan. ``order``: that of programs, where it repeats an earlier call; ``state``: whether updated arguments that no published
    test reads are judged."""

    case: int
    round: int
    distribution: str
    order: str | None = None
    state: bool = False


def plan(
    task: Task, seed: str, ordered: bool = False, asked: frozenset[str] = frozenset(), device: str = "cpu"
) -> list[PlannedCall]:
    """The calls of one candidate, in order: those of the published grade, the last one of a shape that the seed draws, then the others, those that
    ask for least first; then the repeats; then those with special values, which decide nothing; last those of a module whose weights or
    dtype are changed; behind them those of the properties of ``serving`` that are ``asked`` for, and of benchmark sizes, if they are.

    A random operation's draws follow each other at once, and it is not repeated.

    With ``ordered``, each repeat is followed by another one whose programs go in another order, which needs launches that are executed.
    """
    wanted = [each for case in range(len(task.cases)) for each in _rounds(task, case)]
    if all(_asked(task, each) for each in wanted):
        raise InvalidTask("no case is one of the published grade: add a plain one to CASES", task.path)
    wanted += [] if task.contract.random else _repeats(task, wanted, ordered)
    wanted += _of_magnitudes(task)
    special = _special(task)
    wanted += [] if special is None else [special]
    calls: list[PlannedCall] = []
    first: dict[tuple[int, int], int] = {}

    def add(each: _Wanted, repeats: int | None = None) -> int:
        name = f"{seed}/{task.name}/{each.case}/{each.round}"
        order = each.order or ASCENDING
        calls.append(PlannedCall(
            len(calls), task.cases[each.case], each.distribution, name, repeats, each.case + each.round, _asked(task, each), order,
        ))  # fmt: skip
        return calls[-1].index

    def last(each: _Wanted) -> tuple[bool, int, int]:
        asked = _asked(task, each)
        return properties.SPECIAL in asked, len(asked), 0 if each.order is None else 1 + (each.order != ASCENDING)

    drawn = False
    for each in sorted(wanted, key=last):
        if not drawn and _asked(task, each):
            calls += _of_drawn_shape(task, seed, len(calls))
            drawn = True
        if each.order is not None:
            add(each, first[each.case, each.round])
            continue
        index = first[each.case, each.round] = add(each)
        for _ in range(task.contract.draws - 1):
            add(each, index)
    if not drawn:
        calls += _of_drawn_shape(task, seed, len(calls))
    calls += _of_module(task, seed, len(calls))
    calls += _of_batches(task, seed, len(calls), device) if serving.BATCH_INVARIANT in asked else []
    calls += _of_repeated(task, seed, len(calls), device) if serving.LARGE_INDEX in asked else []
    return calls + (_of_sizes(task, seed, len(calls), device) if properties.SIZED in asked else [])


@functools.lru_cache(maxsize=256)
def _of_drawn_shape(task: Task, seed: str, first: int) -> tuple[PlannedCall, ...]:
    """A call of a shape that the seed draws, and its repeats if it is random, of which the first has index ``first``; none where there are no
    published tests, or no such shape was found."""
    if task.envelope is None:
        return ()
    distributions = {case: _inside(task, case) for case in range(len(task.cases))}
    inside = [case for case, each in distributions.items() if each and _elements(task, case)]
    if not inside:
        return ()
    distribution, name = distributions[inside[0]][0], f"{seed}/{task.name}/drawn"
    parameters = drawn_shapes.draw(task, [task.cases[case] for case in inside], distribution, name)
    if parameters is None:
        return ()
    return tuple(
        PlannedCall(first + draw, parameters, distribution, name, first if draw else None)
        for draw in range(task.contract.draws)
    )


def _of_module(task: Task, seed: str, first: int) -> list[PlannedCall]:
    """The calls of a module beyond the published ones, of which the first has index ``first``."""
    made: list[PlannedCall] = []
    for each in module_variations.of(task):
        name, index = f"{seed}/{task.name}/{each.property}", first + len(made)
        for draw in range(task.contract.draws):
            repeats = index if draw else None
            asked = frozenset([each.property])
            made.append(
                PlannedCall(
                    index + draw, each.parameters, each.distribution, name, repeats, draw, asked, dtype=each.dtype
                )
            )
    return made


def _of_batches(task: Task, seed: str, first: int, device: str) -> list[PlannedCall]:
    """A call for each batch of a case whose rows are independent; the largest one has index ``first``, and the others are said to repeat it."""
    batched = serving.batched(task, _plain_cases(task), device)
    if batched is None:
        return []
    name, asked = f"{seed}/{task.name}/{serving.BATCH_INVARIANT}", frozenset([serving.BATCH_INVARIANT])
    return [
        PlannedCall(
            first + i, task.cases[batched.case], batched.distribution, name, first if i else None,
            properties=asked, batch=batch,
        )
        for i, batch in enumerate(batched.batches())
    ]  # fmt: skip


def _of_repeated(task: Task, seed: str, first: int, device: str) -> list[PlannedCall]:
    """A call whose rows are repeated until there are more than 2^31 elements."""
    found = serving.repeated(task, _plain_cases(task), device)
    if found is None:
        return []
    batched, batch = found
    name, asked = f"{seed}/{task.name}/{serving.LARGE_INDEX}", frozenset([serving.LARGE_INDEX])
    return [PlannedCall(first, task.cases[batched.case], batched.distribution, name, properties=asked, batch=batch)]


def _of_sizes(task: Task, seed: str, first: int, device: str) -> list[PlannedCall]:
    """Two calls of each benchmark size on a GPU, so that what is done in the first can be done again on the values of the second, in an order that
    the seed draws: those of the first size that has room are made. None of a task whose other calls are as large."""
    if torch.device(device).type != "cuda" or task.large or task.contract.random or task.judges_state:
        return []
    name, asked = f"{seed}/{task.name}/benchmark size", frozenset([properties.SIZED])
    sizes = random.Random(name).sample(task.sizes, len(task.sizes))
    return [
        PlannedCall(first + 2 * place + k, size, task.plain, f"{name}/{place}/{k}", properties=asked)
        for place, size in enumerate(sizes)
        for k in range(2)
    ]


def _plain_cases(task: Task) -> tuple[tuple[int, str], ...]:
    """Those of the published grade, with a distribution of each."""
    return tuple((case, found[0]) for case in range(len(task.cases)) if (found := _inside(task, case)))


def _rounds(task: Task, case: int) -> list[_Wanted]:
    """The first calls of a case. Round *r* draws from distribution *case + r*, so that every case meets several and few rounds cover all.

    Where the published tests are known, a case inside has ``SEEDS`` rounds of values inside, one of others, and one in which what no
    test reads is judged; a case outside has ``OTHER_ROUNDS``, or one if it has no elements, and in the last all is judged.
    """
    if task.envelope is None:
        places = (case + r for r in range(task.rounds_of(task.cases[case])))
        return [_Wanted(case, r, _turn(task.distributions, place)) for r, place in enumerate(places)]
    ordinary = [d for d in task.distributions if d in ORDINARY] or list(task.distributions)
    others = [d for d in task.distributions if d not in ordinary and _asked_with(task, case, d)]
    state = bool(task.unread)
    if inside := _inside(task, case):
        made = [_Wanted(case, r, _turn(inside, case + r)) for r in range(SEEDS)]
        earlier = sum(bool(_inside(task, each)) for each in range(case))
        made += [_Wanted(case, SEEDS, _turn(others, earlier))] if others else []
        return made + [_Wanted(case, SEEDS + 1, inside[0], state=True)] * state
    rounds = OTHER_ROUNDS if _elements(task, case) else 1
    values = [_turn((others or ordinary) if r else ordinary, case + r) for r in range(rounds)]
    return [_Wanted(case, r, d, state=state and r == rounds - 1) for r, d in enumerate(values)]


def _inside(task: Task, case: int) -> list[str]:
    """Ordinary distributions with which a case is of the published grade."""
    ordinary = [d for d in task.distributions if d in ORDINARY] or task.distributions
    return [d for d in ordinary if not _asked_with(task, case, d)]


def _turn(distributions: Sequence[str], place: int) -> str:
    return distributions[place % len(distributions)]


def _asked(task: Task, wanted: _Wanted) -> frozenset[str]:
    """What a call asks for that the published tests do not."""
    return _asked_with(task, wanted.case, wanted.distribution) | ({properties.STATE} if wanted.state else set())


@functools.lru_cache(maxsize=16384)
def _asked_with(task: Task, case: int, distribution: str) -> frozenset[str]:
    """The same of any call of a case with values of a distribution: its parameters and the distribution decide it, no seed."""
    if scaled := properties.of_power(distribution):
        return scaled
    if task.envelope:
        return properties.of_call(task, _sample(task, case, distribution), _sample(task, 0)) | task.asked(
            task.cases[case]
        )
    if task.tested is None:
        return _of_own_file(task, task.cases[case])
    made = _sample(task, case)
    of_case = properties.of_call(task, made, _sample(task, 0)) | task.asked(task.cases[case])
    values = frozenset() if "empty" in of_case else properties.of_values(distribution)
    return (of_case | values) - set(task.tested)


def _of_own_file(task: Task, case: Parameters) -> frozenset[str]:
    """What a case of a task file made of a user's own reference asks for: special values, where the file says that its values are varied
    so. Values that the author draws decide, NaN and infinities too."""
    special = OWN in task.tags and case.get("variation") == properties.SPECIAL
    return frozenset([properties.SPECIAL] * special)


@functools.lru_cache(maxsize=128)
def _sample(task: Task, case: int, distribution: str | None = None) -> Call:
    """A call of a case as an example; so a bad one shows."""
    distribution = distribution or _turn(task.distributions, case)
    return task.call(task.cases[case], distribution, f"{task.name}/{case}/{distribution}/plan")


@functools.lru_cache(maxsize=4096)
def _elements(task: Task, case: int) -> int:
    return sum(t.numel() for t in argument_tensors(_sample(task, case)))


@functools.lru_cache(maxsize=1024)
def _special(task: Task) -> _Wanted | None:
    """One more call of a case, with special values: the first of the published grade whose arguments then hold some. None where the
    operation does not say what becomes of them."""
    if (task.envelope is None and task.tested is None) or type(task.contract) not in (Close, Exact):
        return None
    if not PASSES_ON & set(task.tags) or MIXES & set(task.tags):
        return None
    for case in range(len(task.cases)):
        plain = any(not _asked_with(task, case, d) for d in task.distributions if d in ORDINARY)
        if plain and properties.SPECIAL in _asked_with(task, case, SPECIAL):
            return _Wanted(case, task.rounds + SEEDS, SPECIAL)
    return None


@functools.lru_cache(maxsize=1024)
def _of_magnitudes(task: Task) -> list[_Wanted]:
    """One call each for the task's ``magnitudes``, of the first case of the published grade; none where there are no published tests."""
    if task.envelope is None or not task.magnitudes:
        return []
    case = next(c for c in range(len(task.cases)) if _inside(task, c) and _elements(task, c))
    first = task.rounds + SEEDS + 1
    return [_Wanted(case, first + place, times(power)) for place, power in enumerate(task.magnitudes)]


def _repeats(task: Task, wanted: list[_Wanted], ordered: bool) -> list[_Wanted]:
    """The calls to repeat: of each of the cases with most elements in their arguments, those of the published grade before others, the first
    that asks for least. The first case goes in reverse as well, the next in random order."""
    ordinary = sorted(wanted, key=lambda each: each.distribution not in ORDINARY)
    first = {each.case: each for each in reversed(ordinary)}
    decisive = {case: not _asked(task, each) for case, each in first.items()}
    few = len(first) <= REPEATED and all(decisive.values())  # of a module there is a single one, of gigabytes
    largest = sorted(first, key=lambda case: (not decisive[case], 0 if few else -_elements(task, case)))[:REPEATED]
    again = [(case, ASCENDING) for case in sorted(largest)]
    again += list(zip(largest, (REVERSED, SHUFFLED), strict=False)) if ordered else []
    return [first[case]._replace(order=order) for case, order in again]
