"""Calls of modules beyond the published ones."""

import hashlib
import json
import textwrap

import pytest
import torch
from oracle_process import WORKER

from kbx.messages import oracle as messages
from kbx.oracle import models, module_variations, taskfile
from kbx.oracle.plan import plan
from kbx.runner import module

TASKS = WORKER.parent / "tasks" / "kernelbench"

ORIGINAL = """
import torch
from torch import nn

batch_size = 12


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.randn(batch_size, 8)]


def get_init_inputs():
    return []
"""


def properties(task):
    return [each.property for each in module_variations.of(task)]


def of(name):
    return taskfile.load(str(TASKS / name))


@pytest.fixture
def own(tmp_path):
    """Writes a reference of the user's with its task file, as ``kbx eval --reference`` does; returns the task."""

    def load(source, kind="OwnModel"):
        file = tmp_path / "reference.py"
        file.write_text(source)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        task = tmp_path / f"{hashlib.sha256(source.encode()).hexdigest()[:8]}.py"
        task.write_text(
            f'"""Statement."""\n\nfrom kbx.suite.original import {kind}\n\nENTRY = "ModelNew"\n'
            f"ORIGINAL = {kind}(\n    file={json.dumps(str(file))},\n    sha256={digest!r},\n)\n"
        )
        return taskfile.load(str(task))

    return load


VALUES = ["normal_values", "tiny_values", "wide_values", "zeros"]


def test_a_module_is_called_with_other_values_batches_weights_and_dtypes_last():
    task = of("level2/76_Gemm_Add_ReLU.py")
    beyond = [call for call in plan(task, "0a") if call.properties]
    assert [(set(call.properties), call.dtype) for call in beyond] == [
        *(({name}, None) for name in VALUES),
        ({"batch_size"}, None),
        ({"other_weights"}, None),
        ({"dtype:float16"}, "float16"),
        ({"dtype:bfloat16"}, "bfloat16"),
    ]
    assert beyond == plan(task, "0a")[-8:]
    assert beyond[4].parameters == task.cases[0] | {"batch_size": 10}


def test_values_that_a_file_leaves_out_are_no_property():
    assert properties(of("level2/66_Matmul_Dropout_Softmax.py"))[:3] == ["normal_values", "zeros", "batch_size"]


def test_only_a_parameter_that_the_constructor_does_not_take_is_the_batch():
    assert properties(of("level1/1_Square_matrix_multiplication_.py"))[len(VALUES)] == "other_weights"
    assert of("level1/19_ReLU.py").batch == "batch"
    assert of("level3/48_Mamba2ReturnY.py").batch is None


def test_a_dtype_that_pytorch_lacks_here_is_not_asked_for():
    assert properties(of("level1/46_Average_Pooling_3D.py")) == [*VALUES, "batch_size", "other_weights"]


def test_a_task_that_is_cast_is_called_in_the_other_dtypes():
    task = models.at(of("level1/19_ReLU.py"), "bfloat16")
    assert properties(task) == [*VALUES, "batch_size", "other_weights", "dtype:float32", "dtype:float16"]


def test_function_has_no_variations():
    assert module_variations.of(taskfile.load(str(WORKER.parent / "tasks/kernelbenchx/Activation/relu.py"))) == []


@pytest.mark.parametrize(("size", "device", "other"), [
    (1024, "cpu", 513), (3, "cpu", 2), (2, "cuda:0", 1), (1, "cpu", 2), (1, "cuda:0", None), (None, "cpu", None), (True, "cpu", None),
])  # fmt: skip
def test_other_batch_is_smaller_if_possible(size, device, other):
    assert models.other_size(size, device) == other


def test_a_file_s_own_name_for_the_batch_is_changed_and_put_back(own):
    task = own(ORIGINAL)
    assert properties(task) == ["batch_size", "other_weights", "dtype:float16", "dtype:bfloat16"]
    other = module_variations.of(task)[0].parameters
    shapes = [task.call(case, "drawn", "0a").args[0].shape[0] for case in (task.cases[0], other, task.cases[0])]
    assert shapes == [12, 7, 12]


@pytest.mark.parametrize(("old", "new", "missing"), [
    ("randn(batch_size, 8)", "randn(12, 8)", "batch_size"),  # the name is there and nothing comes of it
    ("self.linear(x)", "self.linear(x) + torch.ones(12, 1)", "batch_size"),
    ("self.linear(x)", "self.linear(x) * 70000 * torch.ones(1).to(x.dtype)", "dtype:float16"),  # overflows
    ("self.linear(x)", "self.linear(x) @ torch.ones(8, 8)", "dtype:bfloat16"),
])  # fmt: skip
def test_variations_that_the_reference_rejects_are_left_out(own, old, new, missing):
    found = properties(own(ORIGINAL.replace(old, new)))
    assert missing not in found
    assert "other_weights" in found


def test_reference_with_fixed_dtypes_is_not_called_in_others(own):
    source = ORIGINAL.replace("nn.Linear(8, 8)", "nn.Linear(8, 8).half()").replace("size, 8)", "size, 8).half()")
    assert properties(own(source)) == ["batch_size", "other_weights"]


def test_on_a_gpu_a_large_task_of_another_checkout_is_tried_on_shapes(tmp_path):
    file = tmp_path / "1_Large.py"
    file.write_text(textwrap.dedent(ORIGINAL).replace("batch_size = 12", "batch_size = 1 << 24"))
    task = tmp_path / "task.py"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    task.write_text(
        '"""Statement."""\n\nfrom kbx.suite.original import OriginalModel\n\n'
        f"ORIGINAL = OriginalModel(\n    file={json.dumps(str(file))},\n    sha256={digest!r},\n)\n"
    )
    found = module_variations.of(taskfile.load(str(task), "cuda:0"))
    assert [each.property for each in found] == ["batch_size", "other_weights"]
    assert found[0].parameters["batch_size"] == (1 << 23) + 1


def test_an_oracle_judges_each_call_in_its_dtype_and_by_its_weights(oracle):
    path = str(TASKS / "level2" / "76_Gemm_Add_ReLU.py")
    opened, runner = oracle.open(path, 93_000)
    own = taskfile.load(path)

    def made(dtype=None):
        return module.construct(own.model, opened.module | {"dtype": dtype}, "cpu")[1]

    asked = {call["properties"][0]: call["index"] for call in opened.calls if call["properties"]}
    assert runner.judge(0, made()).status == "correct"
    assert runner.judge(asked["batch_size"], made()).status == "correct"
    oracle.ask(messages.ChangeWeights)
    assert runner.judge(asked["other_weights"], made()).status == "wrong_values"
    for dtype in ("float16", "bfloat16"):
        # The first weights again, in another dtype.
        assert runner.judge(asked[f"dtype:{dtype}"], made(dtype)).status == "correct"
        wrong = runner.judge(asked[f"dtype:{dtype}"], lambda x, d=dtype: made(d)(x).float())
        assert wrong.status == "wrong_dtype"
    oracle.ask(messages.Close)
    assert torch.get_default_dtype() == torch.float32
