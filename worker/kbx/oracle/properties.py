"""What a call asks of a kernel beyond the ordinary, as names that verdicts use: ``non_contiguous``, ``dtype:float16``, ``option:dim``.

Ordinary is a contiguous tensor of the task's dtype with more than one element, finite values around one, and every option at its
default.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator

import torch

from kbx.oracle.envelope import broadcasts
from kbx.oracle.task import Task, signature
from kbx.suite import Call
from kbx.suite.drawn import OF_VALUES as VARIATION_OF
from kbx.suite.inputs import SPECIAL as SPECIAL_DISTRIBUTION
from kbx.suite.inputs import power_of
from kbx.suite.values import leaves, wide

SPECIAL = "special_values"
"""NaN or infinities. A call with such values decides at no grade: what a kernel does there is reported."""

STATE = "state_output"
"""Arguments that the call updates are looked at, though no published test does so."""
PROMISED = "promised:"
"""Before a property that the published statement promises."""

HUGE, FAINT = "huge_values", "faint_values"
"""All values near the upper, or the lower end of what the operation takes of its dtype's range: see ``MAGNITUDES`` of a task."""

SIZED = "benchmark_size"
"""A benchmark size, in a call that is not timed: who computes its result is looked at as in the other calls."""

OF_VALUES = VARIATION_OF | {SPECIAL_DISTRIBUTION: SPECIAL}
"""By distribution; the values of the others are ordinary."""

BROADCASTING = {"elementwise", "broadcast"}
"""Tags of tasks whose tensors may be broadcast against each other; others have shapes of their own for each argument."""


def of_power(distribution: str) -> frozenset[str]:
    """The property of values that are multiplied by a power of two, as a set; empty where they are not."""
    power = power_of(distribution)
    return frozenset([HUGE if power > 0 else FAINT]) if power else frozenset()


def of_values(distribution: str) -> frozenset[str]:
    """The property of values drawn from a distribution, as a set of at most one."""
    return frozenset(OF_VALUES[distribution] for _ in range(distribution in OF_VALUES))


def of_call(task: Task, call: Call, first: Call) -> frozenset[str]:
    """Properties of a call's arguments: where the published tests are known, by which it leaves what they pass. ``first`` is the call of
    the task's first case: its dtypes are ordinary, whatever they are."""
    if task.envelope:
        return frozenset(_promised(task, name) for name in task.envelope.left_by(task.bound(call), _fitting(task)))
    special = (
        not wide(t).isfinite().all() for _, t in _arguments(task, call) if t.is_floating_point() or t.is_complex()
    )
    return of_form(task, call, first) | ({SPECIAL} if any(special) else set())


def of_form(task: Task, call: Call, first: Call) -> frozenset[str]:
    """The same without what values are, so that they need not exist."""
    if task.envelope:
        return task.envelope.left_by(task.bound(call), _fitting(task), values=False)
    tensors = _arguments(task, call)
    usual = {path: t.dtype for path, t in task.named_tensors(first)}
    found = set(_options(task, call))
    for path, tensor in tensors:
        found.update(_layout(tensor))
        found.update(_dtype(tensor, {getattr(torch, task.dtype)}, usual.get(path)))
    # A kernel that is right without elements need not broadcast.
    pairs = itertools.combinations([t.shape for _, t in tensors], 2)
    if "empty" not in found and _fitting(task) and any(broadcasts(one, other) for one, other in pairs):
        found.add("broadcast")
    return frozenset(found)


def _fitting(task: Task) -> bool:
    return bool(BROADCASTING & set(task.tags))


def _promised(task: Task, name: str) -> str:
    return PROMISED + name if name in task.promised else name


def _arguments(task: Task, call: Call) -> list[tuple[str, torch.Tensor]]:
    return [(path, t) for path, t in task.named_tensors(call) if path != "out"]


def _layout(tensor: torch.Tensor) -> Iterator[str]:
    if tensor.dim() == 0:
        yield "zero_dim"
    elif tensor.numel() == 1:
        yield "size_one"
    if tensor.numel() == 0:
        yield "empty"
    elif any(stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.shape, strict=True)):
        yield "expanded"
    elif not tensor.is_contiguous():
        yield "non_contiguous"


def _dtype(tensor: torch.Tensor, task_dtype: set[torch.dtype], usual: torch.dtype | None) -> Iterator[str]:
    """Integers and masks beside the task's dtype are ordinary, unless the first case has another dtype in their place."""
    floating = tensor.is_floating_point() or tensor.is_complex()
    if tensor.dtype not in task_dtype | {usual} and (floating or usual is not None):
        yield f"dtype:{str(tensor.dtype).removeprefix('torch.')}"


def _options(task: Task, call: Call) -> Iterator[str]:
    """Arguments that have a default and are given something else."""
    parameters = signature(task.reference).parameters
    for name, value in signature(task.reference).bind(*call.args, **call.kwargs).arguments.items():
        default = parameters[name].default
        if default is inspect.Parameter.empty:
            continue
        tensors = [leaf for _, leaf in leaves(value, name) if isinstance(leaf, torch.Tensor)]
        if not tensors and value == default:
            continue
        yield {"out": "out_argument", "inplace": "in_place"}.get(name, f"option:{name}")
