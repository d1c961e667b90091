"""What the calls of a task look like, values apart: enough to compile a candidate's launches before it has a device."""

import functools

from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)

from kbx import tensors
from kbx.oracle import truth
from kbx.oracle.taskfile import InvalidTask

_NOT_WITHOUT_VALUES = (
    DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException, UnsupportedFakeTensorException,
)  # fmt: skip
_LARGEST = 256 << 20
"""Bytes of a call's arguments: what a candidate does in PyTorch before it launches touches them all."""
_TURNS = 2
"""Every other call leaves arguments out, see ``Task.spoken``: that may be another launch."""


@functools.lru_cache(maxsize=1024)
def calls(task, timed):
    """Every distinct call of the cases, and where ``timed`` of the sizes, as in ``messages.Outlined``.

    Made without memory for any value. Where a shape depends on values the call is left out, and so are calls that are too
    large to be made on the host: what a smaller size compiles mostly serves them too.
    """
    found = {}
    for parameters in [*task.cases, *(task.sizes if timed else [])]:
        try:
            with FakeTensorMode(allow_non_fake_inputs=True):
                made = task.call(parameters, task.distributions[0], "outline", "cpu", fast=True)
                spoken = [task.spoken(made, turn) for turn in range(_TURNS)]
        except InvalidTask as error:
            if isinstance(error.__cause__, _NOT_WITHOUT_VALUES):
                continue
            raise
        if sum(t.numel() * t.element_size() for t in truth.argument_tensors(made)) > _LARGEST:
            continue
        for call in spoken:
            args = [tensors.encode(a, _leaf) for a in call.args]
            kwargs = {k: tensors.encode(v, _leaf) for k, v in call.kwargs.items()}
            found.setdefault(repr((args, kwargs)), {"args": args, "kwargs": kwargs})
    return list(found.values())


def _leaf(tensor):
    return {"t": "tensor", "shape": list(tensor.shape), "stride": list(tensor.stride()),
            "dtype": tensors.dtype_name(tensor.dtype)}  # fmt: skip
