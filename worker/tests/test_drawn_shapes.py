"""One call of each task has a shape that its file does not name."""

import pathlib

import pytest

from kbx.oracle import plan, taskfile
from kbx.oracle.truth import argument_tensors

TASKS = sorted((pathlib.Path(__file__).parents[2] / "tasks" / "kernelbenchx").glob("*/*.py"))
WITHOUT = {"logspace", "rand"}
"""Tasks without tensors among their arguments, whose lengths stay those of the file."""


def drawn(task, seed):
    """The call of the plan that no case of the file makes."""
    return [call for call in plan.plan(task, seed) if call.parameters not in task.cases]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("path", [path for path in TASKS if path.stem not in WITHOUT], ids=lambda path: path.stem)
def test_each_task_has_a_call_of_a_drawn_shape_that_decides(path):
    task = taskfile.load(str(path), "cpu")
    calls = drawn(task, "a")
    assert len(calls) == task.contract.draws
    assert all(not call.properties for call in calls)
    shapes = [t.shape for t in argument_tensors(calls[0].made(task, "cpu"))]
    known = [[t.shape for t in argument_tensors(task.call(case, "standard", "a"))] for case in task.cases]
    assert shapes not in known


def test_seed_draws_the_shape():
    task = taskfile.load(str(next(path for path in TASKS if path.stem == "cos")), "cpu")
    shapes = {seed: drawn(task, seed)[0].parameters for seed in map(str, range(8))}
    assert len(set(map(str, shapes.values()))) > 4
    assert all(drawn(task, seed)[0].parameters == parameters for seed, parameters in shapes.items())
