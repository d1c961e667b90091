"""What a call of the reference asks of a device: bytes to move, operations to compute, room for its results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from kbx.messages.oracle import Precision
from kbx.oracle import session, truth
from kbx.oracle.arithmetic import Arithmetic
from kbx.oracle.task import Stamp, Task
from kbx.oracle.traffic import Traffic
from kbx.suite import Call
from kbx.suite.values import tensors

_KNOWN: dict[tuple[Stamp, str, int], Work] = {}
"""Work by the task's stamp, its dtype and the size: a reference asks the same of a device each time, whatever its weights, and some take
seconds."""


@dataclass(frozen=True)
class Work:
    """Figures of one size; the fields that are sent are described in ``messages.oracle.PreparedSize``."""

    result_bytes: int
    """What the results take in an arena."""
    bytes: int | None
    flops: int | None
    precision: Precision | None
    least_bytes: int | None
    least_flops: int | None
    uncounted: list[str]


def of(task: Task, size: int, make: Callable[[], Call]) -> Work:
    """The work of benchmark size number ``size``, found by running the reference once on ``make()``, the size's arguments."""
    key = task.stamp, task.dtype, size
    if key not in _KNOWN:
        _KNOWN[key] = measure(task, make())
    return _KNOWN[key]


def measure(task: Task, call: Call) -> Work:
    """Runs the reference once on a copy of the call."""
    scratch = truth.copy_call(call)
    arguments = [*truth.argument_tensors(scratch), *task.constants]
    with torch.no_grad(), Arithmetic(arguments, _allows_tf32(task)) as arithmetic, Traffic(arguments) as traffic:
        returned = task.run("the reference", task.reference, *scratch.args, **scratch.kwargs)
    results = list(tensors(returned))
    # Of weights a module may have worked out a part when it was constructed, and gradients need not all of what they are taken of.
    certain = not task.constants and not task.differentiates
    return Work(
        result_bytes=session.result_bytes(returned), bytes=traffic.total(results), flops=arithmetic.flops,
        precision=(task.products or arithmetic.precision) if arithmetic.flops else None,
        least_bytes=traffic.least(results) if certain else None,
        least_flops=arithmetic.least if certain else None,
        uncounted=sorted(set(arithmetic.uncounted)),
    )  # fmt: skip


def _allows_tf32(task: Task) -> bool:
    return getattr(task.contract, "tf32", False)
