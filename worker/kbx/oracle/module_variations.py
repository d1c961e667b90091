"""Calls of a module beyond the published ones: other values, sizes, weights, dtypes. They are derived here, for every task
with a ``Model``.

Values that the published test never draws, and a smaller size that the file itself names, are what its reference takes. Another change counts only where the reference takes it: it returns, and what it returns is finite. That is tried once for each task, on the
CPU: a bundled task at its smaller sizes, another one where a call is small enough. Where it is not, another batch size is tried on
shapes alone, and other dtypes are left out.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import cast

import torch

from kbx.oracle import models, taskfile, truth
from kbx.oracle.fakes import fake_tensors
from kbx.oracle.models import ModelTask
from kbx.oracle.original_models import OriginalModelTask
from kbx.oracle.own_variations import SEED, may_be_tried
from kbx.oracle.properties import STATE
from kbx.oracle.task import InvalidTask, Parameters, Task, Unsupported
from kbx.suite import Call
from kbx.suite.values import tensors as tensors_of
from kbx.suite.values import wide

BATCH_SIZE, OTHER_WEIGHTS, SMALLER_SIZE = "batch_size", "other_weights", "smaller_size"
"""Properties. A call with other weights is made after those of reference and candidate have changed."""
OF_VALUES = {
    "standard": "normal_values", "small": "tiny_values", "large": "wide_values", "zeros": "zeros",
}  # fmt: skip
"""Properties of values by distribution: where published ones are uniform in [0, 1), signs matter first."""
DTYPES = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Variation:
    """One call. ``dtype``: what weights and floating-point arguments are cast to; None: they stay what they are."""

    property: str
    parameters: Parameters
    distribution: str
    dtype: str | None = None


@functools.lru_cache(maxsize=1024)
def of(task: Task) -> list[Variation]:
    """The variations of a task in the order in which they are called; none of a task that is no module."""
    if not isinstance(task, ModelTask):
        return []
    values, plain, batched = task.distributions[0], task.cases[0], task.other_batch()
    given = [] if task.beside is None else [Variation(SMALLER_SIZE, task.beside, values)]
    given += [Variation(name, plain, each) for each, name in OF_VALUES.items() if each in task.beyond]
    given += [Variation(STATE, plain, values)] if task.state and not task.judges_state else []
    derived = [] if batched is None else [Variation(BATCH_SIZE, batched, values)]
    derived.append(Variation(OTHER_WEIGHTS, plain, values))
    derived += [Variation(f"dtype:{dtype}", plain, values, dtype) for dtype in DTYPES if dtype != task.dtype]
    small = _on_cpu(task)
    return given + [each for each in derived if each.property == OTHER_WEIGHTS or _takes(task, small, each)]


def _on_cpu(task: ModelTask) -> ModelTask | None:
    """The task where its calls are small enough to be tried on the CPU; None where they are not."""
    if isinstance(task, OriginalModelTask):
        return replace(task, device="cpu") if may_be_tried(task, task.device) else None
    if task.device == "cpu":
        return task
    twin = cast("ModelTask", taskfile.load(task.path))
    return twin if task.cast is None else models.at(twin, task.dtype)


def _takes(task: ModelTask, small: ModelTask | None, variation: Variation) -> bool:
    """Whether the reference computes something of a varied call, whose shapes differ from the plain one's if its batch does."""
    try:
        if small is None:
            return variation.dtype is None and _takes_shapes(task, variation)
        return _takes_values(small, variation)
    except (InvalidTask, Unsupported):
        return False


def _takes_values(task: ModelTask, variation: Variation) -> bool:
    parameters = task.cases[0] if variation.dtype else task.other_batch()
    if parameters is None:
        return False
    plain = task.call(task.cases[0], variation.distribution, SEED)
    if variation.dtype and not _is_all(task.dtype, plain):
        return False
    task = (models.at(task, variation.dtype) if variation.dtype else task).seeded(SEED)
    call = task.with_state(task.call(parameters, variation.distribution, SEED), 0)
    if not variation.dtype and _shapes(call) == _shapes(plain):
        return False
    results = tensors_of(truth.know(task, call, SEED, wide=False).expected)
    return all(bool(wide(t).isfinite().all()) for t in results if t.is_floating_point() or t.is_complex())


def _takes_shapes(task: ModelTask, variation: Variation) -> bool:
    task = replace(task, cast=None)  # nothing to do with shapes
    with fake_tensors(), torch.no_grad():
        reference, _ = task.traced()
        plain = task.call(task.cases[0], variation.distribution, SEED)
        call = task.call(variation.parameters, variation.distribution, SEED)
        task.run("the reference", reference, *call.args, **call.kwargs)
    return _shapes(call) != _shapes(plain)


def _is_all(dtype: str, call: Call) -> bool:
    """Whether a call has floating-point tensors, and all of this dtype: a reference of other dtypes was made for them."""
    return {t.dtype for t in truth.argument_tensors(call) if t.is_floating_point()} == {getattr(torch, dtype)}


def _shapes(call: Call) -> list[torch.Size]:
    return [t.shape for t in truth.argument_tensors(call)]
