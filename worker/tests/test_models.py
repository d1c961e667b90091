"""Tasks whose candidates are modules."""

import textwrap

import pytest
import torch
from oracle_process import WORKER

from kbx.messages import oracle as messages
from kbx.oracle import controls, judge, models, module_variations, taskfile, truth, work
from kbx.oracle.task import InvalidTask, Unsupported
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


def test_a_size_beside_the_published_one_is_a_property_on_a_gpu_and_not_timed(write):
    path = write(TASK.replace("CONTRACT =", "BESIDE = dict(batch=7)\nCONTRACT ="))
    here, there = taskfile.load(path), taskfile.load(path, "cuda:0")
    assert here.cases == [{"batch": 3, "features": 5}]
    assert there.cases == there.sizes == [{"batch": 512, "features": 256}]
    asked = [v for v in module_variations.of(there) if v.property == "smaller_size"]
    assert [v.parameters for v in asked] == [{"batch": 7, "features": 256}]
    assert not [v for v in module_variations.of(here) if v.property == "smaller_size"]


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


def test_state_kept_by_a_reference_does_not_excuse_a_candidate(write):
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


def test_degenerate_weights_are_replaced(write):
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
def test_file_errors_are_explained(write, old, new, message):
    with pytest.raises(InvalidTask) as caught:
        taskfile.load(write(TASK.replace(old, new, 1)))
    assert message in caught.value.message


def test_weights_count_as_bytes_read(write):
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
def test_beside_may_have_only_sizes_of_inputs(write, beside):
    path = write(TASK.replace("CONTRACT =", f"BESIDE = {beside}\nCONTRACT ="))
    with pytest.raises(InvalidTask, match="which is not a size of the inputs alone"):
        taskfile.load(path, "cuda:0")


class Linear(torch.nn.Linear):
    """A layer with a buffer."""

    def __init__(self, features):
        super().__init__(features, features)
        self.register_buffer("mask", torch.ones(2))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_cast_task_has_weights_arguments_and_results_of_that_dtype(write, dtype):
    task = taskfile.load(write(TASK))
    cast = models.at(task, dtype)
    assert models.at(task, dtype) is cast
    call = cast.call(cast.cases[0], "standard", "x")
    seeded = cast.seeded("0a")
    known = truth.know(seeded, call, "0a")
    assert {t.dtype for t in (*call.args, known.expected, *seeded.constants)} == {getattr(torch, dtype)}
    assert known.truth.dtype == torch.float64
    assert not torch.equal(known.truth, known.expected.double())
    assert call.kwargs == {"factor": 3.0}
    # The candidate draws its weights in float32, as the reference does, and rounds them once.
    made, _ = module.construct(cast.model, cast.module("0a"), "cpu")
    assert all(torch.equal(a, b) for a, b in zip(made.parameters(), seeded.constants, strict=True))
    plain, _ = module.construct(task.model, task.module("0a"), "cpu")
    assert {p.dtype for p in plain.parameters()} == {torch.float32}
    assert torch.equal(plain.linear.weight.to(made.linear.weight.dtype), made.linear.weight)


def test_sums_in_half_precision_are_wrong_and_sums_in_float32_right(write):
    task = models.at(taskfile.load(write(TASK.replace("features=5", "features=1024"))), "float16").seeded("0a")
    known = truth.know(task, task.call(task.cases[0], "standard", "x"), "0a")
    (x,), linear = known.call.args, task.weights.give().linear
    terms = x[:, None, :] * linear.weight[None]
    sequential = torch.zeros_like(terms[..., 0])
    for place in range(terms.shape[-1]):
        sequential += terms[..., place]
    assert judge.decide(task, known, [(sequential + linear.bias) * 3.0]).status == "wrong_values"
    exact = (x.float() @ linear.weight.float().T + linear.bias.float()) * 3.0
    assert judge.decide(task, known, [exact.half()]).status == "correct"


def test_missing_cpu_operator_is_not_the_task_s_fault(write):
    source = TASK.replace("self.linear(x) * factor", "nn.functional.avg_pool3d(x[None, None], 1)[0, 0]")
    task = models.at(taskfile.load(write(source)), "float16").seeded("0a")
    with pytest.raises(Unsupported, match="cast to float16, the reference raised NotImplementedError"):
        truth.know(task, task.call(task.cases[0], "standard", "x"), "0a")


def test_a_task_without_a_model_is_not_cast(write):
    task = taskfile.load(str(WORKER.parent / "tasks/kernelbenchx/Activation/relu.py"))
    with pytest.raises(InvalidTask, match="states its own dtypes, so nothing is cast to float16"):
        models.at(task, "float16")


def test_a_cast_task_is_verified_by_what_is_known_at_that_precision(oracle, write):
    own = "\n\nclass NegativeDoubled(Model):\n    def forward(self, x, factor=2.0):\n        return super().forward(x, factor) * 2\n"
    path = write(TASK + own)
    rows = {}
    for dtype in (None, "float16"):
        rows[dtype] = {
            c["name"]: c for c in oracle.ask(messages.VerifyTask, task=str(path), seed="0f", dtype=dtype).controls
        }
    assert rows[None].keys() == rows["float16"].keys()
    assert all(row["ok"] for table in rows.values() for row in table.values())
    assert rows[None]["negative_doubled"]["status"] == "wrong_values"
    half = rows["float16"]
    assert (half["negative_doubled"]["kind"], half["negative_doubled"]["status"]) == ("negative", "skipped")
    assert "not for float16" in half["negative_doubled"]["detail"]
    assert half["zeros"]["status"] == "wrong_values"
    assert half["reference"]["status"] == "correct"


def test_an_oracle_casts_what_it_opens(oracle, write):
    path = write(TASK)
    opened, runner = oracle.open(path, 92_000, dtype="bfloat16")
    assert opened.module["dtype"] == "bfloat16"
    own = models.at(taskfile.load(path), "bfloat16")
    made = own.construct(own.model, opened.module["seed"]).to(torch.bfloat16)
    assert runner.judge(0, made).status == "correct"
    assert runner.judge(0, lambda *args, **kwargs: made(*args, **kwargs).float()).status == "wrong_dtype"
    oracle.ask(messages.Close)


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


def test_varied_weights_replace_ones_and_zeros_but_not_buffers():
    made = Linear(3)
    torch.nn.init.ones_(made.weight)
    torch.nn.init.zeros_(made.bias)
    assert module.take_state(made, {"weight": [3, 3], "bias": [3]})
    assert (made.weight != 1).any() and (made.bias != 0).all()
    assert torch.equal(made.mask, torch.ones(2))


@pytest.mark.parametrize(
    "shapes", [{"weight": [3, 3]}, {"weight": [3, 3], "offset": [3]}, {"weight": [9], "bias": [3]}]
)
def test_renamed_parameters_are_not_varied(shapes):
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
    asked = next(call["index"] for call in opened.calls if call["properties"] == ["other_weights"])
    changed = oracle.ask(messages.ChangeWeights)
    assert module.take_state(made, changed.parameters)
    assert runner.judge(asked, made).status == "correct"
    made.load_state_dict(folded)
    assert runner.judge(asked, made).status == "wrong_values"
    oracle.ask(messages.Close)


def test_a_forward_may_update_an_argument(oracle, write):
    text = TASK.replace("return self.linear(x) * factor", "x.mul_(2)\n        return self.linear(x) * factor")
    path = write(text.replace('DTYPE = "float32"', 'DTYPE = "float32"\nMUTATES = ("x",)'))
    assert taskfile.load(str(path)).mutates == ("x",)
    assert oracle.ask(messages.TraceShapes, task=str(path), timed=False).updates == ["x"]
    rows = oracle.ask(messages.VerifyTask, task=str(path), seed="0f").controls
    # It computes the same and leaves its argument alone.
    assert [row["name"] for row in rows if not row["ok"]] == ["positive_from_outside"]
    with pytest.raises(InvalidTask, match="names 'y', which is none of x, factor"):
        taskfile.load(str(write(text.replace('DTYPE = "float32"', 'DTYPE = "float32"\nMUTATES = ("y",)'))))


def test_parameters_that_are_constant_may_have_other_names():
    made = torch.nn.LayerNorm(3)
    shapes = {"scale": [3], "shift": [3]}
    assert module.take_state(made, shapes)
    assert not torch.equal(made.weight, torch.ones(3)) and not torch.equal(made.bias, torch.zeros(3))
    assert not module.take_state(made, shapes)  # no longer constant
