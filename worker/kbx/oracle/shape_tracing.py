"""Traces the shapes of a task's calls, without values: enough to compile a candidate's launches before it has a device, or to
profile them without an oracle's values."""

from __future__ import annotations

import functools

import torch

from kbx import tensors
from kbx.messages import CallTree, ProfiledCall, TracedCall, Tree
from kbx.oracle import truth
from kbx.oracle.task import OWN, InvalidTask, Parameters, Task, describe
from kbx.shapes import Shapes, ValuesNeeded
from kbx.suite import Call, notation

_TURNS = 2
"""Every other call leaves arguments out, see ``Task.spoken``: that may be another launch."""


@functools.lru_cache(maxsize=1024)
def calls(task: Task, timed: bool) -> list[TracedCall]:
    """Every distinct call of the cases, and where ``timed`` of the sizes, as in ``messages.oracle.ShapesTraced``.

    Made without memory for any value. Where a shape depends on values the call is left out: what another one compiles mostly
    serves it too.
    """
    found: dict[str, TracedCall] = {}
    for size, parameters in [*((True, each) for each in task.sizes if timed), *((False, each) for each in task.cases)]:
        made = _made(task, parameters)
        if made is None:
            continue
        for turn in range(_TURNS):
            call = _plain(task.spoken(made, turn))
            found.setdefault(repr(call), {"args": call["args"], "kwargs": call["kwargs"], "timed": size})
    return list(found.values())


def largest(task: Task) -> tuple[str, ProfiledCall] | None:
    """The benchmark size with the largest arguments, as ``messages.oracle.LargestShapesTraced`` has it: ``(shape, call)``.

    Sizes whose shapes depend on values are left out; None where that leaves none.
    """
    made = [(parameters, _made(task, parameters)) for parameters in task.sizes]
    known = [(parameters, call) for parameters, call in made if call is not None]
    if not known:
        return None
    parameters, call = max(known, key=lambda size: _bytes(size[1]))
    plain, module = _plain(call), task.module("shapes")
    traced: ProfiledCall = {"args": plain["args"], "kwargs": plain["kwargs"]}
    if module:
        traced["module"] = module
    return shown(task, parameters), traced


@functools.lru_cache(maxsize=1024)
def _shown(task: Task, number: int | None, variation: str | None) -> str | None:
    made = _made(task, {} if number is None else {"number": number})
    text = None if made is None else f"inputs=({notation.shown(made)})"
    return f"{text}, {variation}" if text and variation else text


def shown(task: Task, parameters: Parameters) -> str:
    """A case in words. Of a task that was made of a user's reference the arguments, where the case only says which call of it."""
    if OWN in task.tags and set(parameters) <= {"number", "variation"} and task.path == task.stamp[0]:
        text = _shown(task, parameters.get("number"), parameters.get("variation"))
        if text is not None:
            return text
    return describe(parameters)


def _made(task: Task, parameters: Parameters) -> Call | None:
    """A call without memory for large values; None where its shapes depend on those."""
    try:
        with Shapes(exact=True):
            return task.call(parameters, task.distributions[0], "shapes", "cpu", fast=True)
    except InvalidTask as error:
        if isinstance(error.__cause__, ValuesNeeded):
            return None
        raise


def _bytes(call: Call) -> int:
    return sum(t.numel() * t.element_size() for t in truth.argument_tensors(call))


def _plain(call: Call) -> CallTree:
    args = [tensors.encode(a, _leaf) for a in call.args]
    return {"args": args, "kwargs": {k: tensors.encode(v, _leaf) for k, v in call.kwargs.items()}}


def _leaf(tensor: torch.Tensor) -> Tree:
    return {"t": "tensor", "shape": list(tensor.shape), "stride": list(tensor.stride()),
            "dtype": tensors.dtype_name(tensor.dtype)}  # fmt: skip
