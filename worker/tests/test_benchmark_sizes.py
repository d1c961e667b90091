"""Calls of benchmark sizes that are not timed, so that who computes these is looked at as well: ``plan.plan`` on a GPU."""

import pathlib

import pytest
import torch

from kbx.oracle import origin, plan, properties, taskfile, truth

TASKS = pathlib.Path(__file__).parents[2] / "tasks" / "kernelbenchx"

SIZED = frozenset([properties.SIZED])


def sized(name, device):
    task = taskfile.load(TASKS / f"{name}.py")
    return [each for each in plan.plan(task, "ab", asked=SIZED, device=device) if each.sized]


def test_each_size_has_two_calls_of_which_the_second_can_be_made_from_the_first():
    calls = sized("Activation/gelu", "cuda:0")
    for first, second in zip(calls[::2], calls[1::2], strict=True):
        assert first.parameters is second.parameters
        assert first.seed != second.seed
        assert origin.follow(first, second)


def test_the_seed_draws_the_order_of_sizes():
    task = taskfile.load(TASKS / "Activation/gelu.py")
    first = []
    for seed in range(60):
        calls = [each for each in plan.plan(task, str(seed), asked=SIZED, device="cuda:0") if each.sized]
        assert all(any(call.parameters is size for call in calls) for size in task.sizes)
        first.append(calls[0].parameters)
    assert all(size in first for size in task.sizes)


def test_they_come_last_and_leave_the_others_as_they_are():
    task = taskfile.load(TASKS / "Activation/gelu.py")
    usual = plan.plan(task, "ab", device="cuda:0")
    assert plan.plan(task, "ab", asked=SIZED, device="cuda:0")[: len(usual)] == usual


@pytest.mark.parametrize(("name", "device"), [("Activation/gelu", "cpu"), ("Random/rand", "cuda:0")])
def test_none_is_planned_without_a_gpu_or_where_results_are_random(name, device):
    assert not sized(name, device)


@pytest.mark.parametrize(
    ("name", "size"),
    [("LinearAlgebra/cholesky", 1), ("LinearAlgebra/cholesky", 2), ("LinearAlgebra/invert_matrix_lu", 1), ("Fusion/fused_cholesky_solve", 1)],
)  # fmt: skip
def test_matrices_stay_what_their_tasks_make_them(name, size):
    """Those of benchmark sizes have values beyond those of the published tests. Without these a matrix has no factor, or no inverse."""
    task = taskfile.load(str(TASKS / f"{name}.py"))
    made, stays = (task.call(task.sizes[size], task.plain, "seed", fast=True) for _ in range(2))
    inside = task.inside(made)
    assert all(map(torch.equal, truth.argument_tensors(inside), truth.argument_tensors(stays)))
    task.run("the reference", task.reference, *inside.args, **inside.kwargs)
