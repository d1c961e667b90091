"""The gradients of a suite's task: what ``DERIVED_FROM`` makes of a file written about its result."""

import pytest
import torch

from kbx.oracle import backward_files, controls, taskfile, truth
from kbx.oracle.suite_backward import NoGradient

FILE = """\"\"\"Statement.\"\"\"
import torch
from kbx.suite import Close, Exact, Property, Random, call
DIFFICULTY, DTYPE, TAGS = 1, "float32", ("elementwise",)
MUTATES = ("state",)
CASES = [dict(n=40), dict(n=7), dict(n=9, out=True), dict(n=33, whole=True), dict(n=17, inplace=True)]
SIZES = [dict(n=64), dict(n=65), dict(n=66, whole=True), dict(n=67)]
CONTRACT = Exact()
def f(x, w, state=None, inplace=False, *, out=None):
    y = x.tanh() * w + x
    if state is not None:
        state.add_(1)
    if inplace:
        return x.copy_(y)
    return y if out is None else out.copy_(y)
def inputs(make, n, out=False, whole=False, inplace=False):
    x = make.ints(3, n, low=0, high=5) if whole else make.floats(3, n)
    w = make.ints(n, low=0, high=5) if whole else make.floats(n)
    return call(x, w, make.plain(2), inplace, out=make.floats(3, n) if out else None)
def negative_of_the_result(x, w, state=None, inplace=False, *, out=None):
    return x
DERIVED_FROM, FORWARD, ENTRY = "Category/f", "f", "f_backward"
def f_backward(grad_output, x, w, state=None): ...
"""


@pytest.fixture
def written(tmp_path):
    """Loads a task file with this text, in which each of some pairs is replaced."""

    def load(*replaced, text=FILE):
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new)
        file = tmp_path / "f_backward.py"
        file.write_text(text)
        return taskfile.load(file)

    return load


def test_what_is_said_of_the_result_is_left_out(written):
    task = written()
    assert [case["n"] for case in task.cases] == [40, 7, 9, 17]
    assert [size["n"] for size in task.sizes] == [64, 65, 67]
    assert backward_files.upstream(task) == ["grad_output"]
    call = task.call(dict(n=9, out=True), "standard", "1")
    assert [name for name, _ in task.named_tensors(call)] == ["grad_output", "x", "w", "state"]
    assert task.mutates == () and "zeros" not in task.distributions
    assert "negative_of_the_result" not in task.controls
    rows = controls.verify(task, "1", torch.device("cpu"))
    assert all(row["ok"] for row in rows), rows


def test_the_gradients_are_those_of_arguments_that_the_task_does_not_update(written):
    task = written()
    call = task.call(task.cases[0], "standard", "1")
    known = truth.know(task, call, "1")
    dy, x, w, _ = (t.double() for t in call.args)
    expected = dy * ((1 - x.tanh() ** 2) * w + 1), (dy * x.tanh()).sum(0)
    for got, want in zip(known.truth, expected, strict=True):
        torch.testing.assert_close(got, want)


def test_what_rounding_leaves_of_a_gradient_that_is_zero_is_right(written):
    normalized = "(x * w) / (x * w).square().sum(-1, keepdim=True).sqrt() * 3"
    task = written(("x.tanh() * w + x", normalized), ("dict(n=7)", "dict(n=1)"))
    rows = controls.verify(task, "1", torch.device("cpu"))
    assert all(row["ok"] for row in rows), rows


REFUSED = {
    "integers": (("y = x.tanh() * w + x", "return (x * w).argmax(-1)"), "(integer result): the result is i64[3]"),
    "drawn": (("Exact()", "Random(lambda *_: [])"), "(random): the result is drawn"),
    "steps": (("x.tanh() * w + x", "x.floor() + w.floor()"), "(zero): the gradient is zero wherever there is one"),
    "no derivative": (("x.tanh() * w + x", "torch.special.zeta(x, w)"), "(PyTorch has none): the derivative for 'zeta'"),
    "cut": (("y = x.tanh() * w + x", "return x.detach() * w.detach()"), "(PyTorch has none): the result is in no graph"),
    "in place": (("y = x.tanh() * w + x", "return x.mul_(w)"), "(in place): the result is written into an argument"),
    "updates": (("y = x.tanh() * w + x", "return state.add_((x * w).sum())"), "(in place): "),
    "a gradient": (('"f", "f_backward"', '"g_backward", "g"'), "(of gradients): the result is a gradient itself"),
    "any sign": (
        ("Exact()", "Property(lambda args, kwargs, result, expected: [] if torch.equal(result.abs(), expected.abs()) else ['no'])"),
        "(not unique): the contract takes other answers as well",
    ),
    "float8": (
        ("y = x.tanh() * w + x", "return x.to(torch.float8_e4m3fn), w.amax()"),
        "(quantized): of levels, as f8e4m3[3, 40], only the scales would have one",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("replaced", "message"), REFUSED.values(), ids=REFUSED)
def test_a_task_without_a_gradient_says_why(written, replaced, message):
    with pytest.raises(NoGradient) as error:
        written(replaced)
    assert error.value.message.startswith(f"no gradient to judge {message}")


MODEL = """\"\"\"Statement.\"\"\"
import torch
from kbx.suite import Close
DTYPE, TAGS = "float32", ("fusion",)
PUBLISHED = SCALED = dict(n=24)
CONTRACT = Close()
class Model(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = torch.nn.Sequential(torch.nn.Linear(n, n), torch.nn.BatchNorm1d(n))
    def forward(self, x):
        return self.norm(x)
class NegativeOfTheResult(Model):
    def forward(self, x):
        return x
def init_inputs(n):
    return [n]
def inputs(make, n):
    from kbx.suite import call
    return call(make.floats(8, n))
DERIVED_FROM, FORWARD = "level1/f", "Model"
"""


def test_a_bias_whose_gradient_is_rounding_is_in_no_control(written):
    """What a normalization takes away again has a gradient of zero, which is missed by nobody."""
    task = written(text=MODEL)
    assert "negative_of_the_result" not in task.rivals
    rows = controls.verify(task, "1", torch.device("cpu"))
    assert all(row["ok"] for row in rows), rows


def test_a_model_without_a_gradient_says_why(written):
    with pytest.raises(NoGradient, match=r"\(integer result\): the result is i64\[8\]"):
        written(("return self.norm(x)", "return self.norm(x).argmax(-1)"), text=MODEL)
    with pytest.raises(NoGradient, match=r"\(zero\): the gradient is zero"):
        written(("return self.norm(x)", "return self.norm(x).floor()"), text=MODEL)
