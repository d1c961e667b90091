"""References that compute gradients, and whose gradients are the task."""

import hashlib
import json

import pytest
import torch
from bench_client import HostArena

from kbx.oracle import controls, judge, models, session, shape_tracing, taskfile, truth, work
from kbx.oracle.task import InvalidTask
from kbx.suite.values import tensors

DRAWS = "import torch\ndef inputs():\n    return torch.randn(5, 33), torch.rand(33), torch.randn(5, 33)\n"
BACKWARD = """
def f(x, w, dy):
    {leaves}
    {compute}
"""
LEAVES = {
    "copies": "x, w = x.detach().requires_grad_(), w.clone().requires_grad_()",
    "the arguments": "x.requires_grad_(), w.requires_grad_()",
}
COMPUTE = {
    "backward": "(x.tanh() * w).backward(dy)\n    return x.grad, w.grad",
    "grad": "return torch.autograd.grad(x.tanh() * w, (x, w), dy)",
    "a graph": "y = x.tanh() * w\n    return torch.autograd.grad(y, (x, w), dy, create_graph=True)",
    "a hook": "y = x.tanh() * w\n    y.register_hook(lambda g: g * 1)\n    y.backward(dy)\n    return x.grad, w.grad",
}
MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.rand(33))
    def forward(self, x, dy):
        (x.tanh() * self.w).backward(dy)
        return self.w.grad
def get_inputs():
    return [torch.randn(5, 33), torch.randn(5, 33)]
"""


@pytest.fixture
def own(tmp_path):
    """Loads the task of a reference with this text, as ``kbx eval --reference`` writes it."""

    def load(text, entry="f", device="cpu", backward=False):
        file = tmp_path / "my_ref.py"
        file.write_text(text)
        kind = "OwnModel" if "class Model" in text else "OwnFunction"
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        task = tmp_path / f"{digest[:8]}.py"
        forward, entry = (f"    forward={entry!r},\n", f"{entry}_backward") if backward else ("", entry)
        if backward and kind == "OwnModel":
            forward = "    backward=True,\n"
        task.write_text(
            f'"""Statement."""\n\nfrom kbx.suite.original import {kind}\n\nENTRY = {entry!r}\nTAGS = ("own",)\n'
            f"FILE = {json.dumps(str(file))}\nORIGINAL = {kind}(\n    file=FILE,\n    sha256={digest!r},\n{forward})\n"
        )
        return taskfile.load(task, device)

    return load


def grads(x, w, dy):
    """Of ``x.tanh() * w``."""
    y = x.tanh()
    return dy * w * (1 - y * y), (dy * y).sum(0)


@pytest.mark.parametrize("compute", COMPUTE.values(), ids=COMPUTE)
@pytest.mark.parametrize("leaves", LEAVES.values(), ids=LEAVES)
def test_a_reference_that_computes_gradients_is_judged(own, leaves, compute):
    task = own(DRAWS + BACKWARD.format(leaves=leaves, compute=compute))
    assert task.mutates == () and not task.constant
    call = task.call(task.cases[0], "drawn", "1")
    known = truth.know(task, call, "1")
    for found, expected in zip(known.truth, grads(*(t.double() for t in call.args)), strict=True):
        assert found.dtype == torch.float64 and not found.requires_grad
        torch.testing.assert_close(found, expected)
    assert [t.dtype for t in known.expected] == [torch.float32] * 2


@pytest.mark.parametrize("leaves", LEAVES.values(), ids=LEAVES)
def test_what_the_reference_is_given_is_in_no_graph_afterwards(own, leaves):
    task = own(DRAWS + BACKWARD.format(leaves=leaves, compute=COMPUTE["backward"]))
    call = task.call(task.cases[0], "drawn", "1")
    once, again = task.reference(*call.args), task.reference(*call.args)
    assert [(t.requires_grad, t.grad) for t in call.args] == [(False, None)] * 3
    assert all(map(torch.equal, once, again))  # gradients of the first call are not added to
    assert not any(t.requires_grad for t in once)


def test_a_reference_differentiates_what_a_module_of_its_own_returns(own):
    task = own(
        DRAWS
        + "L = torch.nn.LayerNorm(33)\ndef f(x, w, dy):\n    return torch.autograd.grad(L(x.requires_grad_()), x, dy)[0]\n"
    )
    assert task.differentiates


def test_it_is_tried_on_shapes_where_values_are_too_large(own):
    large = DRAWS.replace("5, 33", "1 << 17, 333").replace("rand(33", "rand(333")
    task = own(large + BACKWARD.format(leaves=LEAVES["copies"], compute=COMPUTE["backward"]), device="cuda")
    assert task.differentiates and task.nbytes > 333 << 20
    assert shape_tracing.calls(task, True)


def test_a_reference_that_needs_no_gradients_runs_without(own):
    task = own(DRAWS + "def f(x, w, dy):\n    assert not torch.is_grad_enabled()\n    return x * w + dy\n")
    assert not task.differentiates


def test_a_reference_that_fails_with_gradients_too_says_why(own):
    text = DRAWS + BACKWARD.format(leaves=LEAVES["copies"], compute="(x.tanh() * w).backward(dy)\n    return x.gard")
    with pytest.raises(InvalidTask) as error:
        own(text)
    assert error.value.message == "f() raised AttributeError: 'Tensor' object has no attribute 'gard'"


def test_an_update_in_place_beside_gradients_is_judged(own):
    body = "x = x.detach().requires_grad_()\n    w += torch.autograd.grad(x.tanh(), x, dy)[0].sum(0)"
    task = own(DRAWS + f"def f(x, w, dy):\n    {body}\n")
    assert task.mutates == ("w",)


def test_gradients_of_parameters_are_of_one_call(own):
    task = own(MODEL).seeded("1")
    call = task.call(task.cases[0], "drawn", "1")
    known = [truth.know(task, call, "1") for _ in range(2)]
    x, dy = (t.double() for t in call.args)
    for each in known:
        torch.testing.assert_close(each.truth, (dy * x.tanh()).sum(0))
    assert task.module("1")["differentiates"]


def test_arguments_that_inputs_marks_require_a_gradient(own):
    text = DRAWS.replace("torch.rand(33)", "torch.rand(33, requires_grad=True)")
    task = own(text + "def f(x, w, dy):\n    (x.tanh() * w).backward(dy)\n    return w.grad\n")
    assert task.marked == {"w"}
    call = task.call(task.cases[0], "drawn", "1")
    x, w, dy = (t.double() for t in call.args)
    torch.testing.assert_close(truth.know(task, call, "1").truth, grads(x, w, dy)[1])
    lent = session.lend(call, HostArena("in"), task)[0]
    assert [leaf.get("requires_grad") for leaf in lent] == [None, True, None]


TASKS = {
    "leaves of its own": (DRAWS, LEAVES["the arguments"]),
    "leaves of inputs()": (DRAWS.replace("33)", "33, requires_grad=True)"), "pass"),
}


@pytest.mark.parametrize(("draws", "leaves"), TASKS.values(), ids=TASKS)
def test_a_task_file_may_compute_gradients(tmp_path, draws, leaves):
    """As ``kbx tasks new`` makes one."""
    file = tmp_path / "f.py"
    file.write_text(
        '"""Statement."""\nfrom kbx.suite import Close, drawn\nENTRY, DIFFICULTY, DTYPE, TAGS = "f", 1, "float32", ("own",)\n'
        'CASES = SIZES = [{"number": 0}]\nCONTRACT = Close(growth=8)\n'
        + draws.replace("inputs", "drawn_inputs")
        + BACKWARD.format(leaves=leaves, compute=COMPUTE["grad"])
        + "def inputs(make, number):\n    return drawn(make, drawn_inputs, number)\n"
        "def negative_half(x, w, dy):\n    return tuple(g / 2 for g in f(x, w, dy))\n"
    )
    task = taskfile.load(file)
    rows = controls.verify(task, "1", torch.device("cpu"))
    assert all(row["ok"] for row in rows), rows
    assert "negative_half" in {row["name"] for row in rows}


WEIGHTS = {
    "a tensor": ("W = torch.ones(33, requires_grad=True)", "(x.tanh() * W).backward(dy)\n    return W.grad"),
    "a module": ("L = torch.nn.LayerNorm(33)", "L(x.tanh()).backward(dy)\n    return L.bias.grad"),
}


@pytest.mark.parametrize(("weights", "compute"), WEIGHTS.values(), ids=WEIGHTS)
def test_gradients_of_weights_beside_the_function_are_of_one_call(own, weights, compute):
    task = own(f"{DRAWS}{weights}\ndef f(x, w, dy):\n    {compute}\n")
    call = task.call(task.cases[0], "drawn", "1")
    once, again = task.reference(*call.args), task.reference(*call.args)
    assert torch.equal(once, again)


# ---------------------------------------------------------------- --backward

RMS_NORM = """
import torch
# inputs: f32[6, 40], f32[40], eps=1e-5
# inputs: f16[6, 40], f16[40], eps=1e-5
def f(x, w, eps):
    return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype) * w
"""
INPUTS = "import torch\ndef inputs():\n    return torch.randn(6, 40), torch.randn(40)\n"


def known(task, seed="1", case=0):
    return truth.know(task, task.call(task.cases[case], "drawn", seed), seed)


def test_a_backward_task_takes_the_upstream_gradient_and_returns_those_of_the_arguments(own):
    task = own(RMS_NORM, backward=True)
    assert (task.name, task.entry, task.entries[0]) == ("f_backward",) * 3
    assert [str(case["inputs"]) for case in task.cases[:2]] == [
        "(f32[6, 40], f32[6, 40], f32[40], eps=1e-05)", "(f16[6, 40], f16[6, 40], f16[40], eps=1e-05)",
    ]  # fmt: skip
    assert [case["inputs"].variation for case in task.cases[2:]] == [
        "non_contiguous", "tiny_values", "wide_values", "zeros", "sign:negative", "sign:positive", "sign:opposite",
    ]  # fmt: skip
    for case, dtype in enumerate((torch.float32, torch.float16)):
        found = known(task, case=case)
        assert [(t.dtype, tuple(t.shape)) for t in found.expected] == [(dtype, (6, 40)), (dtype, (40,))]
        assert {t.dtype for t in found.truth} == {torch.float64}
    assert task.named_tensors(found.call)[0][0] == "grad_output"


def test_upstream_gradients_are_fresh_in_each_call(own):
    task = own(RMS_NORM, backward=True)
    one, again, other = (known(task, seed).call.args[0] for seed in "112")
    assert torch.equal(one, again) and not torch.equal(one, other)


def test_its_truth_is_the_gradient_in_float64(own):
    """Of ``tanh(x) w``: ``dy w (1 - tanh²)``, and the sum of ``dy tanh`` over the rows."""
    task = own(INPUTS + "def f(x, w):\n    return x.tanh() * w\n", backward=True)
    found = known(task)
    dy, x, w = (t.double() for t in found.call.args)
    for got, expected in zip(found.truth, grads(x, w, dy), strict=True):
        torch.testing.assert_close(got, expected)


RETURNS = {
    "several results": ("return x * 2, (x * w).sum(-1)", ["grad_output_0", "grad_output_1"], 2),
    "integers beside": ("return (x * w).max(-1)", ["grad_output"], 2),
    "a dict": ("return {'a': x * 2, 'b': x.argmax(), 'c': None}", ["grad_output"], 1),
    "a loss": ("return (x * w).sum()", ["grad_output"], 2),
    "the argument itself": ("return x", ["grad_output"], 1),
    "a view": ("return x[:, :1].expand(6, 40)", ["grad_output"], 1),
    "what is cut off": ("return x * w.detach()", ["grad_output"], 1),
}


@pytest.mark.parametrize(("body", "upstream", "count"), RETURNS.values(), ids=RETURNS)
def test_results_that_can_be_differentiated_have_upstream_gradients(own, body, upstream, count):
    task = own(INPUTS + f"def f(x, w):\n    {body}\n", backward=True)
    found = known(task)
    assert [name for name, _ in task.named_tensors(found.call)] == [*upstream, "x", "w"]
    assert len(found.expected) == count if count > 1 else isinstance(found.expected, torch.Tensor)
    assert found.aliases == [None] * count and all(0 not in stride for stride in found.strides)


def test_gradients_are_of_the_arguments_that_inputs_marks(own):
    marked = INPUTS.replace("torch.randn(40)", "torch.randn(40, requires_grad=True)")
    task = own(marked + "def f(x, w):\n    return x * w\n", backward=True)
    assert known(task).expected.shape == (40,)


REFUSED = {
    "integers": ("return x.argmax(-1)", "f() returns nothing that PyTorch can differentiate (i64[6]): leave out"),
    "no graph": ("with torch.no_grad():\n        return x * w", "f() returns nothing that PyTorch can differentiate (f32[6, 40]): "),
    "a number": ("return (x * w).sum().item()", "f() returns nothing that PyTorch can differentiate ("),
    "in place": ("x += 1\n    return x * w", "f() runs and cannot be differentiated (a leaf Variable that requires grad is being used in an in-place operation): "),
    "no derivative": ("return torch.igamma(x.abs(), w.abs())", "f() runs and cannot be differentiated (the derivative for '"),
    "broken": ("return x * z", "f() raised NameError: name 'z' is not defined"),
    "random": ("return torch.dropout(x * w, 0.5, True)", "f() draws random numbers"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "message"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_gradient_is_refused(own, body, message):
    with pytest.raises(InvalidTask) as error:
        own(INPUTS + f"def f(x, w):\n    {body}\n", backward=True)
    assert error.value.message.startswith(message)


def test_no_kernel_must_compute_the_forward(own):
    """The gradients of a product are two products; the reference computes three."""
    product = "import torch\n# inputs: f32[32, 16], f32[16, 8]\ndef f(a, b):\n    return a @ b\n"
    done = []
    for backward in (False, True):
        task = own(product, backward=backward)
        done.append(work.measure(task, task.call(task.cases[0], "drawn", "1")))
    assert [each.flops for each in done] == [2 * 32 * 16 * 8, 3 * 2 * 32 * 16 * 8]
    assert [each.least_flops for each in done] == [2 * 32 * 16 * 8, None]
    assert done[0].least_bytes and done[1].least_bytes is None


def test_its_controls_are_the_classic_mistakes(own):
    task = own(INPUTS + "def f(x, w):\n    return x.tanh() * w + x\n", backward=True)
    rows = {row["name"]: row for row in controls.verify(task, "1", torch.device("cpu"))}
    mistakes = [name for name in rows if name.startswith("negative_")]
    assert mistakes == [
        "negative_gradient_missing", "negative_not_accumulated", "negative_first_row_only", "negative_mean_over_rows",
        "negative_saved_overwritten",
    ]  # fmt: skip
    assert all(row["ok"] for row in rows.values()), rows


def test_a_mistake_that_an_operation_cannot_make_is_no_control_of_it(own):
    task = own(INPUTS + "def f(x, w):\n    return x * 3\n", backward=True)
    assert task.controls == {}


def test_a_backward_is_tried_on_shapes_where_values_are_too_large(own):
    text = RMS_NORM.replace("6, 40", "262144, 400").replace("[40]", "[400]")
    task = own(text, backward=True, device="cuda")
    assert task.nbytes > 100 << 20 and len(task.sizes) == 2
    assert [len(call["args"]) for call in shape_tracing.calls(task, True)][0] == 3


OPERATIONS = {
    "layer_norm": ("{}[17, 60], {}[60], {}[60]", "x, w, b", "F.layer_norm(x, (60,), w, b)"),
    "swiglu": ("{}[17, 60]", "x", "F.silu(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1]"),
    "attention": ("{0}[2, 3, 9, 16], {0}[2, 3, 9, 16], {0}[2, 3, 9, 16]", "q, k, v", "torch.softmax(q @ k.mT / 4, -1) @ v"),
    "cross_entropy": ("{}[17, 60], i64[17] < 60", "x, t", "F.cross_entropy(x, t)"),
    "bias and residual": ("{}[17, 60], {}[60]", "x, b", "F.gelu(x + b) + x"),
    "embedding": ("{}[30, 16], i64[40] < 30", "w, i", "F.embedding(i, w)"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize(("arguments", "names", "result"), OPERATIONS.values(), ids=OPERATIONS)
def test_gradients_computed_in_float32_pass_and_mistakes_fail(own, arguments, names, result, dtype):
    arguments = arguments.replace("{}", "{0}").format(dtype)
    head = f"import torch\nimport torch.nn.functional as F\n# inputs: {arguments}\n"
    task = own(head + f"def f({names}):\n    return {result}\n", backward=True)
    assert task.controls
    rows = controls.verify(task, "1", torch.device("cpu"))
    assert all(row["ok"] for row in rows), [row for row in rows if not row["ok"]]
    call = task.call(task.cases[0], "drawn", "1")
    found = truth.know(task, call, "1")
    computed = task.reference(*(t.float() if t.is_floating_point() else t for t in call.args))
    honest = [got.to(want.dtype) for got, want in zip(tensors(computed), tensors(found.expected), strict=True)]
    judgement = judge.decide(task, found, [tuple(honest) if len(honest) > 1 else honest[0]])
    assert judgement.status == "correct" and judgement.metrics["error_ratio"] <= 0.5


# ---------------------------------------------------------------- --backward of a Model

LINEAR = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w = torch.nn.Parameter(torch.rand(width) + 0.5)
        self.b = torch.nn.Parameter(torch.rand(width))
        self.unused = torch.nn.Parameter(torch.rand(2))
        self.frozen = torch.nn.Parameter(torch.ones(width), requires_grad=False)
    def forward(self, x, i):
        return x[i].tanh() * self.w * self.frozen + self.b
def get_inputs():
    return [torch.randn(5, 33), torch.tensor([0, 4, 4, 2, 3, 3])]
def get_init_inputs():
    return [33]
"""


def known_of_model(task, seed="1"):
    bound = task.seeded(seed)
    return bound, truth.know(bound, bound.call(bound.cases[0], "drawn", seed), seed)


def test_a_models_backward_returns_the_gradients_of_inputs_and_of_parameters_by_name(own):
    """Of ``tanh(x[i]) w + b``: ``dy w (1 - tanh²)`` added up at ``i``, the sums of ``dy tanh`` and of ``dy`` over the rows."""
    bound, found = known_of_model(own(LINEAR, "ModelNew", backward=True))
    assert [name for name, _ in bound.named_tensors(found.call)] == ["grad_output", "x", "i"]
    dy, x, i = (t.double() if t.is_floating_point() else t for t in found.call.args)
    w, y = bound.compilable.w.detach().double(), x[i].tanh()
    expected = {
        "x": torch.zeros_like(x).index_add_(0, i, dy * w * (1 - y * y)),
        "self.w": (dy * y).sum(0), "self.b": dy.sum(0), "self.unused": torch.zeros(2).double(),
    }  # fmt: skip
    assert list(found.truth) == list(expected)
    for name, each in expected.items():
        torch.testing.assert_close(found.truth[name], each)
        assert found.expected[name].dtype == torch.float32


def test_what_a_runner_is_told_of_a_models_gradients(own):
    assert own(LINEAR, "ModelNew", backward=True).module("1")["backward"] == {
        "results": 1, "positions": [0], "names": ["x", "self.w", "self.b", "self.unused"],
    }  # fmt: skip
    marked = LINEAR.replace("torch.randn(5, 33)", "torch.randn(5, 33), torch.randn(33, requires_grad=True)")
    task = own(
        marked.replace("forward(self, x, i):\n", "forward(self, x, z, i):\n        x = x * z\n"),
        "ModelNew",
        backward=True,
    )
    assert task.module("1")["backward"]["positions"] == [1]


def test_a_models_controls_are_the_classic_mistakes(own):
    task = own(LINEAR.replace("+ self.b", "+ self.b + x[i]"), "ModelNew", backward=True)
    rows = {row["name"]: row for row in controls.verify(task, "1", torch.device("cpu"))}
    assert [name for name in rows if name.startswith("negative_")] == [
        "negative_gradient_missing", "negative_not_accumulated", "negative_first_row_only", "negative_mean_over_rows",
        "negative_saved_overwritten",
    ]  # fmt: skip
    assert all(row["ok"] for row in rows.values()), rows


MODULES = {
    "LayerNorm": ("torch.nn.LayerNorm(60)", "[torch.randn(17, 60)]"),
    "Linear and GELU": ("torch.nn.Sequential(torch.nn.Linear(60, 40), torch.nn.GELU())", "[torch.randn(17, 60)]"),
    "BatchNorm": ("torch.nn.BatchNorm1d(60)", "[torch.randn(17, 60)]"),
    "Embedding": ("torch.nn.Embedding(3, 16)", "[torch.randint(3, (40,))]"),
    "attention": ("torch.nn.MultiheadAttention(32, 4)", "[torch.randn(9, 2, 32)] * 3"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [None, "bfloat16", "float16"])
@pytest.mark.parametrize(("module", "inputs"), MODULES.values(), ids=MODULES)
def test_a_models_gradients_computed_in_float32_pass_and_mistakes_fail(own, module, inputs, dtype):
    text = "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text += f"        self.part = {module}\n    def forward(self, *xs):\n        return self.part(*xs)\ndef get_inputs():\n    return {inputs}\n"
    task = own(text, "ModelNew", backward=True)
    assert task.rivals
    task = task if dtype is None else models.at(task, dtype)
    rows = controls.verify(task, "1", torch.device("cpu"))
    assert all(row["ok"] for row in rows), [row for row in rows if not row["ok"]]
    bound, found = known_of_model(task)
    exact = {name: each.to(found.expected[name].dtype) for name, each in found.truth.items()}
    judgement = judge.decide(bound, found, [exact])
    assert judgement.status == "correct" and judgement.metrics["error_ratio"] <= 0.5


def test_a_models_backward_is_tried_on_shapes_where_values_are_too_large(own):
    large = LINEAR.replace("5, 33", "1 << 17, 333").replace("[33]", "[333]")
    task = own(large, "ModelNew", backward=True, device="cuda")
    assert task.nbytes > 150 << 20 and len(task.sizes) == 1
    assert {len(call["args"]) for call in shape_tracing.calls(task, True)} == {3}


NO_GRADIENT = {
    "no graph": ("return x[i].argmax(-1)", "forward() returns nothing that PyTorch can differentiate (i64[6]): leave out"),
    "in place": ("x += 1\n        return x * self.w", "forward() runs and cannot be differentiated (a leaf Variable that requires grad"),
    "no derivative": ("return torch.igamma(x.abs(), self.w)", "forward() runs and cannot be differentiated (the derivative for '"),
    "broken": ("return x * z", "forward() raised NameError: name 'z' is not defined"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "message"), NO_GRADIENT.values(), ids=NO_GRADIENT)
def test_a_model_without_a_gradient_is_refused(own, body, message):
    text = LINEAR.replace("return x[i].tanh() * self.w * self.frozen + self.b", body)
    with pytest.raises(InvalidTask) as error:
        own(text, "ModelNew", backward=True)
    assert error.value.message.startswith(message)


# ---------------------------------------------------------------- FORWARD of a task file

FILE = """\"\"\"Statement.\"\"\"
from kbx.suite import Close, drawn
import torch
ENTRY, FORWARD, DIFFICULTY, DTYPE, TAGS = "g", "f", 1, "float32", ("own",)
CASES = [{"number": 0}, {"number": 0, "variation": "non_contiguous"}]
SIZES = [{"number": 0}]
DISTRIBUTIONS = ("standard", "small", "large", "zeros")
CONTRACT = Close(growth=8)
def drawn_inputs():
    return torch.randn(6, 40), torch.randn(40)
def inputs(make, number=0, variation=None):
    return drawn(make, drawn_inputs, number, variation, of=f)
def f(x, w):
    return x.tanh() * w + x
def g(grad_output, x, w): ...
def negative_half(grad_output, x, w):
    return tuple(each / 2 for each in g(grad_output, x, w))
"""
CLASSIC = [
    "negative_gradient_missing", "negative_not_accumulated", "negative_first_row_only", "negative_mean_over_rows",
    "negative_saved_overwritten",
]  # fmt: skip


@pytest.fixture
def written(tmp_path):
    """Loads a task file with this text, in which each of some pairs is replaced."""

    def load(text, *replaced, device="cpu"):
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new)
        file = tmp_path / "task.py"
        file.write_text(text)
        return taskfile.load(file, device)

    return load


def test_a_task_file_names_the_forward_whose_gradients_are_the_task(written):
    task = written(FILE)
    assert (task.entry, task.differentiates) == ("g", True)
    call = task.call(task.cases[0], "standard", "1")
    assert [name for name, _ in task.named_tensors(call)] == ["grad_output", "x", "w"]
    dy, x, w = (t.double() for t in call.args)
    expected = grads(x, w, dy)
    for got, want in zip(truth.know(task, call, "1").truth, (expected[0] + dy, expected[1]), strict=True):
        torch.testing.assert_close(got, want)
    varied = task.call(task.cases[1], "standard", "1").args
    assert not varied[0].is_contiguous() and not torch.equal(varied[0], call.args[0] * 0)
    small = task.call(task.cases[0], "small", "1").args
    assert all(t.abs().max() < 0.01 for t in small)


def test_its_controls_are_the_files_own_and_the_classic_mistakes(written):
    task = written(FILE)
    assert list(task.controls) == [*CLASSIC, "negative_half"]
    rows = controls.verify(task, "1", torch.device("cpu"))
    assert all(row["ok"] for row in rows), rows
    skipped = written(
        FILE, ("DTYPE,", "SKIP_CONTROLS, DTYPE,"), ('"float32",', '{"negative_mean_over_rows": "why"}, "float32",')
    )
    found = {row["name"]: row["status"] for row in controls.verify(skipped, "1", torch.device("cpu"))}
    assert found["negative_mean_over_rows"] == "skipped"


def test_the_gradients_of_a_task_file_are_those_of_the_arguments_that_are_marked(written):
    task = written(FILE, ("torch.randn(40)", "torch.randn(40, requires_grad=True)"))
    call = task.call(task.cases[0], "standard", "1")
    assert not any(t.requires_grad for t in call.args)
    assert truth.know(task, call, "1").expected.shape == (40,)


def test_a_task_file_of_gradients_is_read_for_a_gpu_without_one(written):
    task = written(FILE, ("6, 40", "262144, 400"), ("(40)", "(400)"), device="cuda")
    assert [len(call["args"]) for call in shape_tracing.calls(task, True)][0] == 3
    assert list(task.controls) == ["negative_half"]


FLAWS = {
    "no gradient": (("return x.tanh() * w + x", "return (x > 0).all()"), "f() returns nothing that PyTorch can differentiate (bool[]): leave out FORWARD, "),
    "other parameters": (("def g(grad_output, x", "def g(dy, x"), "g() takes (dy, x, w), and what FORWARD makes of it (grad_output, x, w)"),
    "no such function": (('"g", "f"', '"g", "h"'), "h is missing: the file must define a function of this name"),
    "an unknown control": (("CONTRACT", "SKIP_CONTROLS = {'negative_saved': 'why'}\nCONTRACT"), "SKIP_CONTROLS names 'negative_saved', "),
    "a control of the forward": (("negative_half(grad_output, ", "negative_half("), "negative_half() takes (x, w), the reference (grad_output, x, w)"),
}  # fmt: skip


@pytest.mark.parametrize(("replaced", "message"), FLAWS.values(), ids=FLAWS)
def test_a_flaw_of_a_task_file_of_gradients_is_named(written, replaced, message):
    with pytest.raises(InvalidTask) as error:
        written(FILE, replaced)
    assert error.value.message.startswith(message)


def test_a_call_with_another_number_of_results_is_named(written):
    several = "[(torch.randn(6, 40), torch.randn(40)), (torch.randn(5, 40), torch.randn(40))]"
    task = written(
        FILE,
        ("return x.tanh() * w + x", "return (x, w)[: 1 + (len(x) == 6)]"),
        ("torch.randn(6, 40), torch.randn(40)", several),
        ("def g(grad_output, ", "def g(grad_output_0, grad_output_1, "),
        ("negative_half(grad_output, x, w)", "helper(x)"),
    )
    with pytest.raises(
        InvalidTask, match=r"f\(\) returns 1 tensors that PyTorch can differentiate, and 2 in the first"
    ):
        task.call({"number": 1}, "standard", "1")


MODEL_FILE = f"""\"\"\"Statement.\"\"\"
from kbx.suite import Close, drawn
FORWARD, DTYPE, TAGS = "Model", "float32", ("own",)
DISTRIBUTIONS = ("standard", "small")
CONTRACT = Close(growth=8)
PUBLISHED = SCALED = {{}}
{LINEAR.replace("+ self.b", "+ self.b + x[i]")}
class NegativeNoW(Model):
    def forward(self, x, i):
        return x[i].tanh() * self.w.detach() * self.frozen + self.b + x[i]
def init_inputs():
    return get_init_inputs()
def inputs(make):
    return drawn(make, get_inputs)
"""


def test_a_task_file_may_be_of_a_models_gradients(written):
    task = written(MODEL_FILE)
    rows = controls.verify(task, "1", torch.device("cpu"))
    assert all(row["ok"] for row in rows), rows
    assert [row["name"] for row in rows if row["name"].startswith("negative")] == [*CLASSIC, "negative_no_w"]
    bound = task.seeded("1")
    found = truth.know(bound, bound.call(bound.cases[0], "published", "1"), "1")
    assert list(found.expected) == ["x", "self.w", "self.b", "self.unused"]
    assert task.module("1")["backward"]["results"] == 1
    half = models.at(task, "bfloat16").seeded("1")
    assert {t.dtype for t in tensors(half.call(half.cases[0], "published", "1").args[:2])} == {torch.bfloat16}


def test_usable_weights_of_a_task_file_of_gradients_are_of_its_model(written):
    task = written(MODEL_FILE + "def usable(model):\n    return model(*get_inputs()).shape == (6, 33)\n")
    assert task.module("1")["seed"] == written(MODEL_FILE).module("1")["seed"]


def test_forward_of_a_file_with_a_model_is_its_model(written):
    with pytest.raises(InvalidTask, match="FORWARD is 'f': of a file with Model it is 'Model'"):
        written(MODEL_FILE, ('"Model", ', '"f", '))
