"""What the published tests pass decides at the published grade, and all of it does: for each of the 184 tasks."""

import contextlib
import inspect
import os
import pathlib

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from kbx.oracle import envelope, plan, properties, taskfile
from kbx.suite import call
from kbx.suite.values import tensors

TASKS = pathlib.Path(__file__).parents[2] / "tasks" / "kernelbenchx"
FILES = sorted(TASKS.glob("*/*.py"))
SEEDS = ["ab", "cd", "ef"] + [f"{n:x}" for n in range(17)] * bool(os.environ.get("KBX_SOAK"))
SHAPES = 5
"""That decide for each task at least."""

every_task = pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")


def deciding(task, seed="ab"):
    return [each for each in plan.plan(task, seed) if not each.properties]


def left(task, made):
    return properties.of_call(task, made, made)


def shapes_of(task, planned):
    return str([tuple(t.shape) for t in tensors(list(task.bound(planned.made(task, "cpu")).arguments.values()))])


@pytest.mark.sampled(10)
@every_task
def test_calls_that_decide_stay_inside_whatever_their_seed(file):
    task = taskfile.load(file)
    for seed in SEEDS:
        for planned in deciding(task, seed):
            assert left(task, planned.made(task, "cpu")) == frozenset(), planned.message()


@pytest.mark.sampled(10)
@every_task
def test_five_shapes_with_three_seeds_decide(file):
    task = taskfile.load(file)
    seeds = {}
    for planned in (each for each in deciding(task) if each.parameters in task.cases):
        found = seeds.setdefault(str(planned.parameters), set())
        found.add(planned.seed)
    assert all(len(found) >= plan.SEEDS for found in seeds.values())
    assert (
        len({shapes_of(task, planned) for planned in deciding(task)} if file.parent.name != "Random" else seeds)
        >= SHAPES
    )


@pytest.mark.sampled(10)
@every_task
def test_every_published_option_decides(file):
    """Each word and truth value that the published tests give, and of numbers one that is not the default."""
    task = taskfile.load(file)
    given = [task.bound(planned.made(task, "cpu")).arguments for planned in deciding(task)]
    for name, option in task.envelope.options.items():
        mine = [arguments[name] for arguments in given if name in arguments]
        words = {
            v
            for v in option.values
            if isinstance(v, (bool, str)) and not str(v).startswith(("torch.", "<class", "cpu"))
        }
        assert words <= {v for v in mine if isinstance(v, (bool, str))}, name
        default = inspect.signature(task.reference).parameters[name].default
        if any(isinstance(v, (int, float)) and not isinstance(v, bool) and v != default for v in option.values):
            assert any(not isinstance(v, torch.Tensor) and v != default for v in mine), name


TRACED_IN_VAIN = {"fused_masked_select_add_gelu", "fused_repeat_interleave_log_softmax", "logspace"}
"""Their inputs depend on values, which fake tensors do not have: the smallest size has to do."""


@pytest.mark.sampled(10)
@every_task
def test_timed_calls_have_the_form_of_published_ones(file):
    task = taskfile.load(file)
    first = task.call(task.cases[0], "standard", "ab")
    traced = file.stem not in TRACED_IN_VAIN
    for size in task.sizes if traced else task.sizes[:1]:
        with FakeTensorMode(allow_non_fake_inputs=True) if traced else contextlib.nullcontext():
            made = task.call(size, "standard", "ab")
        assert properties.of_form(task, made, first) == frozenset(), size


def test_every_task_of_the_suite_has_an_envelope():
    assert len(FILES) == 184
    assert all(envelope.of_task(str(file)) for file in FILES)


@pytest.fixture(scope="module")
def log1p():
    return taskfile.load(TASKS / "Math" / "log1p.py")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (torch.linspace(-0.9, 10, 37), set()),
        (torch.linspace(-0.9, 12, 37), {"wide_values"}),
        (torch.linspace(50, 51, 37), {"offset"}),
        (torch.linspace(0.1, 10, 37).double(), {"dtype:float64"}),
        (torch.linspace(0.1, 10, 30).reshape(2, 3, 5), {"rank:3"}),
        (torch.linspace(0.1, 10, 60)[::2], {"non_contiguous"}),
        (torch.ones(1).expand(7), {"expanded", "degenerate"}),
        (torch.ones(0), {"empty"}),
        (torch.tensor(1.0), {"zero_dim"}),
        (torch.ones(1), {"size_one"}),
        (torch.linspace(0, 1, 37), set()),
        (torch.tensor([1.0, 2.0, float("nan")]), {"special_values"}),
    ],
    ids=lambda value: "values" if isinstance(value, torch.Tensor) else "+".join(sorted(value)) or "inside",
)
def test_names_of_what_leaves_the_envelope(log1p, values, expected):
    assert left(log1p, call(values)) == expected


def test_values_that_were_pulled_in_are_inside_though_the_end_of_the_range_is_rounded():
    leaky = taskfile.load(TASKS / "Fusion" / "fused_leaky_relu_conv2d.py")
    bias = torch.tensor([9.0, 9.0, 9.0, -9.0, -9.0, 0.5])
    made = call(torch.randn(1, 1, 7, 7), torch.randn(6, 1, 3, 3).clamp(-3, 3), bias)
    assert left(leaky, made) == {"wide_values"}
    assert left(leaky, leaky.inside(made)) == set()


def test_values_that_were_brought_back_to_an_end_are_inside():
    lion = taskfile.load(TASKS / "Optimizer" / "Lion.py")
    made = call(*(torch.linspace(-9, 9, 301) for _ in range(3)))
    assert left(lion, made) == {"wide_values"}
    assert left(lion, lion.inside(made)) == set()


def test_a_published_dtype_is_inside():
    total = taskfile.load(TASKS / "Reduce" / "sum.py")
    x = torch.linspace(-3, 3, 38).reshape(2, 19)
    assert left(total, call(x, 0, dtype=torch.float64)) == set()
    assert left(total, call(x, 0, dtype=torch.float16)) == {"option_value:dtype"}


def test_a_size_is_a_tuple():
    affine = taskfile.load(TASKS / "SpatialOps" / "grid_sample_with_affine.py")
    made = call(
        torch.linspace(-3, 3, 30).reshape(1, 1, 5, 6), torch.eye(2, 3).reshape(1, 2, 3), torch.Size((1, 1, 7, 9))
    )
    assert left(affine, made) == set()


def test_where_a_call_runs_counts_for_nothing_nor_how_sizes_are_counted():
    rand = taskfile.load(TASKS / "Random" / "rand.py")
    assert left(rand, call(7, 9, device=torch.device("cuda"))) == set()
    assert left(rand, call(7, device=torch.device("cuda"))) == {"option_value:size"}


def test_what_is_strided_in_the_tests_may_be():
    scatter = taskfile.load(TASKS / "Index" / "scatter.py")
    x, src = torch.linspace(-3, 3, 30).reshape(5, 6), torch.linspace(1, 2, 30).reshape(5, 6)
    index = torch.arange(5).expand(6, 5).contiguous().mT
    assert left(scatter, call(x, 0, index, src)) == set()
    assert left(scatter, call(x, 0, index, src.mT.contiguous().mT)) == {"non_contiguous"}


def test_what_the_prompt_promises_is_named_so(log1p):
    assert left(log1p, call(torch.linspace(1e-4, 2e-4, 37))) == {"promised:tiny_values"}


def test_options_outside_are_named():
    leaky = taskfile.load(TASKS / "Activation" / "leaky_relu.py")
    x = torch.linspace(-3, 3, 38)
    for slope, expected in [(0.01, set()), (0.1, set()), (0.05, set()), (0.2, {"option_value:negative_slope"}),
                            (-0.05, {"option_value:negative_slope"}), (0, {"option_value:negative_slope"})]:  # fmt: skip
        assert left(leaky, call(x, negative_slope=slope)) == expected, slope


def test_dtypes_are_options_by_name():
    softmax = taskfile.load(TASKS / "Math" / "softmax.py")
    x = torch.linspace(-3, 3, 38).view(2, 19)
    assert left(softmax, call(x, 1, dtype=torch.float64)) == set()
    assert left(softmax, call(x, 1, dtype=torch.float16)) == {"option_value:dtype"}


def test_an_argument_that_no_test_gives_is_an_option():
    i0 = taskfile.load(TASKS / "Math" / "i0.py")
    x = torch.linspace(-3, 3, 38)
    assert left(i0, call(x, out=torch.empty(38))) == {"out_argument"}


def test_zeros_count_where_no_test_has_one():
    combined = taskfile.load(TASKS / "Activation" / "combined_activation.py")
    tensors = [torch.randn(shape, generator=torch.manual_seed(1)) for shape in ((5, 7), (7, 9), (5, 9), (5, 9))]
    assert left(combined, call(*tensors)) == set()
    tensors[0][0] = 0
    assert left(combined, call(*tensors)) == {"zeros"}


def test_batches_that_no_test_combines_are_named():
    matmul = taskfile.load(TASKS / "MatrixMultiply" / "matmul_fp16.py")

    def asked(left_shape, right_shape):
        pair = [
            torch.linspace(-1, 1, 9999, dtype=torch.float16)[: torch.Size(s).numel()].reshape(s).contiguous()
            for s in (left_shape, right_shape)
        ]
        return left(matmul, call(*pair)) - {"tiny_values", "wide_values"}

    assert asked((5, 7), (7, 9)) == asked((3, 5, 7), (3, 7, 9)) == asked((7,), (7, 9)) == set()
    assert asked((3, 5, 7), (7, 9)) == {"batch_broadcast"}
    assert asked((2, 1, 5, 7), (3, 7, 9)) == {"rank:4"}


def test_windows_with_a_rest_count_where_no_test_has_one():
    pool = taskfile.load(TASKS / "Pooling" / "avg_pool1d.py")
    x = torch.randn(2, 3, 32, generator=torch.manual_seed(1))
    assert left(pool, call(x, 4, stride=2)) == set()
    assert left(pool, call(x, 3)) == {"ragged_windows"}


def test_a_transposed_convolution_leaves_no_rest():
    transposed = taskfile.load(TASKS / "Convolution" / "conv_transpose2d.py")
    x, weight = (torch.linspace(-3, 3, n * 16).reshape(1, n, 4, 4) for n in (3, 3))
    assert left(transposed, call(x, weight.reshape(3, 1, 4, 4), stride=2, padding=1)) == set()


def test_state_that_no_test_reads_is_judged_in_a_call_of_its_own():
    norm = taskfile.load(TASKS / "Normalization" / "batch_norm.py")
    calls = plan.plan(norm, "ab")
    plain, state = ([c for c in calls if c.properties == found] for found in (frozenset(), frozenset({"state_output"})))
    assert plain and len(state) >= SHAPES
    assert not plain[0].judging(norm).updates("running_mean") and plain[0].judging(norm).may_change("running_mean")
    assert state[0].judging(norm).updates("running_mean")


def test_state_is_judged_in_each_case_outside_too():
    norm = taskfile.load(TASKS / "Fusion" / "fused_hardsigmoid_batch_norm.py")
    judged = {str(c.parameters) for c in plan.plan(norm, "ab") if "state_output" in c.properties}
    assert judged == {str(case) for case in norm.cases}


def test_outliers_are_those_of_the_published_tests():
    from kbx.suite import Inputs

    drawn = [Inputs("float32", "outliers", seed).floats(100_000) for seed in range(5)]
    for values in drawn:
        assert 0.0002 < (values.abs() > 6).double().mean() < 0.002
    assert len({round(float(v.abs().max())) for v in drawn}) > 1
    assert all(float(Inputs("float32", "outliers", seed).floats(37).std()) < 60 for seed in range(99))
