"""Task files: the samples verify, and what is wrong with a file is said with its line."""

import pytest
import torch
from oracle_process import SEED, TASKS

from kbx.messages import Failed
from kbx.messages import oracle as messages
from kbx.oracle import taskfile
from kbx.oracle.plan import plan
from kbx.suite import call, errors

GELU = TASKS / "Activation" / "gelu.py"


@pytest.mark.parametrize("path", ["Activation/gelu.py", "Optimizer/AdamW.py"])
def test_the_samples_hold_their_own_controls(oracle, path):
    verified = oracle.ask(messages.VerifyTask, task=str(TASKS / path), seed=SEED)
    assert [c for c in verified.controls if not c["ok"]] == []
    names = {c["name"] for c in verified.controls}
    assert {"reference", "zeros", "constant", "permuted", "corrupted_1pct", "lower_precision", "tail_missing"} <= names
    assert {"wrong_shape", "wrong_dtype"} <= names


def test_automatic_controls_fail_for_their_own_reasons(oracle):
    rows = {
        c["name"]: c for c in oracle.ask(messages.VerifyTask, task=str(TASKS / "Reduce/sum.py"), seed=SEED).controls
    }
    assert rows["wrong_shape"]["status"] == "wrong_shape"
    assert rows["wrong_dtype"]["status"] == "wrong_dtype"
    assert {rows[c]["status"] for c in ("zeros", "constant", "corrupted_1pct", "tail_missing")} == {"wrong_values"}


def test_controls_that_fail_are_reported(oracle, tmp_path):
    text = GELU.read_text().replace("scale=1.0", "scale=1e9")
    text += "\n\ndef positive_wrong(input, approximate='none'):\n    return input.double()\n"
    text += "\n\ndef negative_broken(input, approximate='none'):\n    raise KeyError('oops')\n"
    path = tmp_path / "gelu.py"
    path.write_text(text)
    rows = {c["name"]: c for c in oracle.ask(messages.VerifyTask, task=str(path), seed=SEED).controls}
    assert not rows["zeros"]["ok"]
    assert rows["zeros"]["status"] == "correct"
    assert rows["positive_wrong"]["status"] == "wrong_dtype"
    assert rows["negative_broken"]["status"] == "raised"
    assert "KeyError: 'oops'" in rows["negative_broken"]["detail"]
    assert rows["reference"]["ok"]


def test_byte_order_mark_is_skipped_only_at_the_start(oracle, tmp_path):
    path = tmp_path / "gelu.py"
    text = GELU.read_text()
    path.write_text("\ufeff" + text)
    assert isinstance(oracle.ask(messages.TraceShapes, task=str(path), timed=False), messages.ShapesTraced)
    path.write_text(text.replace("import torch", "\ufeffimport torch", 1))
    failed = oracle.ask(messages.TraceShapes, task=str(path), timed=False)
    assert "invalid non-printable character U+FEFF" in failed.message


def test_skipped_controls_have_a_reason(oracle, tmp_path):
    path = tmp_path / "gelu.py"
    path.write_text(GELU.read_text().replace("CONTRACT =", "SKIP_CONTROLS = {'permuted': 'order is free'}\nCONTRACT ="))
    rows = {c["name"]: c for c in oracle.ask(messages.VerifyTask, task=str(path), seed=SEED).controls}
    assert (rows["permuted"]["status"], rows["permuted"]["detail"]) == ("skipped", "skipped: order is free")


@pytest.mark.parametrize(
    ("old", "new", "complaint", "marked"),
    [
        ('"""Gaussian', 'x = """Gaussian', "the file must begin with the statement", "x ="),
        ("TAGS = (", "TAGS = (]", "not valid Python", "TAGS"),
        ("import torch\n", "import torch\nimport no_such_module\n", "No module named 'no_such_module'", "no_such_module"),
        ("DIFFICULTY = 4", "", "DIFFICULTY is missing", None),
        ("DIFFICULTY = 4", "DIFFICULTY = 'hard'", "DIFFICULTY must be an int, not a str", "DIFFICULTY"),
        ('DTYPE = "float32"', 'DTYPE = "float31"', "DTYPE is 'float31'", "DTYPE"),
        ("CASES = [", "CASES = []\nREST = [", "CASES has 0 entries, at least 5 are needed", "CASES"),
        ("SIZES = [", "SIZES = [{}]\nREST = [", "SIZES has 1 entries, at least 4 are needed", "SIZES"),
        ("SIZES = [", "WEIGHTS = [1]\nSIZES = [", "WEIGHTS has 1 entries, and there are 4 sizes", "WEIGHTS"),
        ("SIZES = [", "WEIGHTS = [1, 0]\nSIZES = [", "WEIGHTS must be a list of positive numbers", "WEIGHTS"),
        ("SIZES = [", "PRODUCTS = \"fp7\"\nSIZES = [", "PRODUCTS must be one of fp64, fp32, tf32, fp16, bf16, int8, fp8, fp4", "PRODUCTS"),
        ("dict(shape=(37,), ", "dict(shap=(37,), ", "CASES holds shap=(37,), approximate='tanh'", "CASES ="),
        ("dict(shape=(0,)),", "(0,),", "CASES must hold dicts, not (0,)", "CASES"),
        ("CONTRACT = Close(scale=1.0)", "CONTRACT = 1.0", "CONTRACT must be a Contract, not a float", "CONTRACT"),
        ("def gelu(", "def jelu(", "gelu is missing: the file must define a function", None),
        ("def inputs(", "def input_(", "inputs is missing", None),
        ("x = make.floats(*shape)", "x = make.floats(shape)", "raised TypeError", "make.floats"),
        ("return call(", "return str(call)  # (", "inputs() must return call(...), not ", "def inputs"),
        ("approximate=approximate)\n\n\ndef pos", "aproximate=1)\n\n\ndef pos", "does not fit gelu()", "def inputs"),
        ("return call(", "return call(object())  # (", "argument[0] is an object, which cannot be sent", "def inputs"),
        ("def negative_sigmoid(input,", "def negative_sigmoid(x,", "negative_sigmoid() takes (x, approximate)", "def neg"),
        ('TAGS = ("elementwise",)', 'TAGS = ()\nMUTATES = ("x",)', "MUTATES names 'x'", "MUTATES"),
        ('TAGS = ("elementwise",)', 'TAGS = ()\nDISTRIBUTIONS = ("odd",)', "DISTRIBUTIONS names 'odd'", "DISTRIBUTIONS"),
    ],
)  # fmt: skip
def test_an_invalid_file_is_explained(oracle, tmp_path, old, new, complaint, marked):
    text = GELU.read_text()
    assert old in text
    path = tmp_path / "gelu.py"
    path.write_text(text.replace(old, new, 1))
    failed = oracle.ask(messages.Open, task=str(path), seed=SEED)
    assert isinstance(failed, Failed), failed
    assert (failed.reason, failed.file) == ("invalid_task", str(path))
    assert complaint in failed.message
    if marked:
        assert marked in path.read_text().splitlines()[failed.line - 1]


def test_sizes_have_their_parts_of_the_time(oracle, tmp_path):
    path = tmp_path / "gelu.py"
    path.write_text(GELU.read_text().replace("SIZES = [", "WEIGHTS = [4, 2, 1, 1]\nSIZES = [", 1))
    opened = oracle.ask(messages.Open, task=str(path), seed=SEED)
    assert [size["weight"] for size in opened.sizes] == [0.5, 0.25, 0.125, 0.125]
    opened = oracle.ask(messages.Open, task=str(GELU), seed=SEED)
    assert [size["weight"] for size in opened.sizes] == [None] * 4


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("raise ValueError('no')", "the reference raised ValueError: no"),
        ("assert input.dtype == torch.float32; return input + 1", "the reference in float64 raised AssertionError"),
        ("return input.to(torch.float64)[: input.dtype.itemsize]", "returns other shapes in float64"),
    ],
)
def test_a_reference_that_fails_is_explained(oracle, tmp_path, body, complaint):
    path = tmp_path / "gelu.py"
    path.write_text(GELU.read_text().replace("    return F.gelu(input, approximate=approximate)", f"    {body}", 1))
    opened = oracle.ask(messages.Open, task=str(path), seed=SEED)
    index = next(c["index"] for c in opened.calls if "(1000,)" in c["case"])
    failed = oracle.ask(messages.Prepare, call=index)
    assert failed.reason == "invalid_task"
    assert complaint in failed.message
    assert (
        "gelu" in path.read_text().splitlines()[failed.line - 1]
        or body in path.read_text().splitlines()[failed.line - 1]
    )
    oracle.ask(messages.Close)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("torch.AcceleratorError('CUDA error: out of memory\\nSearch for')", "memory"),
        ("RuntimeError('CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`')", "memory"),
        ("RuntimeError('cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED')", "memory"),
        ("RuntimeError('cuFFT error: CUFFT_ALLOC_FAILED')", "memory"),
        ("torch.AcceleratorError('CUDA error: an illegal memory access was encountered')", "internal"),
        ("RuntimeError('CUDA error: unspecified launch failure')", "internal"),
        ("RuntimeError('CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`')", "internal"),
        ("RuntimeError('CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmul`')", "invalid_task"),
        ("RuntimeError('mat1 and mat2 shapes cannot be multiplied')", "invalid_task"),
    ],
)
def test_a_full_or_broken_device_is_not_the_task_s_fault(oracle, tmp_path, error, reason):
    path = tmp_path / "gelu.py"
    path.write_text(
        GELU.read_text().replace("    return F.gelu(input, approximate=approximate)", f"    raise {error}", 1)
    )
    oracle.ask(messages.Open, task=str(path), seed=SEED)
    failed = oracle.ask(messages.Prepare, call=0)
    assert isinstance(failed, Failed)
    assert failed.reason == reason, failed
    oracle.ask(messages.Close)


def test_a_missing_file_is_named(oracle):
    failed = oracle.ask(messages.Open, task="/nowhere/gelu.py", seed=SEED)
    assert (failed.reason, failed.message) == ("invalid_task", "cannot read the task file: No such file or directory")


def test_a_changed_file_is_loaded_again(oracle, tmp_path):
    path = tmp_path / "gelu.py"
    path.write_text(GELU.read_text())
    assert oracle.ask(messages.Open, task=str(path), seed=SEED).entries[0] == "gelu"
    path.write_text(GELU.read_text().replace("DIFFICULTY = 4", 'DIFFICULTY = 4\nENTRY = "inputs"'))
    assert oracle.ask(messages.Open, task=str(path), seed=SEED).reason == "invalid_task"


RANDOM = '''"""Dropout."""

import torch
import torch.nn.functional as F

from kbx.suite import Random, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ()
SKIP_CONTROLS = {"tail_missing": "dropped elements are zero"}
CASES = [dict(n=n) for n in (500, 501, 777, 1000, 1001)]
SIZES = [dict(n=n) for n in (1, 2, 3, 4)]


def check(args, kwargs, results, expected):
    complaints = []
    for y in results:
        kept = y != 0
        if abs(kept.float().mean().item() - 0.5) > 0.2:
            complaints.append("the keep rate is wrong")
        if not torch.allclose(y[kept], 2 * args[0][kept]):
            complaints.append("the scale is wrong")
    if len(results) > 1 and torch.equal(*results):
        complaints.append("equal masks")
    return complaints


CONTRACT = Random(check)


def dropout(x):
    return F.dropout(x, 0.5)


def inputs(make, n):
    return call(make.plain(n, low=1.0, high=2.0))


def positive_by_hand(x):
    return torch.where(torch.rand_like(x) < 0.5, 2 * x, 0)


def negative_frozen(x):
    torch.manual_seed(0)
    return F.dropout(x, 0.5)
'''


def test_random_operations_are_drawn_several_times(oracle, tmp_path):
    path = tmp_path / "dropout.py"
    path.write_text(RANDOM)
    verified = oracle.ask(messages.VerifyTask, task=str(path), seed=SEED)
    assert [c for c in verified.controls if not c["ok"]] == []
    opened, runner = oracle.open(path, 70_000)
    assert [c.get("repeats") for c in opened.calls[:4]] == [None, 0, None, 2]
    fresh = lambda x: torch.nn.functional.dropout(x, 0.5)  # noqa: E731
    assert [runner.judge(i, fresh).status for i in (0, 1, 2, 3)] == ["correct"] * 4
    length = opened.calls[4]["case"].removeprefix("n=")
    frozen = fresh(torch.ones(int(length)))
    checked = [runner.judge(i, lambda x: frozen * x) for i in (4, 5)]
    assert [c.status for c in checked] == ["correct", "wrong_values"]
    assert checked[1].message == "equal masks"
    oracle.ask(messages.Close)


IN_PLACE = '''"""Adds to `output`, and returns what was there."""

from kbx.suite import Close, call

DIFFICULTY = 1
DTYPE = "float32"
TAGS = ()
MUTATES = ("output",)
CONTRACT = Close()
CASES = [dict(n=n) for n in (1, 37, 777, 1000, 1001)]
SIZES = [dict(n=n) for n in (1, 2, 3, 4)]


def accumulate(output, x):
    before = output.clone()
    output.add_(x)
    return before


def inputs(make, n):
    return call(make.floats(n), make.floats(n))


def negative_lazy(output, x):
    return output.clone()
'''


def test_an_updated_argument_may_be_called_output(oracle, tmp_path):
    path = tmp_path / "accumulate.py"
    path.write_text(IN_PLACE)
    verified = oracle.ask(messages.VerifyTask, task=str(path), seed=SEED)
    assert isinstance(verified, messages.TaskVerified), verified
    assert [c for c in verified.controls if not c["ok"]] == []
    opened, runner = oracle.open(path, 70_001)
    index = next(c["index"] for c in opened.calls if "n=37" in c["case"])
    assert runner.judge(index, lambda output, x: (output.clone(), output.add_(x))[0]).status == "correct"
    wrong = runner.judge(index, lambda output, x: output.clone())
    assert (wrong.status, wrong.mismatches[0]["output"]) == ("wrong_values", "argument output")
    oracle.ask(messages.Close)


def test_every_second_call_omits_default_arguments():
    task = taskfile.load(str(GELU))
    made = call(torch.ones(2), approximate="none")
    assert task.spoken(made, 0).kwargs == {"approximate": "none"}
    assert task.spoken(made, 1).kwargs == {}
    assert task.spoken(call(torch.ones(2), approximate="tanh"), 1).kwargs == {"approximate": "tanh"}


def test_a_control_with_a_wrong_default_is_found(oracle, tmp_path):
    text = (
        GELU.read_text() + "\n\ndef negative_default(input, approximate='tanh'):\n    return gelu(input, approximate)\n"
    )
    path = tmp_path / "gelu.py"
    path.write_text(text)
    rows = {c["name"]: c for c in oracle.ask(messages.VerifyTask, task=str(path), seed=SEED).controls}
    assert rows["negative_default"]["status"] == "wrong_values"


OWN_TASK = """\"\"\"Statement.\"\"\"
import torch
from kbx.suite import Close, noted

ENTRY, DIFFICULTY, DTYPE, TAGS = "f", 1, "float32", ("own",)
MUTATES = ("out",)
DISTRIBUTIONS = ("standard", "large")
CASES = [dict(number=0), dict(number=0, variation="non_contiguous"), dict(number=0, variation="special_values")]
SIZES = [dict(number=0)]
CONTRACT = Close(growth=8)


def f(x, out):
    torch.amax(x, 1, out=out)


def inputs(make, number=0, variation=None):
    return noted(make, "f32[64, 128], f32[64]", variation)
"""


def test_special_values_decide_nothing_in_a_task_file_of_an_own_reference(tmp_path):
    path = tmp_path / "f.py"
    path.write_text(OWN_TASK)
    calls = plan(taskfile.load(str(path)), "ab")
    assert {call.special for call in calls if call.parameters.get("variation") == "special_values"} == {True}
    assert {call.properties for call in calls if call.parameters.get("variation") != "special_values"} == {frozenset()}


@pytest.mark.parametrize("returned", ["", "    return x.sum()\n"])
def test_shape_and_dtype_are_controls_of_what_is_returned(returned, oracle, tmp_path):
    """An argument that is updated keeps both."""
    path = tmp_path / "f.py"
    path.write_text(OWN_TASK.replace("out=out)\n", f"out=out)\n{returned}"))
    verified = oracle.ask(messages.VerifyTask, task=str(path), seed=SEED)
    assert [control for control in verified.controls if not control["ok"]] == []
    names = {control["name"] for control in verified.controls}
    assert {"zeros", "constant", "permuted", "corrupted_1pct", "lower_precision"} <= names
    assert ({"wrong_shape", "wrong_dtype"} <= names) == bool(returned)


def test_nothing_that_is_returned_counts_as_no_element():
    right = torch.zeros(64)
    wrong = errors.exact_plain("output", None, None)
    wrong.join(errors.exact("out", right + 1, right))
    assert wrong.complaints == ["64 wrong elements of 64, first out[0]: expected 0, got 1"]
    one = errors.exact_plain("output", 3, 3)
    one.join(errors.exact("out", right + 1, right))
    assert one.complaints[0].startswith("64 wrong elements of 65")
