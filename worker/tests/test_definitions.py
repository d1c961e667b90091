"""Task files that hold a definition with its workloads, as ``kbx tasks import sol-execbench`` writes them."""

import json

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensor

from kbx.oracle import taskfile
from kbx.oracle.task import InvalidTask
from kbx.suite.definitions import Definition, DefinitionRules, Workload, tensor
from kbx.suite.inputs import Call, Inputs

HEAD = '"""Statement."""\n\nfrom kbx.suite.definitions import Workload, defined\n\nENTRY = "run"\nTAGS = ("own", "definition")\n'
SCALED = """
import torch

@torch.no_grad()
def run(x, weight, eps):
    assert x.shape[1] == 24
    scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)
    return {"y": (x * scale * weight).to(x.dtype)}
"""
ROWS = """
["rows", "width = 24", "half = width // 2"],
["x: float16[rows, width]", "weight: float16[width]", "eps: float32"],
["y: float16[rows, width]"],
workloads=[Workload("one", {"rows": 5}, {"eps": 1e-6}), Workload("two", {"rows": 3}, {"eps": 1e-5})],
"""
GATHERED = """
import torch

def draw(axes, device):
    n = axes["n"]
    return {"at": torch.randint(0, n, (axes["m"],), device=device), "x": torch.randn(n, 4, device=device)}

def run(x, at):
    assert at.max() < len(x)
    return x[at]
"""
CUSTOM = """
["n", "m = n * 2"],
["x: float32[n, 4]", "at: int64[m]"],
["y: float32[m, 4]"],
workloads=[Workload("one", {"n": 7})],
custom="draw",
"""


@pytest.fixture
def defined(tmp_path):
    """Loads the task of a reference with this definition."""

    def load(reference=SCALED, definition=ROWS, device="cpu"):
        file = tmp_path / "scaled.py"
        file.write_text(f"{HEAD}DEFINITION = defined(\n{definition})\n\n{reference}")
        return taskfile.load(file, device)

    return load


def plain(task):
    return [case["inputs"] for case in task.cases if case["inputs"].variation is None]


class TestTask:
    def test_each_workload_is_a_case_with_values_of_its_own_the_smallest_first(self, defined):
        task = defined()
        assert [str(case) for case in plain(task)] == [
            "(f16[3, 24], f16[24], 1e-05)",
            "(f16[5, 24], f16[24], 1e-06)",
        ]
        first = task.call({"inputs": plain(task)[0]}, "drawn", "a").args
        again = task.call({"inputs": plain(task)[0]}, "drawn", "b").args
        assert first[0].std().item() == pytest.approx(1, abs=0.3)
        assert not torch.equal(first[0], again[0])

    def test_a_dict_of_one_result_is_that_result(self, defined):
        task = defined()
        call = task.call({"inputs": plain(task)[0]}, "drawn", "a")
        assert isinstance(task.reference(*call.args), torch.Tensor)

    def test_values_and_layouts_are_varied(self, defined):
        assert "non_contiguous" in [case["inputs"].variation for case in defined().cases]

    def test_the_reference_may_make_the_inputs_itself(self, defined):
        task = defined(GATHERED, CUSTOM)
        x, at = task.call({"inputs": plain(task)[0]}, "drawn", "a").args
        assert (x.shape, at.shape, at.dtype) == ((7, 4), (14,), torch.int64)
        assert not torch.equal(x, task.call({"inputs": plain(task)[0]}, "drawn", "b").args[0])

    def test_only_workloads_that_fit_are_judged_without_a_gpu(self, defined):
        task = defined(definition=ROWS.replace('{"rows": 5}', '{"rows": 2000000}'))
        assert [str(case) for case in plain(task)] == ["(f16[3, 24], f16[24], 1e-05)"]
        assert task.scaled

    def test_an_argument_that_the_reference_updates_may_change_and_is_not_judged(self, defined):
        task = defined(
            "def run(x, y):\n    return x.add_(y)",
            '["n"], ["x: float32[n]", "y: float32[n]"], ["z: float32[n]"], [Workload("u", {"n": 9})]',
        )
        assert [task.mutates, task.may_change("x"), task.may_change("y")] == [(), True, False]

    def test_of_large_workloads_only_shapes_are_tried(self, defined, monkeypatch):
        drawn, call = set(), Definition.call

        def noted(self, workload, make):
            made = call(self, workload, make)
            if not isinstance(made.args[0], FakeTensor):
                drawn.add(workload.uuid)
            return made

        monkeypatch.setattr(Definition, "call", noted)
        task = defined(definition=ROWS.replace('{"rows": 5}', '{"rows": 2000000}'), device="cuda")
        assert [len(task.sizes), len(plain(task)), drawn] == [2, 2, {"two"}]
        assert "non_contiguous" in [case["inputs"].variation for case in task.cases]

    def test_a_gradient_by_autograd_is_a_reference(self, defined):
        task = defined(
            "import torch\n\ndef run(x):\n    x = x.requires_grad_()\n    return torch.autograd.grad(x.sin().sum(), x)",
            '["n"], ["x: float32[n]"], ["g: float32[n]"], [Workload("u", {"n": 9})]',
        )
        (x,) = task.call(task.cases[0], "drawn", "a").args
        assert torch.allclose(task.reference(x), x.cos())


@pytest.mark.parametrize(
    ("reference", "definition", "message"),
    [
        (SCALED.replace("weight, eps", "w, eps"), ROWS, "run() takes (x, w, eps)"),
        (SCALED, ROWS.replace("y: float16", "y: float32"), "the output 'y' is float16[3, 24]"),
        (SCALED, ROWS.replace("y: float16[rows, width]", "y: float16[rows, half]"), "the output 'y' is"),
        (SCALED, ROWS.replace('["y: ', '["z: float32[rows]", "y: '), "its outputs are z, y"),
        (SCALED, ROWS.replace('{"rows": 5}', "{}"), "workload one gives the axis 'rows' no size"),
        (SCALED, ROWS.replace("width // 2", "other // 2"), "the axis 'half' depends on what is no other axis"),
        (SCALED, ROWS.replace("[width]", "[depth]"), "'float16[depth]' names 'depth', which is no axis"),
        (SCALED, ROWS + 'constraints=("rows > 4",),', "workload two breaks the constraint 'rows > 4'"),
        (SCALED.replace("* weight", "* torch.rand_like(x)"), ROWS, "run() draws random numbers"),
        (GATHERED, CUSTOM.replace("[m]", "[n]"), "draw() made 'at' [14] for workload one"),
        (GATHERED.replace('"at":', '"index":'), CUSTOM, "draw() returned the names index, x; its inputs are x, at"),
        (GATHERED, CUSTOM.replace('"draw"', '"drawn"'), "defines no function drawn()"),
    ],
)  # fmt: skip
def test_what_is_no_task_is_an_error(defined, reference, definition, message):
    with pytest.raises(InvalidTask) as error:
        defined(reference, definition)
    assert message in error.value.message


class TestDefinition:
    @pytest.mark.parametrize(
        ("text", "size"), [("(a + 1) * -(-b)", 21), ("a ** 2 % b", 4), ("b / 7 + (a // 2)", 2), ("c", 12)]
    )  # fmt: skip
    def test_axes_are_expressions_of_others(self, text, size):
        definition = Definition({"d": text, "a": None, "b": 7, "c": "e + 2", "e": 10}, {}, {}, [])
        assert definition.sizes(Workload("u", {"a": 2})) == {"a": 2, "b": 7, "c": 12, "d": size, "e": 10}

    @pytest.mark.parametrize("text", ["a / 4", "a - 9", "a // 0", "abs(a)", "a if", "a.b"])
    def test_what_is_no_size_is_an_error(self, text):
        with pytest.raises(ValueError, match="workload u|expression of axes|no value|no other axis"):
            Definition({"d": text, "a": 2}, {}, {}, []).sizes(Workload("u", {}))

    def test_constraints_on_values_are_left_to_the_reference(self):
        definition = Definition({"n": 2}, {}, {}, [], constraints=["n == at[-1].item()", "total == n"])
        assert definition.sizes(Workload("u", {})) == {"n": 2}

    def test_random_inputs_have_the_ranges_of_the_benchmarks(self):
        inputs = {
            "a": "int8[n]",
            "b": "int32[n]",
            "c": "bool[n]",
            "d": "float8_e4m3fn[n]",
            "e": "float32",
            "f": "int64",
            "g": "float32[]",
        }
        made = dict(
            zip(inputs, Definition({"n": 5000}, inputs, {}, []).call(Workload("u", {}), Inputs()).args, strict=True)
        )
        assert (made["a"].min(), made["a"].max()) == (-128, 127)
        assert -1024 <= made["b"].min() < -900
        assert 900 < made["b"].max() < 1024
        assert 0.4 < made["c"].float().mean() < 0.6
        assert made["d"].dtype == torch.float8_e4m3fn
        assert isinstance(made["e"], float)
        assert isinstance(made["f"], int)
        assert made["g"].shape == ()

    def test_sizes_may_be_numbers(self):
        assert tensor("bfloat16[n, 3]", {"n": 2}) == (torch.bfloat16, (2, 3))


class TestRecordedInputs:
    """Inputs of a safetensors file, whose bytes are written here."""

    @pytest.fixture
    def recorded(self, tmp_path, defined):
        def load(key="x", shape=(5, 24), dtype="F16"):
            values = torch.arange(120, dtype=torch.float16)
            header = json.dumps({"x": {"dtype": dtype, "shape": shape, "data_offsets": [4, 244]}}).encode()
            file = tmp_path / "x.safetensors"
            file.write_bytes(len(header).to_bytes(8, "little") + header + b"skip" + values.numpy().tobytes())
            files = f', files={{"x": ({str(file)!r}, {key!r})}}), Workload'
            return defined(definition=ROWS.replace("), Workload", files, 1))

        return load

    def test_they_are_the_same_in_every_call(self, recorded):
        task = recorded()
        (case,) = [each for each in plain(task) if "[5" in str(each)]
        first, other = [task.call({"inputs": case}, "drawn", seed).args for seed in "ab"]
        assert torch.equal(first[0], torch.arange(120, dtype=torch.float16).view(5, 24))
        assert torch.equal(first[0], other[0])
        assert not torch.equal(first[1], other[1])

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"key": "y"}, "it has no tensor 'y'"),
            (
                {"shape": (6, 20)},
                r"recorded 'x' is float16\[6, 20\] for workload one; its definition says float16\[rows, width\]",
            ),
            ({"dtype": "C64"}, "tensor 'x' is C64"),
            ({"shape": (5, 23)}, "tensor 'x' has 240 bytes"),
        ],
    )
    def test_what_the_file_has_not_is_said(self, recorded, given, said):
        with pytest.raises(InvalidTask, match=said):
            recorded(**given)


class TestWhatTheBenchmarksAsk:
    """Their tests' tolerance, which a workload may state."""

    @staticmethod
    def rules(**tolerance):
        stated = [Workload("small", {"n": 3}), Workload("large", {"n": 1000}, tolerance=tolerance)]
        return DefinitionRules(definition=Definition({"n": None}, {"x": "float32[n]"}, {"y": "float32[n]"}, stated))

    def right(self, rules, n, change):
        x = torch.linspace(-2, 2, n)
        got = x.clone()
        change(got)
        return rules.right(Call((x,)), got, x)

    def test_a_hundredth_where_nothing_is_stated(self):
        assert self.right(self.rules(), 3, lambda y: y.mul_(1.009))
        assert not self.right(self.rules(), 3, lambda y: y[0].mul_(1.02))

    def test_that_of_the_workload_with_the_shapes_of_the_call(self):
        rules = self.rules(max_atol=1e-3, max_rtol=0.0)
        assert self.right(rules, 3, lambda y: y[0].add_(0.02))
        assert self.right(rules, 1000, lambda y: y.add_(9e-4))
        assert not self.right(rules, 1000, lambda y: y[0].add_(2e-3))

    def test_a_part_of_the_elements_may_differ(self):
        rules = self.rules(required_matched_ratio=0.99)
        assert self.right(rules, 1000, lambda y: y[:10].add_(5))
        assert not self.right(rules, 1000, lambda y: y[:11].add_(5))

    def test_but_none_by_more_than_the_cap(self):
        rules = self.rules(required_matched_ratio=0.99, max_error_cap=2.0)
        assert self.right(rules, 1000, lambda y: y[:10].add_(1.5))
        assert not self.right(rules, 1000, lambda y: y[0].add_(5))

    def test_what_is_no_number_is_not_near_one(self):
        assert not self.right(self.rules(), 3, lambda y: y[0].fill_(float("nan")))
        x = torch.tensor([1.0, float("nan"), float("inf")])
        assert self.rules().right(Call((x,)), x.clone(), x)

    def test_whole_numbers_are_equal(self):
        x = torch.arange(3)
        assert self.rules().right(Call((x,)), x.clone(), x)
        assert not self.rules().right(Call((x,)), x + 1, x)

    def test_the_task_of_a_definition_is_published_with_them(self, defined):
        assert isinstance(defined().published_rule, DefinitionRules)
