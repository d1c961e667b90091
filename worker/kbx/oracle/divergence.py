"""Which submodule of a candidate's module is the first to return something else than the reference's of the same name."""

from __future__ import annotations

from typing import Any

import torch

from kbx import parts
from kbx.oracle import truth
from kbx.oracle.models import ModelTask
from kbx.oracle.task import InvalidTask, Task
from kbx.suite import Call, Close

_BOUND = Close(growth=64)
"""Looser than any task's: a sample shows less of the reference's own error than a whole result."""


def first(task: Task, call: Call, claimed: Any) -> str | None:
    """The name, in the order of the reference's calls, as ``self.layers.1.norm``; None where none is known to differ. ``claimed`` is what
    a runner says of ``parts.noted``, as ``claims.read`` and ``claims.fetch`` give it: anything may be in it."""
    if not isinstance(task, ModelTask) or not isinstance(claimed, dict):
        return None
    try:
        plain = _noted(task, truth.copy_call(call), False)
        exact = _noted(task, truth.widened(call), True)
    except (InvalidTask, torch.OutOfMemoryError):
        return None
    names = (name for name, sample in plain.items() if _differs(claimed.get(name), sample, exact.get(name, sample)))
    return next((f"self.{name}" for name in names), None)


def _noted(task: ModelTask, call: Call, wide: bool) -> dict[str, parts.Sample]:
    with parts.noted(task.instance(wide)) as found, torch.no_grad():
        task.run("the reference", task.reference, *call.args, **call.kwargs)
    return found


def _differs(claimed: Any, expected: parts.Sample, exact: parts.Sample) -> bool:
    """Whether a sample of as many values is further from the right one than rounding explains."""
    count, want = expected
    if not (isinstance(claimed, list) and len(claimed) == 2 and claimed[0] == count == exact[0]):
        return False
    got = claimed[1]
    if not (isinstance(got, torch.Tensor) and got.is_floating_point() and got.shape == want.shape):
        return False
    if not want.is_floating_point() or want.element_size() == 1:
        return False
    return not _BOUND.compare(Call((want,)), [got.to(want.dtype)], want, exact[1]).right
