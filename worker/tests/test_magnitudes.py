"""Values near the ends of a dtype's range, beyond the published grade."""

import pytest
import torch
import torch.nn.functional as F
from oracle_process import TASKS

from kbx.oracle import judge, plan, properties, taskfile, truth
from kbx.oracle.task import InvalidTask
from kbx.suite.inputs import Inputs, times

LARGEST = torch.finfo(torch.float32).max


def broken(task, function):
    """Properties of the calls in which a function's result is wrong; ``published`` for one without."""
    found = set()
    for call in plan.plan(task, "ab"):
        if call.special or call.repeats is not None:
            continue
        made = call.made(task, "cpu")
        known, mine = truth.know(task, made, "ab"), truth.copy_call(made)
        value = function(*mine.args, **mine.kwargs)
        judgement = judge.examine_own(task, known, value, mine)
        if judgement.status == "correct":
            judgement = judge.decide(task, known, [judgement.value])
        if judgement.status != "correct":
            found |= call.properties or {"published"}
    return found


def clamped_gelu(input, approximate="none"):
    return F.gelu(input.clamp(-500, 500), approximate=approximate)


def abs_by_int32(input, out=None):
    """A conversion of float32 to int32 saturates."""
    found = torch.abs(input)
    found = found.clamp(max=2.0**31) if found.dtype == torch.float32 else found
    return found if out is None else out.copy_(found)


def sum_of_float16(input, *args, **kwargs):
    """Terms that pass through float16's range."""
    terms = input.clamp(-65000, 65000) if input.is_floating_point() else input
    return torch.sum(terms, *args, **kwargs)


def flushed_relu(input, inplace=False):
    found = torch.where(input > 1e-30, input, 0)
    return input.copy_(found) if inplace else found


def guarded_log(input, out=None):
    """A guard against 0 that reaches too far."""
    found = torch.log(torch.where((input > 0) & (input < 1e-30), 1e-30, input))
    return found if out is None else out.copy_(found)


WRONG = {
    "Activation/gelu": (clamped_gelu, {properties.HUGE}),
    "Math/abs": (abs_by_int32, {properties.HUGE}),
    "Reduce/sum": (sum_of_float16, {properties.HUGE}),
    "Activation/relu": (flushed_relu, {properties.FAINT}),
    "Math/log": (guarded_log, {properties.FAINT}),
}


@pytest.mark.parametrize(("name", "function", "property"), [(n, *w) for n, w in WRONG.items()], ids=WRONG)
def test_what_is_right_for_ordinary_values_alone_breaks(name, function, property):
    task = taskfile.load(TASKS / f"{name}.py")
    assert broken(task, task.reference) == set()
    assert broken(task, function) == property


def test_two_calls_at_most_are_added_and_they_decide_at_the_general_grade():
    task = taskfile.load(TASKS / "Activation" / "gelu.py")
    calls = [call for call in plan.plan(task, "ab") if call.properties & {properties.HUGE, properties.FAINT}]
    assert [sorted(call.properties) for call in calls] == [[properties.FAINT], [properties.HUGE]]
    faint, huge = (call.made(task, "cpu").args[0].abs() for call in calls)
    assert faint.max() < 2.0**-100 and LARGEST / 2**12 < huge.max() < LARGEST


def test_other_distributions_stay_as_they_are():
    plain, scaled = (Inputs("float32", each, 7).floats(99) for each in ("standard", times(40)))
    assert torch.equal(plain * 2.0**40, scaled)
    bounded = [Inputs("float32", each, 7).floats(99, low=-1, high=2) for each in ("standard", times(40))]
    assert torch.equal(*bounded)
    positive = Inputs("float32", times(40), 7).floats(99, low=1)
    assert positive.min() == 1 and positive.max() > 2.0**40
    with pytest.raises(ValueError, match=r"unknown distribution 'times 2\^x'"):
        Inputs("float32", "times 2^x")


@pytest.mark.parametrize("given", ["(3, 4)", "(0,)", "('large',)", "(2.5,)"])
def test_other_magnitudes_than_a_small_and_a_large_one_are_refused(tmp_path, given):
    text = (TASKS / "Activation" / "gelu.py").read_text()
    assert "MAGNITUDES = (-104, 120)" in text
    (tmp_path / "gelu.py").write_text(text.replace("(-104, 120)", given))
    with pytest.raises(InvalidTask, match="MAGNITUDES is .*, not a negative and a positive power of two"):
        taskfile.load(tmp_path / "gelu.py")
