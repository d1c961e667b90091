"""Calls that show what serving needs: which tasks are asked, and what rows of other bits are found."""

import pathlib

import pytest
import torch

from kbx.messages import runner as messages
from kbx.oracle import plan, serving, taskfile
from kbx.runner import serving as conditions
from kbx.suite import call

TASKS = pathlib.Path(__file__).parents[2] / "tasks" / "kernelbenchx"
ASKED = frozenset([serving.BATCH_INVARIANT])


def batches(name):
    return [each for each in plan.plan(taskfile.load(TASKS / f"{name}.py"), "ab", asked=ASKED) if each.batch]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Activation/gelu", {"input"}),
        ("Math/softmax", {"input"}),
        ("MatrixMultiply/addmm", {"input", "mat1"}),
    ],
)
def test_tasks_of_independent_rows_are_asked(name, arguments):
    found = batches(name)
    assert [len(each.batch.places) for each in found] == [257, 1, 4, 16, 257, 257]
    assert found[0].batch.names == arguments


@pytest.mark.parametrize(
    "name",
    [
        "Normalization/batch_norm",
        "LinearAlgebra/det",
        "Random/rand",
        "Fusion/fused_hardshrink_dropout",
        "Fusion/fused_sum_std",
    ],
)
def test_tasks_whose_rows_depend_on_each_other_are_not_asked(name):
    assert not batches(name)


def test_no_batch_is_made_unless_it_is_asked_for():
    assert not any(each.batch for each in plan.plan(taskfile.load(TASKS / "Activation/gelu.py"), "ab"))


def test_the_middle_row_is_in_every_batch_at_another_place():
    found = [each.batch for each in batches("Math/softmax")]
    rows = {batch.picked[batch.places.index(128)] for batch in found}
    assert len(rows) == 1
    assert len({batch.places.index(128) for batch in found}) >= 4


def test_batches_decide_nothing():
    assert all(each.special and each.properties == {"batch_invariant"} for each in batches("Math/softmax"))


def test_batches_have_rows_of_one_call():
    task, found = taskfile.load(TASKS / "Math/softmax.py"), batches("Math/softmax")
    whole, *others = [each.made(task, "cpu").args[0] for each in found]
    for each, rows in zip(found[1:], others, strict=True):
        assert torch.equal(rows, whole[list(each.batch.places)])


def test_a_row_of_other_bits_is_named():
    batch = serving.Batch(frozenset("x"), (5, 6), (1, 0))
    largest = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert batch.difference(torch.tensor([[3.0, 4.0], [1.0, 2.0]]), largest) is None
    found = batch.difference(torch.tensor([[3.0, 4.0], [1.0, 2.0000002]]), largest)
    assert found == "output: row 1 of 2 has other bits than the same row as number 0 of 257"
    assert batch.difference(torch.tensor([[3.0, 4.0], [-1.0, 2.0]]) * 0, largest * -0.0) is not None


def test_arguments_that_share_memory_are_not_divided():
    task = taskfile.load(TASKS / "Math/add.py")
    both = torch.ones(4, 3)
    assert not list(serving._choices(task, call(both, both)))


class TestRepeated:
    """Rows that are repeated until there are more than 2^31 elements."""

    def test_whole_granules_are_mapped_on_a_gpu(self):
        task = taskfile.load(TASKS / "Math/softmax.py")
        found = [each for _, each in serving._all(task, plan._plain_cases(task), "cpu")]
        fitting = [(each, batch) for each in found if (batch := each.mapped(task, "cpu")) is not None]
        assert fitting
        for each, batch in fitting:
            row = task.call(task.cases[each.case], each.distribution, "ab").args[0][0]
            assert len(batch.picked) * row.numel() * row.element_size() % serving.GRANULE == 0
            assert max(batch.picked) < each.size

    def test_a_few_rows_are_repeated_without_a_gpu(self):
        task = taskfile.load(TASKS / "Math/softmax.py")
        (planned,) = (each for each in plan.plan(task, "ab", asked=frozenset([serving.LARGE_INDEX])) if each.batch)
        assert len(planned.batch.picked) == serving.REPEATED
        assert not planned.batch.places
        assert planned.made(task, "cpu").args[0].shape[0] == serving.REPEATED

    def test_what_is_wrong_by_a_power_of_two_is_another_row(self):
        assert all((1 << k) % serving.REPEATED for k in range(40))

    def test_of_a_task_that_may_change_an_argument_a_call_is_made_that_does_not(self):
        task = taskfile.load(TASKS / "Activation/relu.py")
        assert task.mutates
        longest = serving.batched(task, plan._plain_cases(task), "cpu")
        assert task.cases[longest.case].get("inplace")
        found, _ = serving.repeated(task, plan._plain_cases(task), "cpu")
        assert not task.cases[found.case].get("inplace")
        assert serving.repeated(task, plan._plain_cases(task), "cuda") is None

    def test_the_last_rows_of_a_result_are_compared(self):
        large = conditions._Large([], {}, rows=2, times=3)
        whole = torch.arange(12).view(6, 2)
        assert torch.equal(large.last((whole, 7))[0], whole[4:])
        assert torch.equal(large.last(whole[:5]), whole[:5])

    def test_arguments_are_marked_by_their_leaves(self):
        x, y = torch.zeros(2), torch.ones(3)
        leaf = {"t": "tensor", "shape": [2], "stride": [1], "dtype": "float32", "offset": 0, "arena": "in"}
        request = messages.Call(1, [{**leaf, "repeated": True}, {"t": "int", "v": 1}], {"other": leaf})
        (marked,) = conditions._marked(request, [x, 1], {"other": y})
        assert marked is x


def test_arguments_that_a_call_changes_are_given_back():
    x, y = torch.zeros(2), torch.ones(3)
    own = conditions._copies(([x, 5], {"y": y}))
    own[0][0].fill_(7)
    conditions._move(own, ([x, 5], {"y": y}))
    assert x.tolist() == [7, 7]
    assert y.tolist() == [1, 1, 1]
