"""What the suite ``serving`` promises of each of its tasks, beyond what its controls prove."""

import ast
import inspect
import pathlib

import pytest
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode

from kbx.oracle import taskfile
from kbx.suite.values import tensors

SUITE = pathlib.Path(__file__).parents[2] / "tasks" / "serving"
FILES = sorted(SUITE.glob("*/*.py"))
LEAST_CASES, SIZES, MOST_BYTES = 8, 6, 8 << 30

every_task = pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")


def kernels(file):
    return [file.parent / "kernels" / folder / file.name for folder in ("", "simple")]


def test_there_are_tasks_of_inference():
    assert {"Activation", "Attention", "Cache", "Embedding", "MoE", "Normalization", "Sampling"} <= {
        file.parent.name for file in FILES
    }


def test_there_are_tasks_of_training_and_of_few_bits():
    categories = {file.parent.name for file in FILES}
    assert {"Backward", "Loss", "Optimizer", "Quantization", "Scan", "Sparse"} <= categories
    assert len(FILES) >= 40


@every_task
def test_a_task_has_cases_weighted_sizes_and_says_where_these_are_from(file):
    task = taskfile.load(file)
    assert len(task.cases) >= LEAST_CASES
    assert len(task.sizes) >= SIZES
    assert len(task.shares) == len(task.sizes)
    assert "Sizes: " in ast.get_docstring(ast.parse(file.read_text()))


@every_task
def test_nobody_has_published_tests_of_it(file):
    task = taskfile.load(file)
    assert task.envelope is None
    assert task.published_rule is None
    assert taskfile.published(task).contract is task.contract


@every_task
def test_a_task_has_two_honest_kernels_of_its_own_signature(file):
    task = taskfile.load(file)
    wanted = list(inspect.signature(task.reference).parameters)
    texts = [each.read_text() for each in kernels(file)]
    assert texts[0] != texts[1]
    for text in texts:
        tree = ast.parse(text)
        entry = next(s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == task.entry)
        assert [each.arg for each in (*entry.args.posonlyargs, *entry.args.args, *entry.args.kwonlyargs)] == wanted
        assert ast.get_docstring(tree)


@every_task
def test_timed_arguments_fit_a_device(file):
    task = taskfile.load(file)
    for size in task.sizes:
        with FakeTensorMode():
            try:
                made = task.inputs(FakeInputs(task), **size)
            except (DataDependentOutputException, DynamicOutputShapeException):
                pytest.skip("what it passes depends on values")
        given = tensors([*made.args, *made.kwargs.values()])
        assert 0 < sum(t.numel() * t.element_size() for t in given) < MOST_BYTES, size


class FakeInputs:
    """As ``kbx.suite.Inputs``, of tensors without values."""

    def __init__(self, task):
        self.dtype, self.device, self.distribution = getattr(torch, task.dtype), torch.device("cpu"), "standard"

    def floats(self, *shape, dtype=None, low=None, high=None):
        return torch.empty(shape, dtype=dtype or self.dtype)

    plain = floats

    def ints(self, *shape, low, high, dtype=torch.int64):
        return torch.empty(shape, dtype=dtype)

    def bools(self, *shape, p=0.5):
        return torch.empty(shape, dtype=torch.bool)

    def choice(self, seq):
        return seq[0]
