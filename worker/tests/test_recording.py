"""Imported tasks: the calls of an original file's tests, judged by the original's rules."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
import torch
from oracle_process import SEED, WORKER

from kbx.messages import oracle as messages
from kbx.oracle.on_cpu import on_cpu
from kbx.suite import call
from kbx.suite.original import OriginalRules

ORIGINALS = WORKER.parent / "java" / "tests" / "src" / "test" / "resources" / "original" / "data" / "kernelbenchx"
THRESHOLDS = {"cosine_sim": 0.95, "l1_relative": 0.05, "rmse": 0.1}


@pytest.fixture
def imported(tmp_path):
    """Writes the task file of an original, as ``kbx tasks import`` does; returns its path."""

    def write(path, entry=None, thresholds=None):
        file = ORIGINALS / path
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        task = tmp_path / file.name
        task.write_text(
            f'"""Statement."""\n\nfrom kbx.suite.original import Original\n\nENTRY = {entry or file.stem!r}\n'
            f"ORIGINAL = Original(\n    file={json.dumps(str(file))},\n    sha256={digest!r},\n"
            f"    thresholds={thresholds},\n)\n\n\ndef {entry or file.stem}(x, y=undefined): ...\n"
        )
        return task

    return write


def judged(oracle, task, entry):
    """The statuses of an entry's answers, in the order of the calls."""
    opened, runner = oracle.open(task, 90_000)
    statuses = [runner.judge(c["index"], entry).status for c in opened.calls]
    oracle.ask(messages.Close)
    return opened, statuses


def halve(input, rounding=float("inf")):
    return torch.clamp(input / 2, max=rounding)


def test_the_calls_of_the_tests_are_the_cases(oracle, imported):
    opened, statuses = judged(oracle, imported("Math/halve.py"), halve)
    assert opened.entries == ["halve", "kernel_function"]
    assert opened.sizes == []
    assert [c["case"] for c in opened.calls[:6]] == [f"call={i}" for i in range(6)]
    assert [c.get("repeats") for c in opened.calls] == [None] * 6 + [1, 2, 2, 1]
    assert {c["distribution"] for c in opened.calls} == {"recorded"}
    assert set(statuses) == {"correct"}
    _, wrong = judged(oracle, imported("Math/halve.py"), lambda input, rounding=0: input / 2 + 1e-3)
    assert wrong[:3] == ["wrong_values"] * 3
    assert wrong[3] == "correct"  # float16 may be 5e-3 away
    _, wrong = judged(oracle, imported("Math/halve.py"), lambda input, rounding=0: (input / 2).double())
    assert set(wrong) == {"wrong_dtype"}


def test_arguments_are_those_that_seed_0_draws(oracle, imported):
    opened, runner = oracle.open(imported("Math/halve.py"), 90_001)
    seen = []
    for index in (1, 2, 5):
        runner.judge(index, lambda input: seen.append(input.clone()) or input / 2)
    torch.manual_seed(0)
    first = torch.randn(33, 65)
    assert torch.equal(seen[0], first)
    assert not torch.equal(seen[1], first)
    assert seen[2].stride() == (1, 7)
    oracle.ask(messages.Close)


def test_random_calls_are_left_out_and_counted(oracle, imported):
    task = imported("Fusion/drop_add.py")
    opened, statuses = judged(oracle, task, lambda x, y, p=0.5, *, out=None: x + y)
    assert [c["case"] for c in opened.calls] == ["call=1", "call=2", "call=1", "call=2", "call=2", "call=1"]
    assert set(statuses) == {"correct"}  # the tests use what is returned, so out= need not be filled
    rows = {c["name"]: c for c in oracle.ask(messages.VerifyTask, task=str(task), seed=SEED).controls}
    assert rows["left_out"]["detail"] == "1 of 3 calls are not judged: random (1)"
    assert rows["reference"]["ok"]


FEW = """
import torch


def few(x, bound):
    return x if torch.rand(()) < bound else -x


def unused(x):
    weight = torch.nn.Linear(3, 3).weight.detach()
    return weight.copy_(x)

SEPARATOR

test_results = ENTRY
"""


def test_few_distinct_outcomes_are_random(oracle, imported, tmp_path):
    """Four seeds in a row agree in 41 % of cases where four draws in five do."""
    path = tmp_path / "originals" / "few.py"
    path.parent.mkdir()
    text = FEW.replace("SEPARATOR", "#" * 146)
    path.write_text(text.replace("ENTRY", "few(torch.ones(4), 0.8)"))
    failed = oracle.ask(messages.Open, task=str(imported(path)), seed=SEED)
    assert failed.message == "no call of its tests can be judged in another process: random (1)"
    unused = path.with_name("unused.py")
    unused.write_text(text.replace("ENTRY", "unused(torch.eye(3))"))
    assert set(judged(oracle, imported(unused), torch.clone)[1]) == {"correct"}


def test_an_update_counts_where_the_tests_look_at_it(oracle, imported):
    task = imported("Optimizer/Descent.py", entry="descent_step")
    _, statuses = judged(oracle, task, lambda param, grad, lr=0.1: param - lr * grad)
    assert set(statuses) == {"correct"}
    _, statuses = judged(oracle, task, lambda param, grad, lr=0.1: param.sub_(lr * grad))
    assert set(statuses) == {"correct"}
    _, statuses = judged(oracle, task, lambda param, grad, lr=0.1: (param - lr * grad, grad.zero_())[0])
    assert set(statuses) == {"input_mutated"}
    task = imported("Optimizer/accumulate.py")
    _, statuses = judged(oracle, task, lambda total, x: [total.add_(x), None][1])
    assert set(statuses) == {"correct"}
    _, statuses = judged(oracle, task, lambda total, x: None)
    assert set(statuses) == {"wrong_values"}
    controls = oracle.ask(messages.VerifyTask, task=str(task), seed=SEED).controls
    assert [c for c in controls if not c["ok"]] == []


def test_thresholds_are_the_original_s(oracle, imported):
    task = imported("Quantization/product.py", thresholds=THRESHOLDS)
    assert set(judged(oracle, task, lambda a, b: a @ b + 0.05)[1]) == {"correct"}
    opened, runner = oracle.open(task, 90_002)
    checked = runner.judge(0, lambda a, b: -(a @ b))
    assert checked.status == "wrong_values"
    assert checked.message.startswith("output: cosine -1 < 0.95, relative L1 2 > 0.05, RMSE ")
    oracle.ask(messages.Close)


@pytest.mark.parametrize(
    ("got", "want", "complaint"),
    [
        ([0.0, -0.0], [0.0, 0.0], None),
        ([], [], None),
        ([1e-3, 0.0], [0.0, 0.0], "output: cosine 0 < 0.95, relative L1 1e+09 > 0.05"),
        ([0.0, 0.0], [1e-3, 0.0], "output: cosine 0 < 0.95, relative L1 1 > 0.05"),
        ([float("nan"), 0.0], [0.0, 0.0], "output: cosine nan < 0.95, relative L1 nan > 0.05, RMSE nan > 0.1"),
    ],
)
def test_zeros_are_like_zeros_alone(got, want, complaint):
    outcome = OriginalRules(THRESHOLDS).compare(call(), [torch.tensor(got)], torch.tensor(want), None)
    assert outcome.complaints == ([complaint] if complaint else [])
    if outcome.right:
        assert outcome.metrics == {"l1_relative": 0, "rmse": 0, "cosine_distance": 0}


def test_controls_show_what_the_thresholds_accept(oracle, imported):
    task = imported("Quantization/product.py", thresholds=THRESHOLDS)
    rows = {c["name"]: c for c in oracle.ask(messages.VerifyTask, task=str(task), seed=SEED).controls}
    assert rows["reference"]["ok"]
    assert (rows["lower_precision"]["ok"], rows["lower_precision"]["status"]) == (False, "correct")
    assert rows["zeros"]["ok"]


@pytest.mark.parametrize(
    ("name", "complaint", "line"),
    [
        ("syntax", "not valid Python: invalid syntax", 2),
        ("undivided", "no line of 146 # divides reference and tests", None),
        ("misnamed", "defines no function misnamed above the separator", 8),
        ("uncalled", "the tests never call uncalled()", 4),
        ("unfinished", "the tests leave no test_results", 4),
        ("raising", "the tests raised ValueError: no such data", 7),
        ("noise", "no call of its tests can be judged in another process: random (2)", 4),
        (
            "dependent",
            "needs the module 'no_such_package', which is neither beside the file nor installed in this Python",
            1,
        ),
        ("unpassable", "no call of its tests can be judged in another process: layer is a Linear (1)", 4),
        ("leaving", "the tests raised SystemExit: 3", 8),
    ],
)
def test_an_unusable_file_is_explained(oracle, imported, name, complaint, line):
    failed = oracle.ask(messages.Open, task=str(imported(f"Broken/{name}.py")), seed=SEED)
    assert (failed.reason, failed.message, failed.line) == ("invalid_task", complaint, line)
    assert failed.file == str(ORIGINALS / f"Broken/{name}.py")


def test_an_original_that_changed_or_went_is_no_longer_used(oracle, imported, tmp_path):
    copy = tmp_path / "copy" / "halve.py"
    copy.parent.mkdir()
    copy.write_text((ORIGINALS / "Fusion/drop_add.py").read_text())
    task = imported("Fusion/drop_add.py", entry="drop_add")
    task.write_text(task.read_text().replace(str(ORIGINALS / "Fusion/drop_add.py"), str(copy)))
    assert isinstance(oracle.ask(messages.Open, task=str(task), seed=SEED), messages.Opened)
    copy.write_text(copy.read_text() + "\n")
    assert "has changed since it was imported" in oracle.ask(messages.Open, task=str(task), seed=SEED).message
    copy.unlink()
    failed = oracle.ask(messages.Open, task=str(task), seed=SEED)
    assert failed.message.startswith("the original file cannot be read (No such file or directory)")


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 3e38])
def test_a_result_that_is_not_finite_is_wrong_by_thresholds_too(oracle, imported, value):
    task = imported("Quantization/product.py", thresholds=THRESHOLDS)
    _, statuses = judged(oracle, task, lambda a, b: (a @ b).fill_(value))
    assert set(statuses) == {"wrong_values"}


def test_constant_tolerances_by_dtype():
    def right(got, want):
        return OriginalRules().compare(call(), [got], want, None).right

    one = torch.ones(3)
    assert right(one + 1.5e-5, one)
    assert not right(one + 5e-5, one)
    assert right((one + 8e-3).half(), one.half())
    assert not right(one + 1e-5j, one + 0j)  # complex: equal or wrong
    assert not right(torch.tensor([1, 2]), torch.tensor([1, 3]))
    assert right([one * float("nan"), 1.0], [one * float("nan"), 1])
    outcome = OriginalRules().compare(call(), [one + torch.tensor([0, 1.0, 0])], one, None)
    assert outcome.complaints == ["1 wrong element of 3, first output[1]: expected 1, got 2 (50000x the allowed error)"]
    assert outcome.metrics["max_abs"] == 1


def test_cuda_means_the_cpu_only_inside():
    with on_cpu():
        torch.cuda.manual_seed(3)
        x = torch.randn(4, device="cuda", generator=torch.Generator("cuda").manual_seed(1)).cuda().to("cuda:0")
        y = torch.zeros(2, device=torch.device("cuda")).to(torch.device("cuda"), torch.float16, non_blocking=True)
        with torch.device("cuda"):
            z = torch.ones(2)
        torch.cuda.synchronize()
        with torch.autocast("cuda"):
            product = torch.ones(2, 2, device="cuda") @ torch.ones(2, 2, device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            narrow = torch.ones(2, 2, device="cuda") @ torch.ones(2, 2, device="cuda")
        with torch.cuda.amp.autocast(False):
            plain = torch.ones(2, 2, device="cuda") @ torch.ones(2, 2, device="cuda")
    assert {t.device.type for t in (x, y, z)} == {"cpu"}
    assert (y.dtype, product.dtype) == (torch.float16, torch.float16)
    assert (narrow.dtype, plain.dtype) == (torch.bfloat16, torch.float32)
    if not torch.cuda.is_available():
        with pytest.raises((RuntimeError, AssertionError)):
            torch.zeros(2, device="cuda")


OPTIMIZED = """
import torch
START
layer = torch.nn.Linear(3, 2, device="cuda")
before = layer.weight.clone()
optimizer = torch.optim.Adam(layer.parameters(), lr=0.5)
layer(torch.ones(1, 3, device="cuda")).sum().backward()
optimizer.step()
assert torch.allclose(before - layer.weight, torch.full((2, 3), 0.5))
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "start",
    [
        "from kbx.oracle.on_cpu import on_cpu; there = on_cpu(); there.__enter__()",
        "from kbx.runner import cuda_on_cpu; cuda_on_cpu.install('sm_90')",
    ],
    ids=["oracle", "runner"],
)
def test_optimizers_step_where_cuda_means_the_cpu(start):
    """In a process of its own: what an optimizer needs of torch._dynamo is made when that is first imported."""
    environment = {**os.environ, "PYTHONPATH": str(WORKER)}
    command = [sys.executable, "-c", OPTIMIZED.replace("START", start)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_an_original_may_use_an_optimizer(oracle, imported):
    task = imported("Optimizer/adam_step.py")
    _, statuses = judged(oracle, task, lambda param, grad, lr=0.1: param - lr * grad.sign())
    assert set(statuses) == {"correct"}
    _, statuses = judged(oracle, task, lambda param, grad, lr=0.1: param - lr * grad)
    assert set(statuses) == {"wrong_values"}


def test_recording_restores_global_state(oracle, imported):
    before = list(sys.path)
    from kbx.oracle import taskfile

    task = taskfile.load(str(imported("Math/halve.py")))
    assert task.name == "halve"
    assert sys.path == before
    assert "draws" not in sys.modules
    assert not list(ORIGINALS.parent.parent.rglob("__pycache__"))
