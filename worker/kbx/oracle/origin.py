"""Whether a right result is what the candidate's launches and operations make of the arguments: they are made again without it.

The executor does what was recorded in the call before, of the same shapes, on this call's values (``kbx.executor.replay``). A result that
somebody else computed is missing there, and numbers that the candidate has read and computed with are those of the other call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from kbx.messages import Tree
from kbx.oracle import claims, judge
from kbx.oracle.executions import Executions, Replayed
from kbx.oracle.plan import PlannedCall
from kbx.oracle.task import Task
from kbx.oracle.truth import Known
from kbx.suite import Call
from kbx.suite.values import leaves as leaves_of
from kbx.suite.values import transform
from kbx.tensors import Arena
from kbx.ttir.launch import ASCENDING

UNPROVEN = "unproven_origin"
"""The flag of a candidate whose call cannot be done again."""
_SEED = 1 << 20
"""Of what is undefined in a replay: no call has it."""
_MOST_READS, _MOST_STEPS, _MOST_OLDER = 8, 64, 64
"""What a call may have read to Python, and the operations, launches and bytes older than it that it may consist of, if it can be done
again on its own values only: too few to carry a result of more than ``_FEW`` elements."""
_FEW = 32
_TRIES = 2
"""On a GPU, before a call counts as one that cannot be made again."""
_NEAR = 1e-2
"""Of a result's own size and that of all, on a GPU: what was computed elsewhere is not there at all."""


def follow(before: PlannedCall, now: PlannedCall) -> bool:
    """Whether two calls ask for the same but for what arguments hold."""
    if before.repeats is not None or now.repeats is not None or now.order != ASCENDING:
        return False
    return (before.parameters, before.dtype, before.properties) == (now.parameters, now.dtype, now.properties)


def comparable(before: Call, now: Call) -> bool:
    """Whether what was done in a call may be done on the values of the next: they differ in what tensors hold alone."""
    return _without_values(before) == _without_values(now)


def _without_values(call: Call) -> str:
    def shown(leaf: Any) -> Any:
        return (leaf.shape, leaf.stride(), leaf.dtype) if isinstance(leaf, torch.Tensor) else repr(leaf)

    return repr(transform([list(call.args), dict(call.kwargs)], shown))


def judged(
    task: Task,
    known: Known,
    claim: Any,
    arena: Arena,
    executions: Executions,
    asked: Sequence[str],
    lend: Callable[[], Sequence[Tree]],
    judgement: judge.Judgement,
) -> judge.Judgement:
    """The judgement on a right result ``claim`` of the call ``known``, after it was made again. ``lend()`` lends its arguments in
    ``arena`` as they were before the call."""

    def again(back: int) -> tuple[Replayed | None, bool]:
        leaves = lend()
        replayed = executions.replay(back, leaves, asked, _SEED)
        if replayed is None or replayed.unfit is not None:
            return replayed, False
        return replayed, _is_right(task, known, claim, arena, leaves, replayed)

    elsewhere = None
    for _ in range(_TRIES if executions.on_gpu else 1):
        other, right = again(1)
        if other is None:
            return judgement
        if right:
            judgement.account = other.account
            if not _read(claim, other):
                judgement.flags.append(UNPROVEN)
            return judgement
        own, right = again(0)
        if own is None or own.unfit is not None:
            judgement.flags.append(UNPROVEN)
            return judgement
        if right and _decides_by_values(own, other):
            return judgement
        elsewhere = _THROUGH_PYTHON if right else _ALONE
    judgement.elsewhere = elsewhere
    return judgement


def repeated(
    claim: Any,
    claimed: Sequence[torch.Tensor],
    executions: Executions,
    asked: Sequence[str],
    lend: Callable[[], Sequence[Tree]],
    judgement: judge.Judgement,
) -> judge.Judgement:
    """The judgement on a right result ``claim``, whose tensors are ``claimed``, after the same was done on the same values: for calls that depend on
    chance, or on what the candidate keeps, so that no other call has their values."""
    own = executions.replay(0, lend(), asked, _SEED)
    is_same = _is_near if executions.on_gpu else _is_same
    if own is None or own.unfit is not None or not _read(claim, own):
        judgement.flags.append(UNPROVEN)
    elif len(own.results) == len(claimed) and all(map(is_same, own.results, claimed)):
        judgement.account = own.account
    else:
        judgement.elsewhere = _ALONE
    return judgement


def _is_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    same_form = (a.shape, a.dtype) == (b.shape, b.dtype)
    return same_form and torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8))


def _is_near(a: torch.Tensor, b: torch.Tensor) -> bool:
    """The same for a GPU, where atomic operations add up in any order."""
    if not a.is_floating_point() or (a.shape, a.dtype) != (b.shape, b.dtype):
        return _is_same(a, b)
    a, b = a.double(), b.double()
    finite = b.isfinite()
    if not torch.equal(a[~finite].nan_to_num(), b[~finite].nan_to_num()):
        return False
    size = b[finite].square().mean().sqrt() if bool(finite.any()) else 0.0
    return bool(((a - b)[finite].abs() <= _NEAR * (b[finite].abs() + size)).all())


def _read(claim: Any, replayed: Replayed) -> bool:
    """Whether the fractions of a result, which is no tensor, are what the call handed to Python, and nothing that Python made of it."""
    fractions = {leaf.hex() for _, leaf in leaves_of(claim) if isinstance(leaf, float)}
    return fractions <= set(replayed.scalars)


_ALONE = "its launches and PyTorch operations, made again without its Python, do not make the result"
_THROUGH_PYTHON = f"{_ALONE} of other values"


def _decides_by_values(own: Replayed, other: Replayed) -> bool:
    """Whether a host that reads sizes, or decides by a few values, explains that a call cannot be done on other values."""
    few = own.reads <= _MOST_READS and own.steps <= _MOST_STEPS and own.older <= _MOST_OLDER
    elements = sum(result.numel() for result in own.results)
    are_arguments = own.reads == own.numbers
    of_values = other.unfit is not None or [r.shape for r in own.results] != [r.shape for r in other.results]
    return few and own.reads > 0 and (are_arguments or of_values or elements > _FEW)


def _is_right(task: Task, known: Known, claim: Any, arena: Arena, leaves: Sequence[Tree], replayed: Replayed) -> bool:
    expected = claims.tensor_claims(claim)
    if [(c.shape, c.dtype) for c in expected] != [(tuple(t.shape), t.dtype) for t in replayed.results]:
        return False
    results = dict(zip(map(id, expected), replayed.results, strict=True))
    for offset, content in replayed.arguments.items():
        arena.typed(offset, len(content), torch.uint8).copy_(torch.frombuffer(content, dtype=torch.uint8))
    updated = judge.updated_in(arena, task, known.call, leaves)
    examined = judge.examine(task, known, claim, lambda c: results[id(c)], list, updated)
    if examined.status != "correct":
        return False
    value = examined.value
    return judge.agrees(task, value, known) or judge.decide(task, known, [value], explained=False).status == "correct"
