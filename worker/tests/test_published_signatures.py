"""Every call that a task makes fits the parameters that KernelBench-X's prompt shows, and those that its code has.

A kernel is written from the one or copied from the other. ``published_signatures.json`` holds both for every task, without
annotations; the eight dtype variants have no prompt.
"""

import inspect
import json
import pathlib

import pytest
import torch
from oracle_process import TASKS

from kbx.oracle import taskfile
from kbx.oracle.task import signature

PUBLISHED = json.loads(pathlib.Path(__file__).with_name("published_signatures.json").read_text())
OTHER_PARAMETERS = {
    "Index/index_fill_": "the prompt shows a tensor's method, without the tensor",
    "Optimizer/SGD": "the prompt shows the class of an optimizer, the code takes one parameter and its gradient",
    "Pooling/adaptive_avg_pool2d": "the prompt leaves out the input",
}
"""Prompts from which no kernel for the published calls can be written: only the code's signature counts."""


def _signatures(name):
    kinds = ("code",) if name in OTHER_PARAMETERS else ("prompt", "code")
    return [_signature(PUBLISHED[name][kind]) for kind in kinds if kind in PUBLISHED[name]]


def _signature(parameters):
    names = {"torch": torch}
    exec(f"def entry({parameters}): pass", names)
    return inspect.signature(names["entry"])


def _spoken(task):
    """Every correctness call with and without its defaults, and the smallest timed one."""
    for index, parameters in enumerate([*task.cases, task.sizes[0]]):
        made = task.call(parameters, task.distributions[index % len(task.distributions)], f"{task.name}/{index}")
        yield made
        yield task.spoken(made, 1)


def _mismatches(task, call, published):
    """What a kernel with the published parameters would get otherwise than the reference does."""
    try:
        theirs = published.bind(*call.args, **call.kwargs)
    except TypeError as error:
        return [str(error)]
    ours = signature(task.reference).bind(*call.args, **call.kwargs)
    ours.apply_defaults()
    theirs.apply_defaults()
    # Leading tensors have other names in some prompts; everything else is the same by name.
    return [
        f"{name} is {theirs.arguments[name]!r}, for the reference {value!r}"
        for name, value in ours.arguments.items()
        if name in theirs.arguments and not _same(theirs.arguments[name], value)
    ]


def _same(one, other):
    return one is other or (not isinstance(one, torch.Tensor) and one == other)


def test_every_task_has_a_published_signature():
    assert {f"{path.parent.name}/{path.stem}" for path in TASKS.glob("*/*.py")} == set(PUBLISHED)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", PUBLISHED)
def test_calls_fit_the_published_signatures(name):
    task = taskfile.load(TASKS / f"{name}.py")
    found = [
        complaint
        for call in _spoken(task)
        for published in _signatures(name)
        for complaint in _mismatches(task, call, published)
    ]
    assert found == []


def test_a_keyword_passed_by_position_is_found():
    task = taskfile.load(TASKS / "Math" / "div.py")
    made = task.call(dict(shape=(3,), other=(3,), rounding_mode="floor"), "standard", "seed")
    by_position = type(made)((*made.args, "floor"), {})
    prompt, code = _signatures("Math/div")
    assert _mismatches(task, made, prompt) == _mismatches(task, made, code) == []
    assert _mismatches(task, by_position, prompt) == ["too many positional arguments"]


def test_a_default_that_differs_is_found():
    task = taskfile.load(TASKS / "Math" / "softmax.py")
    made = task.call(dict(shape=(3,), dim=0), "standard", "seed")
    changed = _signature("input, dim, dtype=torch.float64")
    assert _mismatches(task, task.spoken(made, 1), changed) == ["dtype is torch.float64, for the reference None"]
