"""Imported modules: a file of the original KernelBench, judged by kbx's error model on what its get_inputs() draws."""

import hashlib
import inspect
import json
import re

import numpy as np
import pytest
import torch
from oracle_process import WORKER

from kbx.messages import oracle as messages
from kbx.oracle import controls, namesakes, taskfile, truth
from kbx.oracle.task import InvalidTask, TooLarge
from kbx.suite import Close, Exact

ORIGINALS = WORKER.parent / "java" / "tests" / "src" / "test" / "resources" / "original-kernelbench" / "KernelBench"

RECURRENT = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.cell = nn.Linear(2 * size, size)
        self.out = nn.Linear(size, size)
        self.norm = nn.BatchNorm1d(size)
        self.calls = 0
        STATE

    def forward(self, x):
        STEP


def get_inputs():
    return [torch.rand(7, 33)]


def get_init_inputs():
    return [33]
"""


@pytest.fixture
def imported(tmp_path):
    """Writes the task file of an original, as ``kbx tasks import`` does; returns its path."""

    def write(path):
        file = ORIGINALS / path  # which is the path where it is an absolute one
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        task = tmp_path / file.name
        task.write_text(
            f'"""Statement."""\n\nfrom kbx.suite.original import OriginalModel\n\n'
            f"ORIGINAL = OriginalModel(\n    file={json.dumps(str(file))},\n    sha256={digest!r},\n)\n\n\n"
            "class Model:\n    def __init__(self, size=undefined): ...\n    def forward(self, x): ...\n"
        )
        return str(task)

    return write


def values(task, seed):
    return task.call(task.cases[0], task.distributions[0], seed).args


def test_each_call_draws_original_values_under_its_own_seed(imported):
    task = taskfile.load(imported("level1/2_Halve.py"))
    state = torch.get_rng_state()
    (one,), (same,), (other,) = (values(task, seed) for seed in ("a/0", "a/0", "a/1"))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert one.shape == (5, 301)
    assert one.min() >= 1 and one.max() <= 9 and one.mean() == pytest.approx(5, abs=0.5)
    assert torch.equal(torch.get_rng_state(), state)
    places, count = values(taskfile.load(imported("level1/3_Lookup.py")), "a/0")
    assert (places.dtype, places.device.type, count) == (torch.int64, "cpu", 3)


def test_candidates_are_judged_by_the_error_model(oracle, imported):
    opened, runner = oracle.open(imported("level1/2_Halve.py"), 91_000)
    assert opened.entries == ["ModelNew"]
    assert opened.module["init"] == [{"t": "float", "v": (2.0).hex()}]
    calls = [call for call in opened.calls if not call["properties"]]
    assert [c.get("repeats") for c in calls] == [None] * 5 + [0, 0]
    assert {c["distribution"] for c in opened.calls} == {"get_inputs()"}
    assert not opened.scaled
    assert {runner.judge(c["index"], lambda x: x / 2 + 2).status for c in calls} == {"correct"}
    assert runner.judge(0, lambda x: x / 2 + 2.001).status == "wrong_values"
    oracle.ask(messages.Close)


@pytest.mark.parametrize(
    "path", ["level1/2_Halve.py", "level1/3_Lookup.py", "level2/4_Linear_Shift.py", "level3/3_Perceptron.py"]
)
def test_controls_hold(imported, path):
    task = taskfile.load(imported(path))
    assert [row for row in controls.verify(task, "5eed", "cpu") if not row["ok"]] == []


def test_reference_that_fails_in_float64_is_judged_in_float32(imported):
    """Its shift is no buffer and stays float32."""
    task = taskfile.load(imported("level2/4_Linear_Shift.py")).seeded("5eed")
    known = truth.know(task, task.call(task.cases[0], "", "a/0"), "5eed")
    assert known.truth is known.expected
    assert known.truth.dtype == torch.float32
    right = taskfile.load(imported("level1/2_Halve.py")).seeded("5eed")
    assert truth.know(right, right.call(right.cases[0], "", "a/0"), "5eed").truth.dtype == torch.float64


def test_published_sizes_need_a_gpu_and_are_never_made_without_one(imported):
    path = imported("level1/1_Square_matrix_product_.py")
    task = taskfile.load(path)
    with pytest.raises(
        TooLarge, match=r"published sizes only, and these \(128 MiB at once, 137 GFLOP a call\) need a GPU"
    ):
        task.check_room()
    for device in ("cuda", "cuda:0"):  # where there may be none
        there = taskfile.load(path, device)
        there.check_room()
        assert (there.device, len(there.sizes)) == (device, 1)
    taskfile.load(imported("level3/3_Perceptron.py")).check_room()


@pytest.mark.parametrize(
    "path, line, message",
    [
        ("level2/5_Dropout.py", 10, r"forward\(\) draws random numbers \(aten.bernoulli_.float\)"),
        ("level2/6_Misfit.py", 11, r"forward\(\) raised RuntimeError: .*"),
        ("level2/7_Unfinished.py", None, r"defines no function get_inputs\(\)"),
        ("level2/12_Broken.py", 3, "not valid Python: .*"),
        (
            "level3/1_Foreign.py",
            2,
            "needs the module 'no_such_package', which is neither beside the file nor installed in this Python",
        ),
        (
            "level3/2_Odd_arguments.py",
            18,
            r"get_init_inputs\(\)\[0\] is a Linear, which cannot be sent to another process",
        ),
    ],
)
def test_unusable_original_has_reason_and_line(imported, path, line, message):
    with pytest.raises(InvalidTask) as caught:
        taskfile.load(imported(path))
    assert re.match(message, caught.value.message), caught.value.message
    assert (caught.value.file, caught.value.line) == (str(ORIGINALS / path), line)


@pytest.fixture
def recurrent(tmp_path, imported):
    """The path of an imported module with this state and these lines of ``forward``."""

    def write(state, *step):
        text = RECURRENT.replace("STATE", state).replace("STEP", "\n        ".join(step))
        (tmp_path / "originals").mkdir()
        original = tmp_path / "originals" / "3_Recurrent.py"
        original.write_text(text)
        return imported(original)

    return write


DROPPING = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p, self.part = p, PART

    def forward(self, x):
        return STEP


def get_inputs():
    return [torch.rand(2, 6, 16)]


def get_init_inputs():
    return [P]
"""

PARTS = {
    "dropout": ("nn.Dropout(p)", "self.part(x)"),
    "attention": ("None", "F.scaled_dot_product_attention(x[None], x[None], x[None], dropout_p=self.p)"),
    "transformer": ("nn.TransformerEncoderLayer(16, 2, 32, dropout=p, batch_first=True)", "self.part(x)"),
    "lstm": ("nn.LSTM(16, 16, 2, dropout=p, batch_first=True)", "self.part(x)[0]"),
    "rrelu": ("None", "F.rrelu(x - 0.5, training=self.p > 0)"),
    "shape of values": ("nn.Dropout(p)", "self.part(x)[x > 0.5]"),
}


@pytest.fixture(params=PARTS)
def dropping(request, original):
    part, step = PARTS[request.param]
    return lambda p: original(
        "level1", "1_Dropping", DROPPING.replace("PART", part).replace("STEP", step).replace("P]", f"{p}]")
    )


def test_operations_that_draw_nothing_are_accepted(dropping):
    task = taskfile.load(dropping(0.0)).seeded("5eed")
    truth.know(task, task.call(task.cases[0], "", "a/0"), "5eed")


def test_real_draws_are_refused_with_the_operation(dropping):
    """Where shapes depend on values, before the first call that is judged."""
    with pytest.raises(InvalidTask) as caught:
        task = taskfile.load(dropping(0.5)).seeded("5eed")
        truth.know(task, task.call(task.cases[0], "", "a/0"), "5eed")
    assert re.fullmatch(
        r"forward\(\) draws random numbers \(aten\.(bernoulli_|rrelu_with_noise)\.\w+\),"
        " which another process cannot repeat",
        caught.value.message,
    )


STEP = "hidden = torch.tanh(self.cell(torch.cat([x, self.hidden], dim=1)))"


@pytest.mark.parametrize(
    ("state", "step"),
    [
        ("self.hidden = torch.zeros(7, size)", ["self.hidden = hidden"]),
        ("self.hidden = torch.zeros(7, size)", ["self.hidden.copy_(hidden)"]),
        ("self.register_buffer('hidden', torch.zeros(7, size))", ["self.hidden = hidden"]),
    ],
)
def test_module_with_state_between_calls_is_refused(recurrent, state, step):
    with pytest.raises(InvalidTask) as caught:
        taskfile.load(recurrent(state, STEP, *step, "return self.out(self.norm(hidden))"))
    assert caught.value.message == (
        "forward() keeps state between calls (self.hidden): the same inputs give another result the second time"
    )
    assert caught.value.file.endswith("/3_Recurrent.py") and caught.value.line == 15


NEXT = "torch.tanh(self.cell(torch.cat([x, hidden], dim=1)))"


@pytest.mark.parametrize(
    ("state", "step"),
    [
        ("self.kept = [torch.zeros(7, size)]", ["hidden = self.kept.pop()", f"self.kept.append({NEXT})"]),
        ("self.kept = None", ["hidden = x if self.kept is None else self.kept", f"self.kept = {NEXT}"]),
        ("self.kept = type('Kept', (), {})()", ["hidden = getattr(self.kept, 'h', x) * 0.5", "self.kept.h = hidden"]),
    ],
    ids=["list", "nothing yet", "another object"],
)
def test_state_is_found_wherever_a_module_keeps_it(recurrent, state, step):
    """What shapes alone do not show, before the first call that is judged."""
    path = recurrent(state, *step, "return self.out(hidden)")
    with pytest.raises(InvalidTask, match="the same inputs give another result the second time"):
        task = taskfile.load(path).seeded("5eed")
        truth.know(task, task.call(task.cases[0], "", "a/0"), "5eed")


def test_state_that_does_not_affect_results_is_allowed(recurrent):
    step = ["self.calls += 1", "self.last = x", "if self.mask is None:", "    self.mask = torch.ones_like(x)"]
    task = taskfile.load(recurrent("self.mask = None", *step, "return self.norm(self.out(x * self.mask))"))
    bound = task.seeded("5eed")
    for turn in range(2):
        known = truth.know(bound, task.call(task.cases[0], "", f"a/{turn}"), "5eed")
        assert torch.allclose(known.expected.double(), known.truth, atol=1e-5)
    assert [row for row in controls.verify(task, "5eed", "cpu") if not row["ok"]] == []


SCAN = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.cumsum(x, dim=self.dim)


def get_inputs():
    return [torch.rand(16, 32768)]


def get_init_inputs():
    return [1]
"""


@pytest.fixture
def original(tmp_path, imported):
    """The path of an imported file of this level, name and text."""

    def write(level, name, text):
        folder = tmp_path / "originals" / level
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(text)
        return imported(folder / f"{name}.py")

    return write


@pytest.mark.parametrize("name", ["89_cumsum", "101_Of_somebodys_own"])
def test_sequential_sums_are_accepted(oracle, original, name):
    def in_order(x):
        sums = np.empty_like(x.numpy())
        total = np.zeros(len(sums), np.float32)
        for place, column in enumerate(x.numpy().T):
            total = total + column
            sums[:, place] = total
        return torch.from_numpy(sums)

    path = original("level1", name, SCAN)
    _, runner = oracle.open(path, 91_001)
    assert {runner.judge(index, in_order).status for index in range(3)} == {"correct"}
    assert runner.judge(3, lambda x: torch.cumsum(x, 1) * 1.0001).status == "wrong_values"
    oracle.ask(messages.Close)


@pytest.mark.parametrize(
    ("level", "name", "parameters", "growth", "scale"),
    [
        ("level1", "89_cumsum", "x", 8, None),
        ("level2", "89_cumsum", "x", 8, None),
        ("level1", "1_Square_matrix_multiplication_", "A, B", 4, None),
        ("level2", "47_Conv3d_Mish_Tanh", "input", 1, 8.0),
        ("level1", "4_Matrix_vector_multiplication_", "A, B", 4, "magnitude"),
        ("level1", "4_Matrix_vector_multiplication_", "matrix, vector", 8, None),
        ("level2", "66_Matmul_Dropout_Softmax", "x", 8, None),
    ],
)
def test_contracts_are_those_of_the_bundled_tasks_as_far_as_they_fit(level, name, parameters, growth, scale):
    contract = contract_of(f"/somewhere/{level}/{name}.py", parameters)
    assert contract.growth == growth
    assert getattr(contract.scale, "__name__", contract.scale) == scale


def test_contracts_of_other_kinds_are_used():
    relu = contract_of("/somewhere/level1/19_ReLU.py", "anything")
    assert isinstance(relu, Exact)
    mamba = taskfile.load(namesakes.BUNDLED / "level3" / "48_Mamba2ReturnY.py")
    same = ", ".join(list(inspect.signature(mamba.model.forward).parameters)[1:])
    path = "/somewhere/level3/48_Mamba2ReturnY.py"
    assert type(contract_of(path, same)) is type(mamba.contract)
    assert contract_of(path, "other") == Close(growth=8)


def contract_of(path, parameters):
    """The contract of an original file at ``path`` whose ``forward`` has these parameters."""
    names = {}
    exec(f"class Model:\n    def forward(self, {parameters}): ...", names)
    bundled = namesakes.file(path)
    return namesakes.contract(bundled and taskfile.load(bundled), names["Model"])
