"""A user's own reference: a file with a function and its inputs, or with a ``Model``."""

import hashlib
import json
import pathlib
import re
import sys
from dataclasses import replace

import pytest
import torch

from kbx.oracle import controls, footprint, judge, shape_tracing, taskfile, truth
from kbx.oracle.plan import plan
from kbx.oracle.task import InvalidTask, TooLarge
from kbx.suite import Call

SOFTMAX = """
import torch


def inputs():
    return torch.randn(8, 33), -1


def softmax(x, dim):
    return torch.softmax(x, dim)
"""
MODEL = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(33, 8)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.rand(7, 33)]
"""


@pytest.fixture
def own(tmp_path):
    """Loads the task of a reference with this text, as ``kbx eval --reference`` writes it."""

    def load(text, entry="f", device="cpu"):
        file = tmp_path / "my_ref.py"
        file.write_text(text)
        kind = "OwnModel" if "class Model" in text else "OwnFunction"
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        task = tmp_path / f"{digest[:8]}.py"
        task.write_text(
            f'"""Statement."""\n\nfrom kbx.suite.original import {kind}\n\nENTRY = {entry!r}\nTAGS = ("own",)\n'
            f"FILE = {json.dumps(str(file))}\nORIGINAL = {kind}(\n    file=FILE,\n    sha256={digest!r},\n)\n"
        )
        return taskfile.load(task, device)

    return load


def variations(task):
    return [case["inputs"].variation for case in task.cases]


def invalid(own, text, entry="f"):
    with pytest.raises(InvalidTask) as error:
        own(text, entry)
    assert error.value.file.endswith("my_ref.py")
    return error.value.line, error.value.message


def test_inputs_are_the_published_grade_and_variations_the_general(own):
    task = own(SOFTMAX, "softmax")
    assert variations(task) == [
        None, "non_contiguous", "tiny_values", "wide_values", "zeros", "special_values", "sign:negative", "sign:positive",
    ]  # fmt: skip
    calls = plan(task, "7")
    assert [sorted(call.properties) for call in calls[:4]] == [[]] * 4
    assert {p for call in calls[4:] for p in call.properties} == set(variations(task)[1:])
    assert calls[0].message()["case"] == "inputs=(f32[8, 33], -1)"


def test_every_call_has_fresh_values(own):
    task = own(SOFTMAX, "softmax")
    one, again, other = (task.call(task.cases[0], "drawn", seed).args[0] for seed in ("1", "1", "2"))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


SEEDING = {
    "torch": "torch.manual_seed(42)\n    x = torch.randn(8)",
    "torch.random": "torch.random.manual_seed(42)\n    x = torch.randn(8)",
    "torch generator": "x = torch.randn(8, generator=torch.Generator().manual_seed(0))",
    "torch generator by device": "g = torch.Generator(device='cpu')\n    g.manual_seed(0)\n    x = torch.randn(8, generator=g)",
    "unseeded torch generator": "x = torch.randn(8, generator=torch.Generator())",
    "numpy": "np.random.seed(0)\n    x = torch.tensor(np.random.randn(8))",
    "numpy generator": "x = torch.tensor(np.random.default_rng(7).standard_normal(8))",
    "unseeded numpy generator": "x = torch.tensor(np.random.default_rng().standard_normal(8))",
    "numpy state": "x = torch.tensor(np.random.RandomState(7).randn(8))",
    "python": "random.seed(3)\n    x = torch.tensor([random.random() for _ in range(8)])",
    "python generator": "r = random.Random(3)\n    x = torch.tensor([r.random() for _ in range(8)])",
    "python generator without a seed": "r = random.Random()\n    x = torch.tensor([r.random() for _ in range(8)])",
}


@pytest.mark.parametrize("body", SEEDING.values(), ids=SEEDING)
def test_inputs_that_seed_themselves_have_fresh_values_too(own, body):
    task = own(
        f"import random\nimport numpy as np\nimport torch\ndef inputs():\n    {body}\n    return x\ndef f(x):\n    return x + 1\n"
    )
    one, again, other = (task.call(task.cases[0], "drawn", seed).args[0] for seed in ("1", "1", "2"))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert not task.constant


MIXED = "torch.from_numpy(np.ones((7, 33), np.float32)) + torch.randn(7, 33)"


def test_inputs_that_a_default_device_stops_are_drawn_as_they_are_written(own):
    # The meta device stands for a GPU.
    function = own(
        f"import numpy as np\nimport torch\ndef inputs():\n    return {MIXED}\ndef f(x):\n    return x + 1\n"
    )
    model = own(
        MODEL.replace("[torch.rand(7, 33)]", f"[{MIXED}]").replace(
            "import torch", "import numpy as np\nimport torch", 1
        )
    )
    for task in function, model:
        assert task.call(task.cases[0], "drawn", "1", "meta").args[0].shape == (7, 33)


def test_generators_are_what_they_were_after_inputs_were_made(own):
    before = torch.Generator, torch.manual_seed
    task = own(SOFTMAX, "softmax")
    task.call(task.cases[0], "drawn", "1")
    assert (torch.Generator, torch.manual_seed) == before


@pytest.mark.parametrize(
    ("inputs", "constant"),
    [
        ("X", True),
        ("X.clone(), 3", True),
        ("torch.ones(8)", True),
        ("torch.randn(8)", False),
        ("torch.arange(8)", False),
    ],
)
def test_inputs_with_the_same_values_in_every_call_are_known(own, inputs, constant):
    task = own(
        f"import torch\nX = torch.linspace(0, 1, 8)\ndef inputs():\n    return {inputs}\ndef f(x, n=1):\n    return x + n\n"
    )
    assert task.constant == constant


@pytest.mark.parametrize("masks", [["causal"], ["none", "causal"]])
def test_calls_of_the_user_decide_whatever_their_values(own, masks):
    text = (
        "import torch\ncausal = torch.full((5, 5), float('-inf')).triu(1)\nnone = torch.zeros(5, 5)\n"
        f"def inputs():\n    return [(torch.randn(5, 5), mask) for mask in [{', '.join(masks)}]]\n"
        "def f(x, mask):\n    return torch.softmax(x + mask, -1)\n"
    )
    calls = plan(own(text), "7")
    assert sum(not call.properties for call in calls) >= 3 * len(masks)
    assert not any(call.special for call in calls if "causal" in masks)


@pytest.mark.parametrize(("text", "entry"), [(SOFTMAX, "softmax"), (MODEL, "ModelNew")])
def test_the_reference_passes_its_own_calls_and_spoiled_results_fail(own, text, entry):
    rows = controls.verify(own(text, entry), "7", "cpu")
    assert [row["name"] for row in rows if not row["ok"]] == []
    assert len(rows) == 9


QUANTIZE = """
import torch

# inputs: DTYPE[24, 96]
def f(x):
    scale = x.float().abs().amax(-1, keepdim=True) / 448
    return (x.float() / scale).to(torch.float8_e4m3fn), scale
"""
DEQUANTIZE = """
import torch

# inputs: DTYPE[24, 96], f32[24, 1]
def f(x, scale):
    return (x.float() * scale).to(torch.bfloat16)
"""


def judged(task, candidate):
    """The statuses of a function's results in the plain calls of a task, without repetition, and the largest part of a tolerance that one
    of them took."""
    statuses, ratios = set(), [0.0]
    for planned in plan(task, "7"):
        if not planned.properties and planned.repeats is None:
            call = planned.made(task, "cpu")
            known = truth.know(task, call, "7")
            found = judge.decide(task, known, [candidate(*call.args)])
            statuses.add(found.status)
            ratios.append(found.metrics.get("error_ratio", 0.0))
    return statuses, max(ratios)


def broken_signs(task, candidate):
    """Of the variations of signs that a task has, those by which a function's results are wrong."""
    broken = set()
    for planned in plan(task, "7"):
        if any("sign:" in each for each in planned.properties):
            call = planned.made(task, "cpu")
            known = truth.know(task, call, "7")
            if judge.decide(task, known, [candidate(*call.args, **call.kwargs)]).status != "correct":
                broken |= planned.properties
    return broken


def padded(x, value, width):
    return torch.nn.functional.pad(x, (0, width - x.shape[-1]), value=value)


def routed(x, value):
    w, i = padded(x, value, 64).float().softmax(-1).topk(6)
    return w / w.sum(-1, keepdim=True), i


REDUCTIONS = {
    "a maximum": ("f32[8, 40]", "x.amax(-1)", lambda x: padded(x, 0, 64).amax(-1), {"sign:negative"}),
    "a minimum": ("f32[8, 40]", "x.amin(-1)", lambda x: padded(x, 0, 64).amin(-1), {"sign:positive"}),
    "a maximum of products": (
        "f32[8, 40], f32[40, 300]", "(x @ y).amax(-1)", lambda x, y: padded(x @ y, 0, 512).amax(-1), {"sign:opposite"},
    ),
    "a maximum of sums": (
        "f32[8, 40], f32[40]", "(x + y).amax(-1)", lambda x, y: padded(x + y, 0, 64).amax(-1), {"sign:negative"},
    ),
    "experts": (
        "f32[2, 32]\n# inputs: bf16[7, 40]\n# inputs: f32[50, 64]",
        "(lambda w: (w.values / w.values.sum(-1, keepdim=True), w.indices))(x.float().softmax(-1).topk(6))",
        lambda x: routed(x, 0),
        {"sign:negative"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("inputs", "expression", "wrong", "expected"), REDUCTIONS.values(), ids=REDUCTIONS)
def test_a_reduction_that_takes_masked_elements_for_0_breaks(own, inputs, expression, wrong, expected):
    parameters = "x, y" if "], " in inputs else "x"
    task = own(f"import torch\n\n# inputs: {inputs}\ndef f({parameters}):\n    return {expression}\n")
    assert judged(task, wrong)[0] == {"correct"}
    assert broken_signs(task, wrong) == expected
    assert broken_signs(task, task.function) == set()


def test_right_experts_hold_where_values_have_one_sign(own):
    inputs, expression, _, _ = REDUCTIONS["experts"]
    task = own(f"import torch\n\n# inputs: {inputs}\ndef f(x):\n    return {expression}\n")
    assert broken_signs(task, lambda x: routed(x, -torch.inf)) == set()


NORM = "(x - mean) * torch.rsqrt(var + 1e-5)"
LOSS = "torch.nn.functional.cross_entropy(x, t, reduction='none')"
SIGNED = {
    "a logarithm": ("x", "torch.rand(8, 40) + 0.1", "x.log()", set(), lambda x: x.log2() * 0.6931471805599453),
    "a root": ("x", "torch.rand(8, 40)", "x.sqrt()", set(), torch.sqrt),
    "a root of squares": (
        "x", "torch.randn(8, 40)", "x.square().sum(-1).sqrt()", {"negative", "positive"}, lambda x: torch.linalg.norm(x, dim=-1),
    ),
    "a variance": (
        "x, mean, var", "torch.randn(8, 40), torch.randn(40), torch.rand(40)", NORM, {"negative", "positive", "opposite"},
        lambda x, mean, var: x * torch.rsqrt(var + 1e-5) - mean * torch.rsqrt(var + 1e-5),
    ),
    "a variance among values that are positive": (
        "x, mean, var", "torch.rand(8, 40), torch.rand(40), torch.rand(40)", NORM, {"opposite"},
        lambda x, mean, var: (x - mean) / (var + 1e-5).sqrt(),
    ),
    "probabilities": (
        "p", "torch.rand(8, 40).softmax(-1)", "p.cumsum(-1).lt(0.5).sum(-1)", set(), lambda p: p.cumsum(-1).lt(0.5).sum(-1),
    ),
    "a loss": (
        "x, t", "torch.randn(8, 40), torch.randint(0, 40, (8,))", LOSS, {"negative", "positive"},
        lambda x, t: x.exp().sum(-1).log() - x.gather(1, t[:, None])[:, 0],
    ),
    "a factorization": ("a", "(lambda r: r @ r.mT + torch.eye(8))(torch.randn(8, 8))", "torch.linalg.cholesky(a)", set(), None),
}  # fmt: skip


@pytest.mark.parametrize(("parameters", "inputs", "expression", "expected", "honest"), SIGNED.values(), ids=SIGNED)
def test_signs_are_varied_where_the_reference_is_defined(own, parameters, inputs, expression, expected, honest):
    text = f"import torch\n\ndef inputs():\n    return {inputs}\n\ndef f({parameters}):\n    return {expression}\n"
    task = own(text)
    assert {each.removeprefix("sign:") for each in variations(task) if each and "sign:" in each} == expected
    if honest:
        assert broken_signs(task, honest) == set()


def test_signs_are_varied_in_the_call_that_masks_most_if_it_is_small(own):
    lines = ["f32[8, 64]", "f32[9, 1000]", "f32[7, 160]", "f32[1001, 1201]"]
    text = "import torch\n" + "".join(f"# inputs: {each}\n" for each in lines) + "def f(x):\n    return x + 1\n"
    found = {each["inputs"].variation: each["inputs"].text for each in own(text).cases if each["inputs"].variation}
    assert (found["zeros"], found["sign:negative"]) == ("(f32[8, 64])", "(f32[7, 160])")


def test_shapes_of_calls_whose_signs_are_varied_are_traced_without_values(own):
    task = own("import torch\n\n# inputs: f16[64, 4001]\ndef f(x):\n    return x + 1\n")
    assert "sign:negative" in variations(task)
    traced = shape_tracing.calls(task, False)
    assert [each["args"][0]["shape"] for each in traced] == [[64, 4001]] * len(traced)


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        (QUANTIZE, "bf16", {"non_contiguous", "tiny_values", "wide_values", "zeros", "special_values"}),
        (DEQUANTIZE, "f8e4m3", {"non_contiguous", "tiny_values", "wide_values", "zeros", "special_values"}),
        (DEQUANTIZE, "f8e5m2", {"non_contiguous", "tiny_values", "wide_values", "zeros", "special_values"}),
    ],
)
def test_float8_is_taken_returned_and_varied(own, text, dtype, expected):
    task = own(text.replace("DTYPE", dtype))
    assert expected <= set(variations(task))
    rows = controls.verify(task, "7", "cpu")
    assert [row["name"] for row in rows if not row["ok"]] == []


def test_quantized_values_may_be_rounded_once_and_no_more(own):
    task = own(QUANTIZE.replace("DTYPE", "bf16"))

    def other(change):
        def candidate(x):
            scale = x.float().abs().amax(-1, keepdim=True) / 448
            return change(x.float(), scale).to(torch.float8_e4m3fn), scale

        return judged(task, candidate)  # the task of the moment

    statuses, ratio = other(lambda x, scale: x * (1 / scale))
    assert statuses == {"correct"} and ratio <= 0.5
    wrong = {
        "zeros": lambda x, scale: x * 0, "negated": lambda x, scale: -x / scale, "shuffled": lambda x, scale: x.flip(-1) / scale,
        "halved": lambda x, scale: x / scale / 2, "1.02": lambda x, scale: x / scale * 1.02,
        "by way of bfloat16": lambda x, scale: (x / scale).bfloat16(), "a row's scale": lambda x, scale: x / scale.roll(1, 0),
    }  # fmt: skip
    for name, change in wrong.items():
        statuses, ratio = other(change)
        assert "wrong_values" in statuses and ratio >= 2, name
    # Quotients of numbers of few digits are often half-way.
    for few in ("f8e5m2", "f8e4m3"):
        task = own(QUANTIZE.replace("DTYPE", few))
        statuses, ratio = other(lambda x, scale: x * (1 / scale))
        assert statuses == {"correct"} and ratio <= 0.5
        assert other(lambda x, scale: x / scale * 1.05)[0] == {"wrong_values"}
    task = own(QUANTIZE.replace("DTYPE", "bf16"))
    x = torch.randn(24, 96).bfloat16()
    known = truth.know(task, Call((x,)), "7")
    scaled = (x / known.expected[1] * 1.02).to(torch.float8_e4m3fn)
    message = judge.decide(task, known, [(scaled, known.expected[1])]).message
    assert re.search(r"\d+ wrong elements of 2328, first .*; no more than 18 may be one number off", message)


def test_quantized_levels_may_be_off_by_one_where_few_are(own):
    text = (
        "import torch\n# inputs: f32[24, 96]\ndef f(x):\n    scale = x.abs().amax() / 127\n"
        "    return torch.round(x / scale).to(torch.int8), (x > 0).to(torch.uint8)\n"
    )
    task = own(text)

    def other(change, flags=lambda x: x > 0):
        return judged(task, lambda x: (change(x, x.abs().amax() / 127).to(torch.int8), flags(x).to(torch.uint8)))[0]

    def with_off(count):
        def change(x, scale):
            levels = torch.round(x / scale)
            levels.view(-1)[:count] += torch.where(levels.view(-1)[:count] > 0, -1, 1)
            return levels

        return change

    assert other(lambda x, scale: torch.round(x * (1 / scale))) == {"correct"}
    assert other(with_off(4)) == {"correct"}
    assert other(with_off(100)) == {"wrong_values"}
    assert other(lambda x, scale: torch.trunc(x / scale)) == {"wrong_values"}
    assert other(lambda x, scale: torch.round(x / scale) + (x == x.amax()) * -2) == {"wrong_values"}
    assert other(with_off(0), lambda x: x > x.median()) == {"wrong_values"}


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_operands_of_tensor_cores_may_be_rounded_where_the_reference_has_float32(own, dtype):
    text = (
        f"import torch\n# inputs: {', '.join([dtype + '[2, 64, 32]'] * 3)}\ndef f(q, k, v):\n"
        "    p = torch.softmax(q.float() @ k.float().mT * 32**-0.5, -1)\n    return (p @ v.float()).to(q.dtype)\n"
    )

    def attention(q, k, v, cast=lambda p, q: p.to(q.dtype).float(), keys=64):
        scores = (q.float() @ k.float().mT)[..., :keys] * 32**-0.5
        e = torch.exp(scores - scores.amax(-1, keepdim=True))
        return (cast(e, q) @ v.float()[:, :keys] / e.sum(-1, keepdim=True)).to(q.dtype)

    for given in (text, text.replace("q.dtype", "torch.bfloat16") if dtype == "bf16" else text):
        task = own(given)
        statuses, ratio = judged(task, attention)
        assert statuses == {"correct"} and ratio <= 0.6
        assert judged(task, lambda q, k, v: attention(q, k, v, lambda p, q: p))[0] == {"correct"}
        statuses, ratio = judged(task, lambda q, k, v: attention(q, k, v, keys=63))
        assert statuses == {"wrong_values"} and ratio >= 2
        statuses, ratio = judged(
            task, lambda q, k, v: attention(q, k, v, lambda p, q: p.to(torch.float8_e4m3fn).float())
        )
        assert statuses == {"wrong_values"} and ratio >= 1.5
    # A product of the arguments themselves has no operand to round, and float32 arguments are not in half precision.
    product = (
        f"# inputs: {dtype}[40, 64], {dtype}[64, 30]\ndef f(a, b):\n    return (a.float() @ b.float()).to(a.dtype)\n"
    )
    assert judged(own(product), lambda a, b: ((a @ b).float() * (1 + 2.0**-7)).to(a.dtype))[0] == {"wrong_values"}
    single = "import torch\n# inputs: f32[40, 64], f32[64, 30]\ndef f(a, b):\n    return a @ b\n"
    assert judged(own(single), lambda a, b: a.bfloat16().float() @ b.bfloat16().float())[0] == {"wrong_values"}


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_unsigned_integers_are_taken_and_compared(own, bits):
    text = f"import torch\n# inputs: u{bits}[7, 9]\ndef f(x):\n    return (2 * x.long() + 1).to(torch.uint{bits})\n"
    task = own(text)
    dtype = getattr(torch, f"uint{bits}")
    assert judged(task, lambda x: (x.long() + x.long() + 1).to(dtype))[0] == {"correct"}
    assert judged(task, lambda x: (x.long() + x.long()).to(dtype))[0] == {"wrong_values"}
    assert [row["name"] for row in controls.verify(task, "7", "cpu") if not row["ok"]] == []


def test_a_model_needs_no_get_init_inputs(own):
    task = own(MODEL, "ModelNew")
    assert task.module("7")["init"] == []
    assert len(task.cases) == 7
    assert task.entries == ["ModelNew"]


def test_variations_that_the_reference_rejects_are_left_out(own):
    text = "import torch\n\n# inputs: f32[8, 4]\ndef f(x):\n    return torch.exp(4 * x).view(-1)\n"
    task = own(text)
    assert "non_contiguous" not in variations(task)  # view() raises
    assert "wide_values" not in variations(task)  # exp() overflows
    assert {"tiny_values", "zeros"} <= set(variations(task))
    assert task.note == "not varied, since the reference does not take it: non_contiguous, wide_values"


def test_properties_of_inputs_belong_to_the_published_grade(own):
    text = "import torch\ndef inputs():\n    return torch.rand(4, 8).t()\ndef f(x):\n    return x + 1\n"
    task = own(text)
    assert "non_contiguous" in task.tested
    assert "non_contiguous" not in variations(task)
    assert not any(call.properties for call in plan(task, "7")[:4])


def test_several_calls_and_dtypes(own):
    text = "import torch\ndef inputs():\n    return [(torch.rand(4),), (torch.rand(9).half(),)]\ndef f(x):\n    return x + 1\n"
    task = own(text)
    assert [repr(case["inputs"]) for case in task.cases[:2]] == ["(f32[4])", "(f16[9])"]
    assert not any(call.properties for call in plan(task, "7")[:6])


def test_an_argument_that_the_reference_updates_is_judged(own):
    task = own("import torch\n# inputs: f32[8], f32[8]\ndef f(x, y):\n    x.add_(y)\n")
    assert task.mutates == ("x",)
    call = task.call(task.cases[0], "drawn", "1")
    assert torch.equal(truth.know(task, call, "1").expected["x"], call.args[0] + call.args[1])


LARGE = "import torch\n\n# inputs: f32[1024, 16400], f32[16400], f32[16400]\ndef f(x, mean, var):\n    BODY\n"


UPDATING = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(33, 8)

    def forward(self, x, state):
        state.mul_(0.5).add_(x.mean(0))
        return self.linear(x)


def get_inputs():
    return [torch.rand(7, 33), torch.zeros(33)]
"""


def test_an_argument_that_a_model_updates_is_judged(own):
    task = own(UPDATING)
    assert task.mutates == ("state",)
    rows = {row["name"]: row for row in controls.verify(task, "0", "cpu")}
    assert all(row["ok"] for row in rows.values()), rows
    bound = task.seeded("0")
    known = truth.know(bound, bound.call(task.cases[0], "drawn", "0"), "0")

    def without_state(x, state):
        return bound.reference(x, state.clone())

    def judged(function):
        call = truth.copy_call(known.call)
        with torch.no_grad():
            judgement = judge.examine_own(bound, known, function(*call.args), call)
        return judgement if judgement.status != "correct" else judge.decide(bound, known, [judgement.value])

    assert judged(bound.reference).status == "correct"
    wrong = judged(without_state)
    assert (wrong.status, wrong.mismatches[0]["output"]) == ("wrong_values", "state")
    assert wrong.message.endswith("; they are 0")
    bias = bound.constants[1]
    unbiased = judged(lambda *args: bound.reference(*args) - bias)
    assert unbiased.message.endswith("; they are what is expected without adding 'linear.bias'")


def test_model_that_only_updates_arguments_is_compared(own):
    task = own(UPDATING.replace("return self.linear(x)", "return None"))
    assert task.mutates == ("state",)
    with pytest.raises(InvalidTask, match="forward.. returns nothing and changes no argument"):
        own(UPDATING.replace("return self.linear(x)", "return None").replace("state.mul_(0.5).add_(x.mean(0))", "pass"))


def test_value_dependent_update_of_a_model_is_found(own):
    text = UPDATING.replace("        state.mul_", "        if x.sum() > 0:\n            state.mul_")
    task = own(text.replace("33", "330").replace("torch.rand(7,", "torch.rand(70000,"), device="cuda")
    bound = replace(task, device="cpu").seeded("0")
    with pytest.raises(InvalidTask, match="forward.. changes its argument 'state'"):
        truth.know(bound, bound.call(task.cases[0], "drawn", "0"), "0", wide=False)


@pytest.mark.parametrize(
    ("body", "updated"),
    [
        ("x.add_(1)", ("x",)),
        ("x[::2, 3].mul_(mean[0])", ("x",)),
        ("torch.add(mean, 1, out=var)", ("var",)),
        ("torch.nn.functional.batch_norm(x, mean, var, training=True)", ("mean", "var")),
        ("return torch.nn.functional.batch_norm(x, mean, var)", ()),
        ("x = x.clone(); return x.add_(1)", ()),
    ],
)
def test_updates_of_large_calls_are_found_on_shapes(own, body, updated):
    task = own(LARGE.replace("BODY", body), device="cuda")
    assert task.nbytes > 64 << 20
    assert task.mutates == updated


def test_missing_result_is_found_on_shapes(own):
    with pytest.raises(InvalidTask, match="returns nothing and changes no argument"):
        own(LARGE.replace("BODY", "torch.add(mean, 1)"), device="cuda")


def test_value_dependent_update_is_found(own):
    body = "if x[0] > 0:\n        y.add_(1)\n    return x + 1"
    task = own(
        f"import torch\ndef inputs():\n    return torch.tensor([SIGN]), torch.zeros(2)\ndef f(x, y):\n    {body}\n".replace(
            "SIGN", "-1.0"
        )
    )
    call = task.call(task.cases[0], "drawn", "1")
    call.args[0].fill_(1.0)
    with pytest.raises(InvalidTask, match="changes its argument 'y', which no smaller call showed"):
        truth.know(task, call, "1")


HELPED = "import torch\nfrom ops import shift\nfrom pack.inner import scale\nimport helper_of_mine\n\n# inputs: f32[8]\ndef f(x):\n    return shift(scale(x)) + helper_of_mine.ZERO\n"


def test_modules_beside_the_reference_can_be_imported(own, tmp_path):
    def beside(folder, shift):
        (folder / "pack").mkdir(parents=True)
        (folder / "ops.py").write_text(
            f"import helper_of_mine\ndef shift(x):\n    return x + {shift} + helper_of_mine.ZERO\n"
        )
        (folder / "helper_of_mine.py").write_text("ZERO = 0\n")
        (folder / "pack" / "__init__.py").write_text("")
        (folder / "pack" / "inner.py").write_text("def scale(x):\n    return 2 * x\n")

    beside(tmp_path, 1)
    before = list(sys.path)
    task = own(HELPED)
    call = task.call(task.cases[0], "drawn", "1")
    assert torch.equal(truth.know(task, call, "1").expected, 2 * call.args[0] + 1)
    assert sys.path == before
    assert {"ops", "pack", "pack.inner", "helper_of_mine"}.isdisjoint(sys.modules)
    # Another reference's modules of these names are its own.
    (tmp_path / "ops.py").write_text("def shift(x):\n    return x + 5\n")
    other = own(HELPED + "\n")
    assert torch.equal(truth.know(other, call, "1").expected, 2 * call.args[0] + 5)


def test_a_file_beside_the_reference_does_not_replace_the_standard_library(own, tmp_path):
    (tmp_path / "zipapp.py").write_text("raise RuntimeError('not this one')\n")
    own("import torch, zipapp\n\n# inputs: f32[8]\ndef f(x):\n    return x + 1\n")


def test_cuda_means_the_cpu_where_there_is_no_gpu(own):
    text = (
        "import torch\ndef inputs():\n    return torch.rand(8, device='cuda')\n"
        "def f(x):\n    return x + torch.ones(8, device='cuda')\n"
    )
    task = own(text)
    assert truth.know(task, task.call(task.cases[0], "drawn", "1"), "1").expected.device.type == "cpu"


def test_calls_that_need_a_gpu_are_left_out_without_one(own):
    text = "import torch\n\n# inputs: f32[4096, 4097]\n# inputs: f32[64]\ndef f(x):\n    return x + 1\n"
    task = own(text)
    assert [case["inputs"].number for case in task.cases if not case["inputs"].variation] == [1]
    assert task.scaled and task.sizes == []
    task.check_room()


def test_inputs_too_large_without_a_gpu_are_refused(own):
    task = own("import torch\n\n# inputs: f32[8192, 8192]\ndef f(x):\n    return x + 1\n")
    assert variations(task) == [None]
    with pytest.raises(TooLarge, match=r"256 MiB at once, 0 GFLOP a call, at most 64 MiB and 10 GFLOP"):
        task.check_room()


def test_on_a_gpu_every_call_is_judged_and_timed(own):
    text = "import torch\n\n# inputs: f32[4096, 4097]\n# inputs: f32[64]\ndef f(x):\n    return x + 1\n"
    task = own(text, device="cuda:0")
    assert len(task.sizes) == 2
    assert variations(task)[:2] == [None, None]
    assert footprint.of(task).lent > 64 << 20
    assert shape_tracing.calls(task, True)[0]["args"][0]["shape"] == [4096, 4097]


def test_a_large_call_is_laid_out_in_another_way_on_a_gpu(own):
    text = "import torch\n\n# inputs: f32[1024, 16400]\ndef f(x):\n    return BODY\n"
    assert variations(own(text.replace("BODY", "x + 1"), device="cuda:0")) == [None, "non_contiguous"]
    assert variations(own(text.replace("BODY", "x.view(-1)"), device="cuda:0")) == [None]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("import torch\ndef g(x): ...\n", None, "defines no function f()"),
        ("def f(x):\n    return x\n", 1, "defines no function inputs(), and no comment '# inputs: f32[64, 64]' above f() says"),
        ("# inputs: f33[2]\ndef f(x):\n    return x\n", 1, "'# inputs:' names the dtype 'f33'"),
        ("# inputs: f32[2], 1\ndef f(x):\n    return x\n", 2, "'# inputs:' does not fit f(): too many positional"),
        ("def inputs():\n    n = 0\n    return 1 / n\ndef f(x):\n    return x\n", 3, "inputs() raised ZeroDivisionError"),
        ("def inputs():\n    return 3\ndef f(x):\n    return x\n", 1, "inputs() must return the arguments as a tuple"),
        ("def inputs():\n    return (open,)\ndef f(x):\n    return x\n", 1, "inputs()[0] is a builtin_function"),
        ("# inputs: f32[2], f32[3]\ndef f(x, y):\n    return x + y\n", 3, "f() raised RuntimeError"),
        (
            "import torch\ndef inputs():\n    return torch.ones(4).to(torch.float8_e8m0fnu)\ndef f(x):\n    return x.float()\n", 2,
            "inputs()[0] is a tensor of torch.float8_e8m0fnu, which is not passed: pass a view of it as torch.uint8",
        ),
        (
            "import torch\n# inputs: f32[2]\ndef f(x):\n    return x.to(torch.float8_e4m3fnuz)\n", 3,
            "f() returns a tensor of torch.float8_e4m3fnuz, which is not compared: return a view of it as torch.uint8",
        ),
        ("# inputs: f32[2]\ndef f(x):\n    pass\n", 2, "f() returns nothing and changes no argument"),
        ("# inputs: f32[2]\ndef f(x):\n    return 'x', None\n", 2, "f() returns str and changes no argument"),
        (
            "import torch\n# inputs: f32[2]\ndef f(x):\n    return torch.dropout(x, 0.5, True)\n", 3,
            "f() draws random numbers (aten.",
        ),
        (
            "n = [0]\n# inputs: f32[2]\ndef f(x):\n    n[0] += 1\n    return x + n[0]\n", 3,
            "f() does not repeat: the same inputs give another result the second time",
        ),
    ],
)  # fmt: skip
def test_errors_have_their_line(own, text, line, message):
    found = invalid(own, text)
    assert found[0] == line
    assert found[1].startswith(message)


def test_model_that_draws_random_numbers_is_refused(own):
    text = MODEL.replace("self.linear(x)", "torch.dropout(x, 0.5, True)")
    line, message = invalid(own, text, "ModelNew")
    assert (line, message.split(" (")[0]) == (10, "forward() draws random numbers")


def test_a_reference_that_changes_is_noticed(own, tmp_path):
    own(SOFTMAX, "softmax")
    task = next(file for file in tmp_path.glob("*.py") if file.name != "my_ref.py")
    (tmp_path / "my_ref.py").write_text(SOFTMAX + "\n")
    with pytest.raises(InvalidTask, match="the reference has changed since the command began"):
        taskfile.load(task, "cpu")


def test_a_file_that_the_reference_imports_and_that_changes_is_noticed(own, tmp_path):
    helper = tmp_path / "helper_of_mine.py"
    helper.write_text("ONE = 1\n")
    digest = hashlib.sha256(helper.read_bytes()).hexdigest()
    own("import torch\nimport helper_of_mine\n\n# inputs: f32[8]\ndef f(x):\n    return x + helper_of_mine.ONE\n")
    task = next(file for file in tmp_path.glob("*.py") if file.name not in ("my_ref.py", "helper_of_mine.py"))
    named = task.read_text().replace(
        "ORIGINAL = OwnFunction(", f"ORIGINAL = OwnFunction(imported={{{str(helper)!r}: {digest!r}}},"
    )
    task.write_text(named)
    taskfile.load(task, "cpu")
    helper.write_text("ONE = 2\n")
    with pytest.raises(InvalidTask, match="the reference has changed since the command began") as error:
        taskfile.load(task, "cpu")
    assert error.value.file == str(helper)


def test_what_compiles_a_reference_leaves_it_as_it_is(own):
    text = "import torch\n\ndef inputs():\n    return torch.randn(9)\n\n{}\ndef f(x):\n    return x + 1\n"
    for decorator in ("@torch.compile", "@torch.compile(mode='max-autotune')", "@torch.jit.script", "@torch.no_grad()"):
        task = own(text.format(decorator))
        assert torch.equal(task.reference(torch.ones(3)), torch.full((3,), 2.0)), decorator
    model = MODEL.replace("torch.nn.Linear(33, 8)", "torch.compile(torch.nn.Linear(33, 8))")
    assert own(model + "\n\nmodel = torch.compile(Model())\nmodel.compile()\n").cases
    assert torch.compile.__module__ == "torch"


KERNEL = """
import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def double_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def inputs():
    return torch.randn(300, device="cuda")


def f(x):
    assert x.is_cuda
    y = torch.empty_like(x)
    double_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
"""


def test_triton_reference_runs_without_a_gpu(own):
    task = own(KERNEL)
    call = task.call(task.cases[0], "drawn", "1")
    known = truth.know(task, call, "1")
    assert torch.equal(known.expected, call.args[0] * 2)
    assert known.truth.dtype == torch.float64


def test_triton_reference_may_update_an_argument_and_not_leave_its_tensors(own):
    inplace = KERNEL.replace("    y = torch.empty_like(x)\n", "").replace("(x, y, x.numel())", "(x, x, x.numel())")
    assert own(inplace.replace("return y", "return None")).mutates == ("x",)
    line, message = invalid(own, KERNEL.replace("mask=i < n", "mask=i < n + 50"))
    assert (line, "out_of_bounds" in message) == (21, True), message


def test_triton_reference_is_traced_without_values(own):
    task = own(KERNEL.replace("randn(300", "randn(1 << 26"), device="cuda")
    assert task.nbytes == 4 << 26


def test_a_reference_that_reads_memory_needs_values_and_is_no_error_on_shapes(own):
    text = "import numpy as np\nimport torch\n\n# inputs: f32[17825792]\ndef f(x):\n    return torch.from_numpy({})\n"
    assert own(text.format("np.sqrt(np.abs(x.cpu().numpy()))"), device="cuda").nbytes == 4 * 17825792
    exported = "np.abs(np.from_dlpack(x.cpu()))"
    assert own(text.format(exported), device="cuda").nbytes == 4 * 17825792


def test_cuda_reference_says_that_it_needs_a_gpu(own, monkeypatch):
    text = "import torch\ntorch.utils.cpp_extension.load_inline('m', 'int f();', cuda_sources='int f() { return 1; }', functions=['f'])\n"
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr("torch.utils.cpp_extension.CUDA_HOME", None)
    line, message = invalid(own, "import torch.utils.cpp_extension\n" + text)
    assert line == 3
    assert message.endswith("this needs a GPU, and there is none; PyTorch operations and Triton kernels run without")


RETURNED = {
    "tuples that are calls": ("[(r(3), r(3)), (r(4), r(4))]", "f(x, y)", "x + y", ["f32[3], f32[3]", "f32[4], f32[4]"]),
    "tuples that are arguments": (
        "[(r(3), r(3)), (r(3), r(3))]", "f(x, y)", "x[0] * y[1]", ["(f32[3], f32[3]), (f32[3], f32[3])"],
    ),
    "tuples that are the only argument": ("[(r(3), r(3)), (r(4), r(4))]", "f(d)", "d[0] + d[1]", ["(f32[3], f32[3])", "(f32[4], f32[4])"]),
    "a tuple that is the only argument": ("(r(3), r(3))", "f(data)", "data[0] + data[1]", ["(f32[3], f32[3])"]),
    "a dict that is the only argument": ("{'a': r(3)}", "f(batch)", "batch['a'] + 1", ["(f32[3])"]),
    "keyword arguments": ("{'x': r(3), 'y': 2.0}", "f(x, y)", "x + y", ["x=f32[3], y=2.0"]),
    "tensors of one call": ("[r(3), r(3)]", "f(x, y)", "x + y", ["f32[3], f32[3]"]),
    "tensors of a call each": ("[r(3), r(4)]", "f(x)", "x + 1", ["f32[3]", "f32[4]"]),
    "a list that is the only argument": ("[r(3), r(4)]", "f(xs)", "torch.cat(xs) + 1", ["(f32[3], f32[4])"]),
    "an iterator": ("(r(n) for n in (3, 4))", "f(x)", "x + 1", ["f32[3]", "f32[4]"]),
    "an iterator of tuples": ("((r(n), 2) for n in (3, 4))", "f(x, y)", "x + y", ["f32[3], 2", "f32[4], 2"]),
    "arrays": ("np.zeros((2, 3), np.float32)[:, ::-1], np.float64(2)", "f(x, y)", "np.exp(x) * y", ["f32[2, 3], 2.0"]),
}  # fmt: skip


@pytest.mark.parametrize(("returned", "signature", "body", "expected"), RETURNED.values(), ids=RETURNED)
def test_inputs_are_read_as_the_function_takes_them(own, returned, signature, body, expected):
    text = f"import numpy as np\nimport torch\nr = torch.randn\ndef inputs():\n    return {returned}\ndef {signature}:\n    return {body}\n"
    task = own(text)
    assert [str(case["inputs"]) for case in task.cases if not case["inputs"].variation] == [f"({e})" for e in expected]
    truth.know(task, task.call(task.cases[0], "drawn", "1"), "1")


UNSENDABLE = {
    "a data class": ("dataclasses.make_dataclass('Config', ['scale', 'eps'])(1.0, 2)", "pass its fields (scale, eps) as arguments"),
    "a named tuple": ("collections.namedtuple('Pair', 'a b')(1, 2)", "is a Pair, a named tuple, whose names other processes do not know: "),
    "an enumeration": ("enum.Enum('Mode', 'MEAN')(1)", "is a Mode, which cannot be sent to another process: pass its value, 1"),
    "a function": ("torch.nn.functional.silu", "call it in the reference, or pass a string that says which"),
    "a module": ("torch.nn.Linear(2, 2)", "pass its weights, or construct it in a class Model"),
    "a generator": ("torch.Generator()", "draw in inputs() what the function needs"),
    "a sparse tensor": ("torch.eye(3).to_sparse()", "is a sparse_coo tensor, and only dense ones are passed: pass its indices and values"),
    "float8 of powers": ("torch.ones(3).to(torch.float8_e8m0fnu)", "of torch.float8_e8m0fnu, which is not passed: pass a view of it as torch.uint8"),
    "a quantized tensor": ("torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)", "pass int_repr(), the scale and the zero point"),
    "a nested tensor": ("torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])", "is a nested tensor"),
    "an object": ("object()", "pass numbers, strings, tensors, or lists and dicts of them"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "said"), UNSENDABLE.values(), ids=UNSENDABLE)
def test_what_cannot_be_passed_says_what_can(own, made, said):
    imports = "import collections\nimport dataclasses\nimport enum\nimport torch\n"
    line, message = invalid(
        own, f"{imports}def inputs():\n    return torch.ones(3), {made}\ndef f(x, y):\n    return x\n"
    )
    assert line == 5
    assert message.startswith("inputs()[1] is a")
    assert said in message


FUNCTIONS = {
    "a partial": "def _f(x, by):\n    return x * by\nf = functools.partial(_f, by=3)",
    "a lambda": "f = lambda x: x * 3",
    "a compiled one": "def _f(x):\n    return x * 3\nf = torch.compile(_f)",
    "PyTorch's own": "f = torch.relu",
    "a method": "class A:\n    @staticmethod\n    def forward(x):\n        return x * 3\nf = A.forward",
}


@pytest.mark.parametrize("made", FUNCTIONS.values(), ids=FUNCTIONS)
def test_callables_are_references(own, made):
    lines = made.split("\n")
    noted = "\n".join([*lines[:-1], "# inputs: f32[9]", lines[-1]]) if made.startswith(("f = l", "f = t")) else made
    draws = "" if noted != made else "def get_inputs():\n    return [torch.randn(9)]\n"
    task = own(f"import functools\nimport torch\n{draws}{noted}\n")
    assert task.cases[0]["inputs"].text == "(f32[9])"
    assert task.reference.__name__ == "f"


GENERATED = """
import torch

{}
def generate_input(size, seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(size, generator=g), torch.randn(size, generator=g)

def ref_kernel(data):
    x, y = data
    return x + y
"""


def test_comments_tell_the_sizes_of_generated_inputs(own):
    task = own(GENERATED.format("# inputs: size=9, seed=1\n# inputs: size=700, seed=1"), "ref_kernel")
    assert [str(case["inputs"]) for case in task.cases[:2]] == ["((f32[9], f32[9]))", "((f32[700], f32[700]))"]
    assert task.entries == ["ref_kernel", "custom_kernel", "kernel_function"]
    one, other = (task.call(task.cases[0], "drawn", seed).args[0][0] for seed in ("1", "2"))
    assert not torch.equal(one, other)
    assert invalid(own, GENERATED.format(""), "ref_kernel") == (
        5, "generate_input(size, seed) needs values: put a comment above it for each call, such as '# inputs: size=64, seed=64'",
    )  # fmt: skip


def test_entry_may_leave_out_that_a_name_is_a_references(own):
    text = "import torch\n# inputs: f32[9]\ndef NAME(x):\n    return x + 1\n"
    assert own(text.replace("NAME", "norm_ref"), "norm_ref").entries == ["norm_ref", "norm", "kernel_function"]
    assert own(text.replace("NAME", "torch_add"), "torch_add").entries == ["torch_add", "add", "kernel_function"]
    assert own(text.replace("NAME", "refine"), "refine").entries == ["refine", "kernel_function"]


FILES = {
    "sys.exit(0)": "ends Python while it is imported: put what is to run only as a script below if __name__ == '__main__':",
    "parser.parse_args()": "ends Python while it is imported: put what is to run only as a script below if __name__ == '__main__':",
    "inputs = [torch.ones(3)]": "inputs is a list: make it a function that returns the arguments, so that each call has fresh values",
    "f = torch.nn.Linear(3, 3)": "f is a module, whose weights no candidate would have: make it a class Model with get_inputs()",
    "raise ValueError('one\\n\\n  two')": "importing the file raised ValueError: one two",
}


@pytest.mark.parametrize(("statement", "said"), FILES.items(), ids=FILES)
def test_what_is_wrong_with_a_file_is_one_line_that_says_what_to_do(own, statement, said, capfd):
    parser = "parser = argparse.ArgumentParser()\nparser.add_argument('--n', required=True)\n"
    text = (
        f"import argparse\nimport sys\nimport torch\n{parser}# inputs: f32[9]\ndef f(x):\n    return x\n{statement}\n"
    )
    assert invalid(own, text) == (9, said)
    assert capfd.readouterr() == ("", "")


def test_task_file_made_of_a_reference_runs_where_there_is_no_gpu(tmp_path):
    file = tmp_path / "mine.py"
    body = KERNEL.replace("def inputs", "def drawn_inputs").replace("return torch.randn(300", "yield torch.randn(300")
    file.write_text(
        '"""Doubles."""\n\nfrom kbx.suite import Close, drawn\n\nENTRY = "f"\nDIFFICULTY = 1\nDTYPE = "float32"\nTAGS = ("own",)\n'
        'DISTRIBUTIONS = ("standard",)\nCASES = [dict(number=0), dict(number=0, variation="zeros")]\nSIZES = [dict(number=0)]\n'
        f"CONTRACT = Close(growth=8)\n{body}\n\ndef inputs(make, number=0, variation=None):\n"
        "    return drawn(make, drawn_inputs, number, variation, of=f)\n"
    )
    task = taskfile.load(file)
    calls = plan(task, "7")
    assert [call.message(task)["case"] for call in calls[:4]] == ["inputs=(f32[300])"] * 3 + [
        "inputs=(f32[300]), zeros"
    ]
    assert truth.know(task, calls[0].made(task, "cpu"), "7").expected.shape == (300,)


PAGE = pathlib.Path(__file__).parents[2] / "docs/own-reference.md"
SHAPES = PAGE.read_text(encoding="utf-8").split("## Ten shapes")[1].split("\n## ")[0].split("```python\n")[1:]


@pytest.mark.parametrize("shape", [part.split("```")[0] for part in SHAPES])
def test_shapes_on_the_page_are_references(own, shape):
    names = [line.split("(")[0].removeprefix("def ") for line in shape.splitlines() if line.startswith("def ")]
    task = own("import torch\n" + shape, names[-1])
    call = task.call(task.cases[0], "drawn", "1")
    truth.know(task.seeded("1"), call, "1")
    assert not task.constant


WEIGHED = """
import torch


# inputs: f32[8]
# inputs: f32[16]
# weights: 3, 1
def f(x):
    return x * 2
"""


def test_calls_stand_for_parts_of_the_time(own):
    assert own(WEIGHED).shares == (0.75, 0.25)
    assert own(WEIGHED.replace("# weights: 3, 1\n", "")).shares == ()
    drawn = "import torch\n\n# weights: 1, 4\ndef inputs():\n    return [(torch.randn(4),), (torch.randn(9),)]\n\ndef f(x):\n    return x * 2\n"
    assert own(drawn).shares == (0.2, 0.8)


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        ("3", "has 1 entries, and there are 2 sizes"),
        ("3, 0", "must be a list of positive"),
        ("3, x", "could not convert"),
    ],
)
def test_weights_that_do_not_fit_are_an_error(own, weights, complaint):
    line, message = invalid(own, WEIGHED.replace("3, 1", weights))
    assert message.startswith("'# weights:' ")
    assert complaint in message
    assert line == 8
