"""What the published rule says of a result: by hand, and of an oracle beside its own word."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from oracle_process import TASKS

from kbx.messages import oracle as messages
from kbx.oracle import taskfile
from kbx.suite import Close, Exact, Property, Random, call, published
from kbx.suite.original import MODULE_TOLERANCES, TOLERANCES, OriginalRules

runners = itertools.count(1)


def right(got, want, tolerances=TOLERANCES):
    return published.rule("relu", Close(), tolerances).right(call(), got, want)


@pytest.mark.parametrize(
    ("dtype", "tolerances", "within", "beyond"),
    [
        (torch.float32, TOLERANCES, 1e-5, 1.2e-5),
        (torch.float64, TOLERANCES, 1e-5, 1.02e-5),
        (torch.float16, TOLERANCES, 4.9e-3, 6e-3),
        (torch.bfloat16, TOLERANCES, 3.9e-3, 8e-3),
        (torch.float32, MODULE_TOLERANCES, 1e-4, 1.02e-4),
        (torch.float16, MODULE_TOLERANCES, 9e-3, 1.1e-2),
        (torch.bfloat16, MODULE_TOLERANCES, 7.8e-3, 1.6e-2),
    ],
)
@pytest.mark.parametrize("size", [1, 200])
def test_tolerance_is_relative_and_absolute_by_dtype(dtype, tolerances, within, beyond, size):
    """Of ``size`` an error may be ``tolerance * (1 + size)``."""
    want = torch.tensor([size, 0], dtype=dtype)
    for error, expected in ((within, True), (beyond, False)):
        got = want.double() + torch.tensor([0.99 * error * (1 + size), 0], dtype=torch.float64)
        assert right(got.to(dtype), want, tolerances) == expected or dtype == torch.bfloat16 and size > 1
        got = want.double() + torch.tensor([0, 0.99 * error if expected else error], dtype=torch.float64)
        assert right(got.to(dtype), want, tolerances) == expected


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64])
def test_other_dtypes_must_be_equal(dtype):
    want = torch.tensor([1, 0, 1]).to(dtype)
    assert right(want.clone(), want)
    assert not right(torch.tensor([1, 0, 0]).to(dtype), want)


def test_nonfinite_values_must_be_the_same():
    want = torch.tensor([1.0, float("nan"), float("inf")])
    assert right(want.clone(), want)
    assert not right(torch.tensor([1.0, float("nan"), -float("inf")]), want)
    assert not right(torch.tensor([1.0, 2.0, float("inf")]), want)


def test_every_part_of_a_result_counts():
    want = (torch.ones(3), {"loss": 2.0})
    assert right((torch.ones(3) + 5e-6, {"loss": 2.0}), want)
    assert not right((torch.ones(3), {"loss": 2.1}), want)


def check(*_):
    return []


def test_random_and_ambiguous_answers_have_no_published_rule():
    assert published.rule("dropout", Random(check), TOLERANCES) is None
    assert published.rule("qr", Property(check), TOLERANCES) is None
    assert isinstance(published.rule("argmax", Exact(), TOLERANCES), OriginalRules)


QUANTIZED = {
    "attention_w8a8": (0.9, 0.1, 0.15),
    "bmm_w8a8": (0.95, 0.05, 0.1),
    "conv2d_w8a8": (0.95, 0.05, 0.1),
    "layernorm_w8a8": (0.95, 0.05, 0.1),
    "linear_w4a16": (0.9, 0.1, 0.15),
    "matmul_w8a8": (0.95, 0.05, 0.1),
}


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantization_is_compared_with_the_unquantized_result(name):
    """By the thresholds of KernelBench-X's metadata; kbx itself refuses what never quantized."""
    task = taskfile.load(TASKS / "Quantization" / f"{name}.py")
    rule = task.published_rule
    assert tuple(rule.thresholds[key] for key in ("cosine_sim", "l1_relative", "rmse")) == QUANTIZED[name]
    for case in task.cases:
        made = task.call(case, "standard", "0")
        float_result = task.controls["negative_never_quantized"](*made.args, **made.kwargs)
        assert rule.right(made, float_result, None), case
        if float_result.numel():
            assert not rule.right(made, float_result + 1, None), case


def test_published_tolerances_judge_quantization_as_published():
    task = taskfile.load(TASKS / "Quantization" / "matmul_w8a8.py")
    made = task.call(task.cases[1], "standard", "0")
    x, w = made.args
    compare = taskfile.published(task).contract.compare
    assert compare(made, [x @ w], None, None).right
    assert not task.contract.compare(made, [x @ w], None, None).right
    assert "RMSE" in compare(made, [x @ w + 1], None, None).complaints[0]


def gelu(input, approximate="none"):
    return F.gelu(input, approximate=approximate)


@pytest.fixture
def opened(oracle):
    yield oracle.open(TASKS / "Activation" / "gelu.py", next(runners))
    oracle.ask(messages.Close)


def index_of(opened, text):
    return next(c["index"] for c in opened.calls if text in c["case"] and c["distribution"] == "standard")


def test_an_honest_kernel_is_right_by_both(opened):
    found, runner = opened
    for each in found.calls:
        checked = runner.judge(each["index"], gelu)
        assert (checked.status, checked.published) == ("correct", True), each


@pytest.mark.parametrize(
    ("status", "by_published", "entry"),
    [
        ("wrong_values", True, lambda x, approximate="none": gelu(x, approximate) + 9e-6),
        ("wrong_values", False, lambda x, approximate="none": gelu(x, approximate) + 1e-3),
        ("input_mutated", True, lambda x, approximate="none": x.copy_(gelu(x, approximate)).clone()),
        ("input_mutated", True, lambda x, approximate="none": x.copy_(gelu(x, approximate))),
        ("input_mutated", False, lambda x, approximate="none": x.zero_().clone()),
        ("wrong_structure", False, lambda x, approximate="none": x),
        ("wrong_structure", False, lambda x, approximate="none": (gelu(x, approximate),)),
        ("wrong_shape", False, lambda x, approximate="none": gelu(x, approximate).flatten()),
        ("wrong_dtype", False, lambda x, approximate="none": gelu(x, approximate).double()),
    ],
)
def test_published_rule_looks_at_form_and_values_alone(opened, status, by_published, entry):
    found, runner = opened
    checked = runner.judge(index_of(found, "shape=(33, 65)"), entry)
    assert (checked.status, checked.published) == (status, by_published), checked


def test_other_orders_of_programs_are_no_published_test(opened):
    found, runner = opened
    repeated = [c for c in found.calls if c.get("repeats") is not None]
    for each in repeated:
        assert runner.judge(each["repeats"], gelu).published
    told = [runner.judge(c["index"], lambda x, approximate="none": gelu(x, approximate) + 1) for c in repeated]
    assert {(one.status, one.published) for one in told} == {("nondeterministic", False), ("order_dependent", True)}
