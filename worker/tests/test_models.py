"""Tasks whose candidates are modules."""

import textwrap

import pytest
import torch

from kbx.messages import oracle as messages
from kbx.oracle import controls, judge, taskfile, truth, work
from kbx.oracle.task import InvalidTask
from kbx.runner import module

TASK = '''
"""A linear layer and a number."""

import torch
from torch import nn

from kbx.suite import Close, call

TAGS = ("matmul",)
DTYPE = "float32"
PUBLISHED = dict(batch=512, features=256)
SCALED = dict(batch=3, features=5)
CONTRACT = Close()


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x, factor=2.0):
        return self.linear(x) * factor


def init_inputs(features):
    return [features]


def inputs(make, batch, features):
    return call(make.floats(batch, features), factor=3.0)


class PositiveFromOutside(Model):
    def forward(self, x, factor=2.0):
        return factor * x @ self.linear.weight.T + factor * self.linear.bias


class NegativeNoBias(Model):
    def forward(self, x, factor=2.0):
        return x @ self.linear.weight.T * factor
'''


def rounding(linear, x, factor=1.0):
    """What float32 may make of each element of ``linear(x) * factor``: its unit roundoff for each operation, as error of all terms
    together. In whatever order they are added, and whether products are rounded before, differs between processors."""
    terms = x.double().abs() @ linear.weight.double().abs().T + linear.bias.double().abs()
    operations = 2 * linear.in_features + 1  # products, sums and the factor
    return operations * 2**-24 * abs(factor) * terms


@pytest.fixture
def write(tmp_path):
    def write(source, name="1_Linear_Scale"):
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(source).lstrip(), encoding="utf-8")
        return str(path)

    return write


def test_the_sizes_are_those_of_the_device(write):
    path = write(TASK)
    here, there = taskfile.load(path), taskfile.load(path, "cuda:0")
    assert (here.cases, here.sizes, here.scaled) == ([{"batch": 3, "features": 5}], [], True)
    assert (there.cases, there.sizes, there.scaled) == ([{"batch": 512, "features": 256}],) * 2 + (False,)
    assert here.entries == ["ModelNew"]


def test_a_case_beside_the_published_one_is_judged_on_a_gpu_and_not_timed(write):
    path = write(TASK.replace("CONTRACT =", "BESIDE = dict(batch=7)\nCONTRACT ="))
    here, there = taskfile.load(path), taskfile.load(path, "cuda:0")
    assert here.cases == [{"batch": 3, "features": 5}]
    assert there.cases == [{"batch": 512, "features": 256}, {"batch": 7, "features": 256}]
    assert there.sizes == there.cases[:1]


def test_weights_come_from_the_seed_alone(write):
    task = taskfile.load(write(TASK))
    call = task.call(task.cases[0], "standard", "x")
    with torch.no_grad():
        one, same, other = (task.seeded(s).reference(*call.args, **call.kwargs) for s in ("0a", "0a", "0b"))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    torch.manual_seed(task.module("0a")["seed"])
    with torch.no_grad():
        assert torch.equal(task.model(*task.init)(*call.args, **call.kwargs), one)


def test_what_a_reference_keeps_between_calls_excuses_nobody(write):
    """In float64, too, it is called as it was constructed: else the step between both would pass for the reference's own error."""
    kept = TASK.replace(
        "return self.linear(x) * factor", "self.kept = self.linear(x) + self.kept\n        return self.kept"
    )
    kept = kept.replace("class Positive", "class _").replace(
        "features, features)", "features, features)\n        self.kept = 0", 1
    )
    task = taskfile.load(write(kept)).seeded("0a")
    known = truth.know(task, task.call(task.cases[0], "standard", "x"), "0a")
    with torch.no_grad():
        allowed = rounding(task.construct(task.model, task.weights_seed("0a")).linear, known.call.args[0])
    assert ((known.expected.double() - known.truth).abs() <= allowed).all()
    assert judge.decide(task, known, [known.expected * 1.05]).status == "wrong_values"
    assert not {row["name"]: row for row in controls.verify(task, "0a", "cpu")}["reference"]["ok"]


def test_controls_have_the_reference_s_weights(write):
    task = taskfile.load(write(TASK))
    rows = {row["name"]: row for row in controls.verify(task, "0a", "cpu")}
    assert rows["positive_from_outside"]["ok"], rows["positive_from_outside"]
    assert rows["negative_no_bias"]["status"] == "wrong_values"
    assert all(row["ok"] for row in rows.values())
    assert rows["reference"]["line"] == 20


def test_weights_that_are_of_no_use_are_not_used(write):
    usable = "\n\ndef usable(model):\n    return model.linear.bias[0].item() > 0.2\n"
    task = taskfile.load(write(TASK + usable))
    for seed in "abcdef":
        assert task.construct(task.model, task.weights_seed(seed)).linear.bias[0] > 0.2
    with pytest.raises(InvalidTask, match="none of 100 seeds"):
        taskfile.load(write(TASK + usable.replace("0.2", "2"), "never")).module("a")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class Model(nn.Module)", "class Model", "Model must be a subclass of torch.nn.Module"),
        ("SCALED = dict(batch=3, features=5)", "SCALED = dict(batch=3)", "SCALED has other keys than PUBLISHED"),
        ("def init_inputs(features):", "def init_inputs(width):", "PUBLISHED has no 'width', which init_inputs"),
        ("return [features]", "return features", "must return a list, not int"),
        ('"""A linear layer and a number."""', "", "the file must begin with the statement"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(write, old, new, message):
    with pytest.raises(InvalidTask) as caught:
        taskfile.load(write(TASK.replace(old, new, 1)))
    assert message in caught.value.message


def test_weights_are_among_what_a_call_reads(write):
    task = taskfile.load(write(TASK)).seeded("0a")
    call = task.call(task.cases[0], "standard", "x")
    numbers = 3 * 5 + 5 * 5 + 5 + 3 * 5  # x, weight, bias, result
    assert work.measure(task, call).bytes == 4 * numbers


def test_a_model_can_be_compiled(write):
    """Its globals must be found by name, and be those of this file; what code is made of the graph does not matter here."""
    first, second = (taskfile.load(write(TASK.replace("* factor", sign), name)).seeded("0a") for sign, name in
                     (("* torch.sin(torch.tensor(factor))", "one"), ("+ torch.cos(torch.tensor(factor))", "two")))  # fmt: skip
    for task in (first, second):
        torch.compiler.reset()
        call = task.call(task.cases[0], "standard", "x")
        with torch.no_grad():
            compiled = torch.compile(task.compilable, backend="eager", dynamic=False)(*call.args, **call.kwargs)
            torch.testing.assert_close(compiled, task.reference(*call.args, **call.kwargs))


@pytest.mark.parametrize("beside", ["dict(features=7)", "dict(height=7)"])
def test_beside_has_sizes_of_inputs_alone(write, beside):
    path = write(TASK.replace("CONTRACT =", f"BESIDE = {beside}\nCONTRACT ="))
    with pytest.raises(InvalidTask, match="which is not a size of the inputs alone"):
        taskfile.load(path, "cuda:0")


class Linear(torch.nn.Linear):
    """A layer with a buffer."""

    def __init__(self, features):
        super().__init__(features, features)
        self.register_buffer("mask", torch.ones(2))


def test_both_sides_change_weights_alike(write):
    task = taskfile.load(write(TASK)).seeded("0a")
    call = task.call(task.cases[0], "standard", "x")
    before = task.reference(*call.args, **call.kwargs)
    made = task.construct(task.model, task.weights_seed("0a"))
    shapes = task.change_weights()
    assert shapes == {"linear.weight": [5, 5], "linear.bias": [5]}
    assert module.take_state(made, shapes)
    with torch.no_grad():
        after = task.reference(*call.args, **call.kwargs)
        assert torch.equal(made(*call.args, **call.kwargs), after)
        wide = task.reference(*(a.double() for a in call.args), **call.kwargs)
        allowed = rounding(made.linear, *call.args, **call.kwargs)
    assert not torch.allclose(before, after, rtol=1e-2)
    assert ((wide - after.double()).abs() <= allowed).all()


def test_neither_ones_nor_zeros_stay_and_buffers_do():
    made = Linear(3)
    torch.nn.init.ones_(made.weight)
    torch.nn.init.zeros_(made.bias)
    assert module.take_state(made, {"weight": [3, 3], "bias": [3]})
    assert (made.weight != 1).any() and (made.bias != 0).all()
    assert torch.equal(made.mask, torch.ones(2))


@pytest.mark.parametrize(
    "shapes", [{"weight": [3, 3]}, {"weight": [3, 3], "offset": [3]}, {"weight": [9], "bias": [3]}]
)
def test_other_parameters_are_left_alone(shapes):
    made = Linear(3)
    before = made.weight.clone()
    assert not module.take_state(made, shapes)
    assert torch.equal(made.weight, before)
    assert not module.take_state(object(), shapes)


def test_a_call_is_judged_by_the_weights_that_were_changed(oracle, write):
    path = write(TASK)
    opened, runner = oracle.open(path, 92_000)
    own = taskfile.load(path)
    made = own.construct(own.model, opened.module["seed"])
    assert runner.judge(0, made).status == "correct"
    folded = {name: parameter.clone() for name, parameter in made.state_dict().items()}
    changed = oracle.ask(messages.ChangeWeights)
    assert changed.call == len(opened.calls)
    assert module.take_state(made, changed.parameters)
    assert runner.judge(changed.call, made).status == "correct"
    made.load_state_dict(folded)
    assert runner.judge(changed.call, made).status == "wrong_values"
    oracle.ask(messages.Close)
