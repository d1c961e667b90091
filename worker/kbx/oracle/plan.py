"""Which calls a candidate is judged on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kbx.messages.oracle import CallPlan
from kbx.oracle import module_variations, properties
from kbx.oracle.task import InvalidTask, Parameters, Task, describe
from kbx.oracle.truth import argument_tensors
from kbx.suite.contracts import Close, Exact
from kbx.suite.inputs import SPECIAL
from kbx.ttir.launch import ASCENDING, REVERSED, SHUFFLED

_Wanted: TypeAlias = tuple[int, int, str, str | None]
"""Case, round, distribution, and the order of programs where it repeats an earlier call."""


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

    @property
    def special(self) -> bool:
        """Whether it decides nothing."""
        return properties.SPECIAL in self.properties

    def message(self) -> CallPlan:
        """As in ``messages.oracle.Opened.calls``."""
        return {
            "index": self.index, "case": describe(self.parameters), "distribution": self.distribution, "repeats": self.repeats,
            "properties": sorted(self.properties), "dtype": self.dtype,
        }  # fmt: skip


ORDINARY = ("standard", "uniform", "outliers")
"""Distributions of the published grade."""
LEAST = 2
"""Times at least that each case of the published grade is called with such values."""
PASSES_ON = {"elementwise", "reduction", "softmax", "normalization", "loss", "pooling"}
"""Tags of operations that say what becomes of NaN and infinities, if they have none of the next: there one reaches every element."""
MIXES = {"matmul", "convolution", "linear-algebra", "decomposition", "attention"}


def plan(task: Task, seed: str, ordered: bool = False) -> list[PlannedCall]:
    """The calls of one candidate, in order: those of the published grade, then the others, those that ask for least first; then
    the repeats; then those with special values, which decide nothing; last those of a module whose weights or dtype are changed.

    Case *i* in round *r* draws from distribution *i + r*, so that every case meets several and few rounds cover all; then come
    rounds of ordinary values for cases of the published grade that have met too few. A random operation's draws follow each other
    at once, and it is not repeated.

    With ``ordered``, each repeat is followed by another one whose programs go in another order, which needs launches that are executed.
    """
    cases = _cases(task)
    _check_published(task, cases)
    wanted: list[_Wanted] = [
        (case, r, _values(task, case + r), None)
        for r in range(task.rounds)
        for case, parameters in enumerate(task.cases)
        if r < task.rounds_of(parameters)
    ]
    wanted += _missing(task, cases, wanted)

    def beyond(case: int, distribution: str) -> frozenset[str]:
        return _beyond(task, cases[case].properties, distribution)

    wanted += [] if task.contract.random else _repeats(cases, wanted, beyond, ordered)
    special = _special(task)
    wanted += [] if special is None else [(special, task.rounds + LEAST, SPECIAL, None)]
    calls: list[PlannedCall] = []
    first: dict[tuple[int, int], int] = {}

    def add(case: int, round_: int, distribution: str, repeats: int | None = None, order: str = ASCENDING) -> int:
        name = f"{seed}/{task.name}/{case}/{round_}"
        asked = beyond(case, distribution)
        calls.append(
            PlannedCall(len(calls), task.cases[case], distribution, name, repeats, case + round_, asked, order)
        )
        return calls[-1].index

    def last(call: _Wanted) -> tuple[bool, int, int]:
        asked, again = beyond(call[0], call[2]), call[3]
        return properties.SPECIAL in asked, len(asked), 0 if again is None else 1 + (again != ASCENDING)

    for case, round_, distribution, again in sorted(wanted, key=last):
        if again is not None:
            add(case, round_, distribution, first[case, round_], again)
            continue
        index = first[case, round_] = add(case, round_, distribution)
        for _ in range(task.contract.draws - 1):
            add(case, round_, distribution, index)
    return calls + _of_module(task, seed, len(calls))


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


def _check_published(task: Task, cases: list[_Case]) -> None:
    """Raises InvalidTask where no call would be of the published grade: every candidate would be right there."""
    ordinary = [d for d in task.distributions if d in ORDINARY] or list(task.distributions)
    if all(_beyond(task, case.properties, ordinary[0]) for case in cases):
        raise InvalidTask("TESTED leaves no case to the published grade: add a plain one to CASES", task.path)


def _values(task: Task, place: int) -> str:
    return task.distributions[place % len(task.distributions)]


def _beyond(task: Task, of_case: frozenset[str], distribution: str) -> frozenset[str]:
    """What a call asks for that the published tests do not."""
    if task.tested is None:
        return frozenset()
    values = frozenset() if "empty" in of_case else properties.of_values(distribution)
    return (of_case | values) - (set(task.tested) - {properties.SPECIAL})


def _missing(task: Task, cases: list[_Case], wanted: list[_Wanted]) -> list[_Wanted]:
    """Further rounds of cases of the published grade that have fewer than ``LEAST`` such calls."""
    if task.tested is None:
        return []
    ordinary = [d for d in task.distributions if d in ORDINARY] or list(task.distributions)
    found: list[_Wanted] = []
    for case, made in enumerate(cases):
        if _beyond(task, made.properties, ordinary[0]):
            continue
        met = [d for c, _, d, _ in wanted if c == case and not _beyond(task, made.properties, d)]
        rest = [d for d in ordinary if d not in met] or ordinary
        found += [(case, task.rounds + i, rest[i % len(rest)], None) for i in range(LEAST - len(met))]
    return found


@dataclass(frozen=True)
class _Case:
    """What is known of an entry of ``CASES``: the elements of its arguments, and what it asks for."""

    elements: int = 0
    properties: frozenset[str] = frozenset()


@functools.lru_cache(maxsize=1024)
def _cases(task: Task) -> list[_Case]:
    """One ``_Case`` an entry; makes each once, so a bad one shows. Its properties are those of every call: values aside, the
    parameters alone decide them.

    Where there is nothing to choose from none is made: a module has a single case, of gigabytes.
    """
    if len(task.cases) <= REPEATED and task.tested is None:
        return [_Case() for _ in task.cases]
    made = [
        task.call(parameters, _values(task, case), f"{task.name}/{case}/plan")
        for case, parameters in enumerate(task.cases)
    ]
    elements = [sum(t.numel() for t in argument_tensors(call)) for call in made]
    asked = [properties.of_call(task, call, made[0]) | task.asked(p) for p, call in zip(task.cases, made, strict=True)]
    return [_Case(*case) for case in zip(elements, asked, strict=True)]


@functools.lru_cache(maxsize=1024)
def _special(task: Task) -> int | None:
    """The case that is called once more with special values: the first of the published grade whose arguments then hold some.
    None where the operation does not say what becomes of them."""
    if task.tested is None or type(task.contract) not in (Close, Exact):
        return None
    if not PASSES_ON & set(task.tags) or MIXES & set(task.tags):
        return None
    for case, parameters in enumerate(task.cases):
        if _beyond(task, _cases(task)[case].properties, "standard"):
            continue
        made = task.call(parameters, SPECIAL, f"{task.name}/{case}/special")
        if properties.SPECIAL in properties.of_call(task, made, made):
            return case
    return None


def _repeats(
    cases: list[_Case], wanted: list[_Wanted], beyond: Callable[[int, str], frozenset[str]], ordered: bool
) -> list[_Wanted]:
    """The calls to repeat: of each of the cases with most elements in their arguments, those of the published grade before others, the first
    that asks for least. The first case goes in reverse as well, the next in random order."""
    ordinary = sorted(wanted, key=lambda call: call[2] not in ORDINARY)
    first = {call[0]: call for call in reversed(ordinary)}
    decisive = {case: not beyond(case, call[2]) for case, call in first.items()}
    largest = sorted(first, key=lambda case: (not decisive[case], -cases[case].elements))[:REPEATED]
    again = [(case, ASCENDING) for case in sorted(largest)]
    again += list(zip(largest, (REVERSED, SHUFFLED), strict=False)) if ordered else []
    return [(*first[case][:3], order) for case, order in again]
