"""The bundled KernelBench tasks against the published ones: what kernels and weights written for those rely on.

``kernelbench.jsonl`` has a line for each: constructor arguments, inputs (a dtype and a shape, or a plain value), and the
names, shapes and order of ``state_dict``.
"""

import inspect
import json
import pathlib

import pytest
import torch

from kbx.oracle import taskfile
from kbx.suite import Inputs

HOME = pathlib.Path(__file__).resolve().parents[2]
with open(HOME / "java/tests/src/test/resources/suites/kernelbench.jsonl", encoding="utf-8") as lines:
    PUBLISHED = [json.loads(line) for line in lines]


class Shapes:
    """Stands for ``Inputs``: what it makes has a shape and a dtype, and takes no memory."""

    device = torch.device("meta")

    def floats(self, *shape, dtype=None, **limits):
        return torch.empty(shape, dtype=dtype or torch.float32, device="meta")

    plain = floats

    def ints(self, *shape, dtype=torch.int64, **limits):
        return torch.empty(shape, dtype=dtype, device="meta")

    def bools(self, *shape, **limits):
        return self.ints(*shape, dtype=torch.bool)

    def __getattr__(self, name):
        return getattr(Inputs(), name)


def shape(value):
    return [str(value.dtype).removeprefix("torch."), *value.shape] if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda p: f"level{p['level']}/{p['name']}")
def test_classes_and_weights_are_as_published(published):
    task = taskfile.load(f"{HOME}/tasks/kernelbench/level{published['level']}/{published['name']}.py", "cuda:0")
    assert json.loads(json.dumps(task.init)) == published["init"]
    assert str(inspect.signature(task.model.__init__)) == published["constructor"]
    assert str(inspect.signature(task.model.forward)) == published["forward"]
    made = task.inputs(Shapes(), **task.sizes[0])
    assert [shape(value) for value in made.args] == published["inputs"]
    with torch.device("meta"):
        state = task.model(*task.init).state_dict()
    assert [(name, list(t.shape)) for name, t in state.items()] == list(published["state"].items())


def test_suite_has_250_tasks():
    found = sorted(str(f.relative_to(HOME / "tasks/kernelbench")) for f in (HOME / "tasks/kernelbench").glob("*/*.py"))
    assert found == sorted(f"level{p['level']}/{p['name']}.py" for p in PUBLISHED)
    assert len(found) == 250
