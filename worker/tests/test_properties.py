"""What calls ask for beyond the ordinary, and in which order they are made."""

import dataclasses
import pathlib
import subprocess
import sys

import pytest
import torch

from kbx.oracle import plan, properties, task, taskfile
from kbx.suite import Inputs, call

TASKS = pathlib.Path(__file__).parents[2] / "tasks" / "kernelbenchx"
FIRST = call(torch.zeros(7))


def unrecorded(name):
    """A task of which nothing is known but that its published tests ask for nothing."""
    return dataclasses.replace(taskfile.load(TASKS / f"{name}.py"), envelope=None, tested=())


def asked(loaded, *args, **kwargs):
    return set(properties.of_call(loaded, call(*args, **kwargs), FIRST))


def without_tests(file):
    """The task as if nothing were known of its published tests: as a task of a user's own."""
    return dataclasses.replace(taskfile.load(TASKS / file), envelope=None, tested=())


@pytest.fixture(scope="module")
def gelu():
    return without_tests("Activation/gelu.py")


@pytest.fixture(scope="module")
def plain_gelu():
    return unrecorded("Activation/gelu")


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.zeros(3, 5), set()),
        (torch.zeros(3, 5).t(), {"non_contiguous"}),
        (torch.zeros(1).expand(9), {"expanded"}),
        (torch.zeros(3, 0), {"empty"}),
        (torch.zeros(()), {"zero_dim"}),
        (torch.zeros(1, 1), {"size_one"}),
        (torch.zeros(3, 5, dtype=torch.float16), {"dtype:float16"}),
        (torch.zeros(3, 5, dtype=torch.int64), {"dtype:int64"}),
        (torch.tensor([1.0, float("nan")]), {"special_values"}),
        (torch.zeros(5, 3, dtype=torch.float64).t(), {"dtype:float64", "non_contiguous"}),
    ],
    ids=[
        "ordinary",
        "transposed",
        "expanded",
        "empty",
        "scalar",
        "one",
        "half",
        "integers",
        "nan",
        "transposed double",
    ],
)
def test_properties_of_a_tensor(plain_gelu, tensor, expected):
    assert asked(plain_gelu, tensor) == expected


def test_options_count_unless_default(plain_gelu):
    assert asked(plain_gelu, torch.zeros(3), approximate="none") == set()
    assert asked(plain_gelu, torch.zeros(3), approximate="tanh") == {"option:approximate"}


def test_arguments_with_names_of_their_own():
    relu = without_tests("Activation/relu.py")
    assert asked(relu, torch.zeros(3), inplace=True) == {"in_place"}
    add = without_tests("Math/add.py")
    assert asked(add, torch.zeros(3), torch.zeros(3), out=torch.empty(3)) == {"out_argument"}
    assert asked(add, torch.zeros(3, 1), torch.zeros(3), alpha=2) == {"broadcast", "option:alpha"}
    assert asked(add, torch.zeros(0, 3), torch.zeros(3)) == {"empty"}


def test_two_of_several_tensors_are_broadcast():
    combined = without_tests("Activation/combined_activation.py")
    input, weight = torch.zeros(5, 7), torch.zeros(7, 3)
    assert asked(combined, input, weight, torch.zeros(5, 3), torch.zeros(5, 3)) == set()
    assert asked(combined, input, weight, torch.zeros(5, 3), torch.zeros(5, 1)) == {"broadcast"}


def test_the_published_grade_comes_first_and_has_ordinary_values():
    calls = plan.plan(taskfile.load(TASKS / "Activation" / "gelu.py"), "ab")
    asked_for = [len(c.properties) for c in calls if not c.special]
    assert asked_for == sorted(asked_for)
    published = [c for c in calls if not c.properties]
    assert {c.distribution for c in published} == set(plan.ORDINARY)
    assert sum(c.repeats is not None for c in published) == 2


def test_all_calls_have_distinct_values(gelu):
    fresh = [c.seed for c in plan.plan(gelu, "ab") if c.repeats is None]
    assert len(set(fresh)) == len(fresh)


def test_the_calls_of_a_module_s_file_are_of_the_published_grade():
    module = taskfile.load(TASKS.parent / "kernelbench" / "level1" / "19_ReLU.py")
    asked = [set(c.properties) for c in plan.plan(module, "ab")]
    assert asked[:6] == [set()] * 6
    values = [{"normal_values"}, {"tiny_values"}, {"wide_values"}, {"zeros"}]
    assert asked[6:] == [*values, {"batch_size"}, {"other_weights"}, {"dtype:float16"}, {"dtype:bfloat16"}]


def test_a_task_whose_published_grade_is_empty_is_invalid():
    relu = taskfile.load(TASKS / "Activation" / "relu.py")
    strided = dataclasses.replace(relu, cases=[{"shape": (17, 45), "strided": True}] * 5)
    with pytest.raises(task.InvalidTask, match="no case is one of the published grade"):
        plan.plan(strided, "ab")


def test_special_values_come_last_and_once(gelu):
    calls = plan.plan(gelu, "ab")
    assert [c.special for c in calls] == [False] * (len(calls) - 1) + [True]
    made = gelu.call(calls[-1].parameters, calls[-1].distribution, calls[-1].seed).args[0]
    assert made.isnan().any() and made.isposinf().any() and made.isneginf().any()
    assert made.isfinite().sum() > made.numel() // 2


def test_operations_that_mix_their_elements_have_no_special_values():
    for name in (
        "MatrixMultiply/matmul",
        "Convolution/conv2d",
        "Fusion/fused_softplus_linear",
        "Loss/binary_cross_entropy",
    ):
        loaded = taskfile.load(TASKS / f"{name}.py")
        assert not any(call.special for call in plan.plan(loaded, "ab")), name


def test_bounded_domain_has_no_excluded_special_values():
    make = Inputs("float32", "special", 7)
    assert make.floats(99, low=0).isfinite().all()
    assert make.plain(99).isfinite().all()
    assert not make.floats(3).isfinite().any()


def test_properties_do_not_import_sympy():
    """Two seconds of every oracle's time, which ``torch.broadcast_shapes`` would take."""
    program = (
        "import sys; from kbx.oracle import plan, taskfile; plan.plan(taskfile.load(sys.argv[1]), 'ab' * 16); "
        "sys.exit('sympy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, TASKS / "Math" / "add.py"], check=True)
