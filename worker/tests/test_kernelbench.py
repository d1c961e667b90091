"""The bundled KernelBench tasks against the published ones: what kernels and weights written for those rely on.

``kernelbench.jsonl`` has a line for each: constructor arguments, inputs (a dtype and a shape, or a plain value), and the
names, shapes and order of ``state_dict``.
"""

import inspect
import json
import math
import pathlib

import pytest
import torch

from kbx.oracle import taskfile, truth
from kbx.oracle.plan import plan
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


@pytest.mark.sampled(6)
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


def task_of(published):
    return taskfile.load(f"{HOME}/tasks/kernelbench/level{published['level']}/{published['name']}.py")


SIGNED = {"100_HingeLoss": 1}
"""Arguments that are not of ``torch.rand``, beside whole numbers and masks."""


@pytest.mark.parametrize(
    "name", ["level1/19_ReLU", "level1/100_HingeLoss", "level2/66_Matmul_Dropout_Softmax", "level3/1_MLP"]
)
def test_five_calls_of_published_values_decide(name):
    """KernelBench's harness makes five trials."""
    task = taskfile.load(f"{HOME}/tasks/kernelbench/{name}.py")
    calls = plan(task, "0a")
    fresh = [call for call in calls if call.repeats is None and not call.properties]
    assert (len(fresh), {call.distribution for call in fresh}) == (5, {"published"})
    assert [call.parameters for call in fresh] == task.cases * 5
    beyond = {name for call in calls for name in call.properties}
    assert "normal_values" in beyond


@pytest.mark.sampled(6)
@pytest.mark.parametrize("published", PUBLISHED, ids=lambda p: f"level{p['level']}/{p['name']}")
def test_published_values_are_those_of_torch_rand(published):
    task = task_of(published)
    assert (task.plain, task.distributions) == ("published", ("published",))
    made = task.call(task.cases[0], "published", "0a")
    for place, tensor in enumerate(truth.argument_tensors(made)):
        if tensor.is_floating_point() and SIGNED.get(published["name"]) != place:
            assert tensor.min() >= 0 and tensor.max() <= 1, place


@pytest.mark.parametrize(("name", "scaled"), [("94_MSELoss", 0), ("96_HuberLoss", 0), ("99_TripletMarginLoss", 0)])
def test_first_argument_of_a_loss_has_a_random_scale(name, scaled):
    task = taskfile.load(f"{HOME}/tasks/kernelbench/level1/{name}.py")
    tops = [task.call(task.cases[0], "published", str(seed)).args[scaled].max().item() for seed in range(20)]
    assert min(tops) < 0.3 and max(tops) > 0.7


def test_divergences_are_of_published_distributions():
    """Softmax of numbers in [0, 1): no probability is more than e times another."""
    task = taskfile.load(f"{HOME}/tasks/kernelbench/level1/98_KLDivLoss.py")
    for rows in task.call(task.cases[0], "published", "0a").args:
        assert torch.allclose(rows.sum(1), torch.ones(len(rows)))
        assert (rows.amax(1) / rows.amin(1)).max() <= math.e


def test_suite_has_250_tasks():
    found = sorted(str(f.relative_to(HOME / "tasks/kernelbench")) for f in (HOME / "tasks/kernelbench").glob("*/*.py"))
    assert found == sorted(f"level{p['level']}/{p['name']}.py" for p in PUBLISHED)
    assert len(found) == 250
