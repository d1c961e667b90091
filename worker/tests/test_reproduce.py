"""Scripts that show a failure without kbx: the calls they make, the code they hold, and that they find what is wrong and nothing else."""

import os
import pathlib
import subprocess
import sys
import types

import pytest
import torch

from kbx.oracle import taskfile
from kbx.oracle.task import describe
from kbx.reproduce import calls, reference, script
from kbx.reproduce.script import Failure
from kbx.reproduce.values import expression
from kbx.suite import Inputs

TASKS = pathlib.Path(__file__).parents[2] / "tasks"
BENCHX = sorted(str(path.relative_to(TASKS)) for path in TASKS.glob("kernelbenchx/*/*.py"))
SERVING = sorted(str(path.relative_to(TASKS)) for path in TASKS.glob("serving/*/*.py"))
LEVELS = sorted(str(path.relative_to(TASKS)) for path in TASKS.glob("kernelbench/level1/*.py"))


def path(name):
    return str(TASKS / name)


def about(task, source, message="", **further):
    """A failure of a candidate with this source; of the first case if ``message`` names none."""
    loaded = taskfile.load(task)
    message = message or f"{describe(loaded.cases[0])}, {loaded.distributions[0]} values: 1 wrong elements"
    usual = {"origin": "x.py", "status": "wrong_values", "name": loaded.name, "cuda": False, "arch": "sm_90"}
    return Failure(task=task, source=source, message=message, **{**usual, **further})


def opened(text, monkeypatch):
    """The names of a script, which is not run as a program."""
    monkeypatch.setenv("TRITON_INTERPRET", os.environ.get("TRITON_INTERPRET", ""))  # what the script sets is put back
    module = types.ModuleType("reproduced")
    exec(compile(text, "reproduced", "exec"), module.__dict__)
    for name in ("candidate", "reference"):
        monkeypatch.setitem(sys.modules, name, sys.modules.get(name))
    return module


def itself(task):
    """The reference as a candidate."""
    loaded = taskfile.load(task)
    of = reference.of(loaded)
    return f"{of.code}\n\n{loaded.entries[0]} = {of.name}\n"


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", BENCHX + SERVING + LEVELS)
def test_reference_itself_does_not_fail(name, monkeypatch):
    task = taskfile.load(path(name))
    if task.contract.random:
        pytest.skip("random results are judged by distribution")
    shown = opened(script.written(about(path(name), itself(path(name)))), monkeypatch)
    assert shown.failure(1) == []


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["40_LayerNorm", "33_BatchNorm", "50_conv_standard_2D__square_input__square_kernel"])
def test_model_is_cast_to_the_precision_that_it_was_judged_at(name, dtype, monkeypatch):
    task = path(f"kernelbench/level1/{name}.py")
    shown = opened(script.written(about(task, itself(task), dtype=dtype)), monkeypatch)
    cast = getattr(torch, dtype)
    assert [t.dtype for t in shown.arguments()[0]] == [cast]
    model = shown.reference_call(1)
    assert {p.dtype for p in model.parameters()} == {cast}
    assert shown.called(model, 1)[0].dtype == cast
    assert shown.failure(1) == []


def test_random_results_are_not_compared():
    """Element by element two draws of a right kernel differ."""
    task = path("serving/Sampling/sample_tokens.py")
    with pytest.raises(reference.NotApart, match="random"):
        script.written(about(task, itself(task)))
    assert script.written(about(task, "def sample_tokens(): ...", status="runtime_error", message="TypeError: no"))


WRONG = "import torch\nfrom torch.nn.functional import relu as right\n\n\ndef relu(input, inplace=False):\n    "


@pytest.mark.parametrize(
    "body, said",
    [
        ("out = right(input, inplace)\n    out[-1] += 1\n    return out", "result: 1 wrong elements of 37"),
        ("return right(input.clone())", "argument[0]:"),
        ("return right(input, inplace)[:-1]", "result: shape torch.Size([36]), expected torch.Size([37])"),
        ("return right(input, inplace).double()", "result: dtype torch.float64, expected torch.float32"),
        ("return None", "result: 0 tensors, expected 1"),
        ("return torch.empty_like(input)", "got nan"),
    ],
)
def test_what_is_wrong_is_told(body, said, monkeypatch):
    message = "shape=(37,), inplace=True, standard values: wrong"
    shown = opened(script.written(about(path("kernelbenchx/Activation/relu.py"), WRONG + body, message)), monkeypatch)
    assert any(said in line for line in shown.failure(1))


KEEPING = "import torch\nkept = {}\n\n\ndef relu(input, inplace=False):\n    "


@pytest.mark.parametrize(
    "body",
    [
        "return kept.setdefault(input.data_ptr(), torch.relu(input)).clone()",
        "return kept.setdefault(input.shape, torch.relu(input)).clone()",
        "out = kept['sum'] = kept.get('sum', 0) + torch.relu(input)\n    return out.clone()",
    ],
    ids=["by address", "by shape", "added to"],
)
def test_what_is_right_once_fails_in_a_later_call(body, monkeypatch):
    task, case = path("kernelbenchx/Activation/relu.py"), "shape=(37,), standard values: wrong"
    later = f"{case}; the first call with these shapes was right, this is call 3"
    for message, fails in ((case, False), (later, True)):
        text = script.written(about(task, KEEPING + body, message))
        assert bool(opened(text, monkeypatch).failure(1)) == fails
        assert ("3 are made of one candidate" in text) == fails
    assert opened(script.written(about(task, itself(task), later)), monkeypatch).failure(1) == []


def test_exception_of_the_verdict_is_shown_and_another_is_told_apart(monkeypatch):
    raising = WRONG + "raise NotImplementedError('dtype')"
    failure = about(
        path("kernelbenchx/Activation/relu.py"), raising, "NotImplementedError (line 6): dtype", status="runtime_error"
    )
    lines = opened(script.written(failure), monkeypatch).failure(1)
    assert lines[-1] == "NotImplementedError: dtype"
    other = about(failure.task, raising, "ValueError (line 6): dtype", status="runtime_error")
    monkeypatch.setattr(sys, "argv", ["script", "1"])
    assert opened(script.written(other), monkeypatch).main() == 2


@pytest.mark.parametrize("body", ["raise ValueError('no')", "sys.exit(1)"])
def test_exception_is_not_the_failure_where_kbx_saw_wrong_values(body, monkeypatch):
    failure = about(path("kernelbenchx/Activation/relu.py"), "import sys\n" + WRONG + body)
    monkeypatch.setattr(sys, "argv", ["script", "1"])
    assert opened(script.written(failure), monkeypatch).main() == 2


def test_exception_of_the_reference_is_not_the_failure(monkeypatch):
    shown = opened(script.written(about(path("kernelbenchx/Activation/relu.py"), WRONG + "return input")), monkeypatch)
    shown.REFERENCE_CODE = "def relu(*args):\n    raise ValueError('no')"
    shown.REFERENCE = "relu"
    monkeypatch.setattr(sys, "argv", ["script", "1"])
    assert shown.main() == 2


# ---------------------------------------------------------------- autotuned kernels

TUNED = """
import torch
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 1024})], key=["n"]RESTORED)
@triton.jit
def relu_kernel(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, BODY, at < n)


def relu(input, inplace=False):
    x = input if inplace else input.clone()
    relu_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, x.numel())
    return x
"""
RELU = "tl.maximum(tl.load(x + at, at < n), 0)"
BROKEN_16 = f"{RELU} + (1 if BLOCK == 16 else 0)"
BROKEN_1024 = f"{RELU} + (1 if BLOCK == 1024 else 0)"
NAMED = "; with configuration relu_kernel(BLOCK={}, num_warps=4, num_stages=3)"


@pytest.mark.parametrize(
    "body, said, code",
    [
        (RELU, "", 0),
        (BROKEN_16, "", 1),
        (BROKEN_1024, "", 0),
        (BROKEN_1024, NAMED.format(1024), 1),
        (BROKEN_16, NAMED.format(1024), 0),
    ],
)
def test_autotuned_kernel_runs_without_a_gpu(body, said, code, tmp_path):
    """With the configuration that the message names, else with the first."""
    ended = ran(TUNED.replace("BODY", body).replace("RESTORED", ""), said, tmp_path)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert ("FAILS" in ended.stdout) == (code == 1)


def test_first_launch_of_an_autotuned_kernel_runs_twice(tmp_path):
    """What is updated in place and not restored is wrong then."""
    adding = TUNED.replace("BODY", "tl.load(x + at, at < n) + 1").replace("return x", "return x - 1")
    adding = adding.replace("x = input if inplace else input.clone()", "x = torch.relu(input)")
    assert ran(adding.replace("RESTORED", ', restore_value=["x"]'), "", tmp_path).returncode == 0
    assert ran(adding.replace("RESTORED", ""), "", tmp_path).returncode == 1


def test_candidate_that_asks_for_a_gpu_does_not_fail_by_it(tmp_path):
    """It raises what kbx saw, but for another reason."""
    asking = (
        TUNED.replace("BODY", RELU)
        .replace("RESTORED", "")
        .replace("def relu(", "triton.runtime.driver.active.utils\n\ndef relu(")
    )
    ended = ran(
        asking,
        "RuntimeError (line 3): no; called with shape=(37,), inplace=False, standard values",
        tmp_path,
        "runtime_error",
    )
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert "FAILS" not in ended.stdout


def ran(source, said, folder, status="wrong_values"):
    """The script about the candidate, run without a GPU. The message is about the first case if it names none."""
    message = said if " values" in said else f"shape=(37,), inplace=False, standard values: 1 wrong elements{said}"
    failure = about(path("kernelbenchx/Activation/relu.py"), source, message, status=status)
    (folder / "script.py").write_text(script.written(failure))
    without = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(
        [sys.executable, folder / "script.py", "1"], capture_output=True, text=True, timeout=100, env=without
    )


def test_script_names_no_module_of_kbx():
    for name in ("kernelbenchx/Quantization/" + pathlib.Path(each).name for each in BENCHX if "/Quantization/" in each):
        text = script.written(about(path(name), ""))
        assert "import kbx" not in text
        assert "from kbx" not in text


# ---------------------------------------------------------------- gradients

FUNCTION = """\"\"\"Statement.\"\"\"
import torch
from kbx.suite import Close, call
DIFFICULTY, DTYPE, TAGS = 1, "float32", ("elementwise",)
CASES = [dict(n=n) for n in (40, 1, 2, 3, 4)]
SIZES = [dict(n=64), dict(n=65), dict(n=66), dict(n=67)]
CONTRACT = Close()
def f(parts, counts, w, *, out=None):
    y = sum(part.tanh() * w for part in parts) + counts
    return (y, y.square()) if out is None else out.copy_(y)
def inputs(make, n):
    return call([make.floats(3, n), make.floats(3, n)], make.ints(n, low=1, high=5), w=make.floats(n))
FORWARD, ENTRY = "f", "f_backward"
"""
OF_FUNCTION = {
    "of a suite": FUNCTION
    + 'DERIVED_FROM = "Category/f"\ndef f_backward(grad_output_0, grad_output_1, parts, counts, w): ...\n',
    "of its own": FUNCTION + "def f_backward(grad_output_0, grad_output_1, parts, counts, w, *, out=None): ...\n",
}
RIGHT = """
def f_backward(d0, d1, parts, counts, w):
    y = sum(part.tanh() * w for part in parts) + counts
    d = d0 + 2 * y * d1
    return *(d * w * (1 - part.tanh() ** 2) for part in parts), sum((d * part.tanh()).sum(0) for part in parts)
"""
MODULE = """\"\"\"Statement.\"\"\"
import torch
from kbx.suite import Close
DTYPE, TAGS = "float32", ("fusion",)
PUBLISHED = SCALED = dict(n=8)
CONTRACT = Close()
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.unused = torch.nn.Parameter(torch.ones(2))
    def forward(self, x):
        return self.linear(x).tanh()
def init_inputs(n):
    return [n]
def inputs(make, n):
    from kbx.suite import call
    return call(make.floats(5, n))
DERIVED_FROM, FORWARD = "level1/f", "Model"
"""


def shown(folder, text, source, monkeypatch, **further):
    """What the script about a candidate for a file with this text tells."""
    file = folder / "f_backward.py"
    file.write_text(text)
    return opened(script.written(about(str(file), source, **further)), monkeypatch).failure(1)


@pytest.mark.parametrize("text", OF_FUNCTION.values(), ids=OF_FUNCTION)
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("* w * (1", "* (1", "result[0]: 1"),
        (".sum(0)", "", "result[2]: shape torch.Size([3, 40]), expected torch.Size([40])"),
        ("return *(", "return *(0 * ", "result[1]: "),
    ],
)
def test_gradients_of_a_task_are_those_of_its_forward(tmp_path, text, right, wrong, said, monkeypatch):
    assert shown(tmp_path, text, RIGHT, monkeypatch) == []
    lines = shown(tmp_path, text, RIGHT.replace(right, wrong), monkeypatch)
    assert any(line.startswith(said) for line in lines), lines


def test_gradients_of_results_have_the_shapes_that_these_have_on_new_values(tmp_path, monkeypatch):
    """How many elements a mask selects is another number for each seed."""
    text = OF_FUNCTION["of a suite"].replace("return (y, y.square())", "return (y[y > 1], y.square())")
    source = RIGHT.replace("d = d0 +", "d = torch.zeros_like(y).masked_scatter(y > 1, d0) +")
    assert shown(tmp_path, text, "import torch" + source, monkeypatch) == []


def test_gradients_of_a_model_are_those_of_its_arguments_and_weights(tmp_path, monkeypatch):
    right = MODULE[MODULE.index("class Model") : MODULE.index("def init_inputs")].replace("Model", "ModelNew")
    assert shown(tmp_path, MODULE, "import torch\n" + right, monkeypatch) == []
    detached = right.replace(
        "self.linear(x)", "torch.nn.functional.linear(x, self.linear.weight, self.linear.bias.detach())"
    )
    lines = shown(tmp_path, MODULE, "import torch\n" + detached, monkeypatch)
    assert lines[0] == "result['linear.bias']: 8 wrong elements of 8"
    cut = right.replace(".tanh()", ".detach()")
    message = "TypeError: ModelNew has 0 results that can be differentiated, and Model 1"
    lines = shown(tmp_path, MODULE, "import torch\n" + cut, monkeypatch, message=message, status="runtime_error")
    assert lines[-1] == "TypeError: 0 results can be differentiated, of 1"


# ---------------------------------------------------------------- the call


def test_call_is_the_one_that_the_message_names():
    task = taskfile.load(path("kernelbenchx/Activation/relu.py"))
    message = "NotImplementedError (line 3): no; called with shape=(17, 45), strided=True, standard values"
    found, named = calls.failing(task, "seed", message)
    assert named
    assert found.parameters == {"shape": (17, 45), "strided": True}
    _, named = calls.failing(task, "seed", "ModuleNotFoundError (line 6): No module named 'x'")
    assert not named


def test_drawn_shape_is_read_from_the_message():
    """Another seed draws another shape."""
    task = taskfile.load(path("kernelbenchx/Activation/relu.py"))
    found, named = calls.failing(task, "seed", "shape=(12345,), inplace=True, uniform values: 1 wrong elements")
    assert named
    assert (found.parameters, found.distribution) == ({"shape": (12345,), "inplace": True}, "uniform")


@pytest.mark.parametrize("text", ["x=__import__('os').getcwd()", "x=f()", "1", "x=torch.save", "**{}", "x=(1"])
def test_text_of_a_message_runs_nothing(text):
    assert calls.parsed(text) is None


# ---------------------------------------------------------------- values


def like(value, monkeypatch, seed=3):
    names = opened(script.written(about(path("kernelbenchx/Activation/relu.py"), "")), monkeypatch)
    names.GENERATOR.manual_seed(seed)
    return eval(expression(value), names.__dict__)


def test_shape_dtype_and_strides_are_kept(monkeypatch):
    make = Inputs(seed=1)
    base = make.floats(6, 10)
    for value in (base, base.t(), make.strided(base), base[:, ::3], base.expand(4, 6, 10), base.half(), base[:0]):
        made = like(value, monkeypatch)
        assert (made.shape, made.dtype, made.stride()) == (value.shape, value.dtype, value.stride())
    assert like(make.ints(200, low=-3, high=9).int(), monkeypatch).dtype == torch.int32


def test_gaps_hold_nothing_that_would_help(monkeypatch):
    made = like(Inputs(seed=1).strided(torch.randn(6, 10)), monkeypatch)
    assert made.as_strided((made.untyped_storage().nbytes() // 4,), (1,)).isnan().sum() >= 55


def slots(t):
    """Places that are used once, where they are not -1."""
    return (t == -1).sum() == 41 and t[t >= 0].unique().numel() == 99 and t.max() < 400


@pytest.mark.parametrize(
    "value, holds",
    [
        (torch.randn(4000), lambda t: 0.9 < t.std() < 1.1 and t.abs().max() < 6),
        (torch.randn(4000) * 30, lambda t: 27 < t.std() < 33),
        (torch.rand(4000) * 2 - 1, lambda t: t.min() >= -1.01 and t.max() <= 1.01 and 0.55 < t.std() < 0.6),
        (torch.randn(4000).abs() + 1, lambda t: t.min() >= 1),
        (torch.randn(4000).softmax(0)[None], lambda t: abs(t.sum() - 1) < 1e-4),
        (torch.where(torch.rand(4000) < 0.5, 0.0, torch.randn(4000)), lambda t: 0.4 < (t == 0).double().mean() < 0.6),
        (Inputs(distribution="outliers", seed=1).floats(4000), lambda t: t.abs().max() > 10 and t.abs().median() < 1),
        (Inputs(distribution="special", seed=1).floats(400), lambda t: t.isnan().any() and t.isinf().any()),
        (Inputs(seed=1).spd(12), lambda t: torch.equal(t, t.mT) and torch.linalg.eigvalsh(t).min() > 0),
        (torch.randn(12, 12).tril(), lambda t: torch.equal(t, t.tril())),
        (torch.randint(0, 7, (500,)), lambda t: t.min() == 0 and t.max() == 6),
        (torch.randint(0, 7, (500,)).float(), lambda t: torch.equal(t, t.round())),
        (torch.randint(0, 7, (500,)).sort().values, lambda t: bool((t.diff() >= 0).all())),
        (torch.randperm(500), lambda t: torch.equal(t.sort().values, torch.arange(500))),
        (2 * torch.randperm(500)[:300] + 7, lambda t: t.unique().numel() == 300 and t.max() - t.min() < 1000),
        (torch.randperm(500).float(), lambda t: torch.equal(t.sort().values, torch.arange(500.0))),
        (torch.rand(40, 64).argsort(-1)[:, :6], lambda t: bool((t.sort(-1).values.diff() > 0).all()) and t.max() < 64),
        (torch.rand(64, 40).argsort(0)[:6], lambda t: bool((t.sort(0).values.diff(dim=0) > 0).all()) and t.min() >= 0),
        (torch.rand(30, 64).argsort(-1)[:, :8].sort(-1).values, lambda t: bool((t.diff() > 0).all())),
        (torch.randint(0, 9, (20, 30)).sort(-1).values, lambda t: bool((t.diff() >= 0).all())),
        (torch.cat([torch.randperm(400)[:99], torch.full((41,), -1)])[torch.randperm(140)], slots),
        (torch.tensor([0, 3, 3, 17]), lambda t: t.tolist() == [0, 3, 3, 17]),
        (torch.rand(4000) < 0.2, lambda t: 0.15 < t.double().mean() < 0.25),
        (torch.full((9,), 2.5), lambda t: torch.equal(t, torch.full((9,), 2.5))),
        (torch.randn(50).sign(), lambda t: set(t.tolist()) == {-1.0, 1.0}),
    ],
)
def test_values_are_of_the_same_kind(value, holds, monkeypatch):
    made = like(value, monkeypatch)
    assert holds(value), "the test itself"
    assert holds(made)


def test_everything_else_is_written_as_it_is(monkeypatch):
    value = [None, True, 3, -0.0, float("inf"), "a'b", torch.float16, (1,), [2, (3, 4)], {"k": 5}]
    assert like(value, monkeypatch) == value


# ---------------------------------------------------------------- code


def test_only_what_the_reference_needs_is_taken(tmp_path):
    (tmp_path / "helpers.py").write_text("import math\n\nHALF = math.pi / 2\n\n\ndef turned(x):\n    return x + HALF\n")
    file = tmp_path / "ref.py"
    file.write_text(
        "from __future__ import annotations\n\nimport os\n\nimport torch\n\nfrom helpers import turned as shift\n\nUNUSED = os.getpid()\n"
        "SCALE = 2\n\n\ndef unused():\n    return UNUSED\n\n\n@torch.no_grad()\ndef wave(x):\n    return torch.sin(shift(x)) * SCALE\n"
    )
    code = reference.code(str(file), ["wave"])
    assert "UNUSED" not in code
    assert "import os" not in code
    names = {}
    exec(code, names)
    torch.testing.assert_close(names["wave"](torch.zeros(3)), torch.full((3,), 2.0))
    with pytest.raises(reference.NotApart, match="defines no other"):
        reference.code(str(file), ["other"])


def test_source_with_quotes_is_quoted():
    for source in ('x = """a"""\n', "x = '''a'''\n", "x = 'a\\n'\\\n", "x = 'ä'\r\n", "'", ""):
        assert eval(script.quoted(source)) == source
