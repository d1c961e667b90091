"""Kernels compiled by a process that never runs the candidate: the same IR as Triton makes in place, and the same failures."""

import contextlib
import json
import os
import pathlib
import re
import tempfile

import compiling_both_ways as harness
import pytest
import torch
import triton
from compiling_both_ways import HEAD, InChild, Loaded, compiled_both_ways, compiling, one_kernel

from kbx import standins
from kbx.oracle import taskfile
from kbx.runner import compilation, cuda_on_cpu, execution, launches, module

ROOT = pathlib.Path(__file__).parents[2]
FILES = sorted([*(ROOT / "corpus/honest").glob("*/*.py"), *(ROOT / "tasks").glob("*/*/kernels/*.py")])[::8]
"""Of 178: all were tried, which takes ten minutes of a processor."""


def task_of(file):
    found = [path for path in (ROOT / "tasks").glob(f"kernelbench*/*/{file.stem}.py") if path.parent.name != "kernels"]
    return found[0] if found else None


@pytest.mark.sampled(24)
@pytest.mark.parametrize("file", [f for f in FILES if task_of(f)], ids=lambda f: str(f.relative_to(ROOT)))
def test_honest_candidates_compile_to_the_same(file):
    assert InChild(compiled_twice)(file) == {"differ": [], "some": True}


def compiled_twice(file):
    """Makes all calls of a task; kernels whose IR is another one when they are compiled in place."""
    torch.set_num_threads(1)
    standins.install()
    task = taskfile.load(task_of(file)).seeded("seed")
    calls = [task.call(case, task.distributions[0], f"call {i}") for i, case in enumerate(task.cases)]
    stock = triton.compiler.compiler.compile
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["TRITON_CACHE_DIR"] = f"{folder}/triton"
        path, source = f"{folder}/candidate.py", file.read_text(encoding="utf-8-sig")
        pathlib.Path(path).write_text(source)
        torch.manual_seed(0)
        differ, count = [], 0
        with compiling(source, path) as send:
            launches.emulate("sm_90")
            cuda_on_cpu.install("sm_90")
            launches._refuse_host_tensors = lambda arguments: None  # inputs made before the device was there
            execution.launch = lambda *_: None
            compilation.install(send, path, source)
            apart = triton.compile

            def both(src, target=None, options=None, **named):
                nonlocal count
                count += 1
                other = stock(src, target, options, **named)
                try:
                    kernel = apart(src, target, options, **named)
                except Exception as error:
                    differ.append(f"{src.name}: {error!r}")
                    raise
                if kernel.asm["ptx"] != other.asm["ptx"] or nameless(kernel.asm["ttir"]) != nameless(other.asm["ttir"]):
                    differ.append(src.name)
                return kernel

            triton.compiler.compile = both
            _, entry = module.load(source, path, task.entries, "sm_90", contextlib.nullcontext)
            for call in calls:
                with contextlib.suppress(Exception):  # no kernel runs, and what it should have made is not there
                    entry(*call.args, **call.kwargs)
    return {"differ": differ, "some": count > 0}


def nameless(ir):
    """The text of IR without the names of values: those of loops' arguments are lost where a module is passed on as text."""
    return re.sub(r"%\w+", "%", ir)


VALUES = {
    "constexpr": ("v * C", "C = tl.constexpr(2.5)"),
    "nan": ("tl.where(v > 0, v, C)", "C = tl.constexpr(float('nan'))"),
    "infinity": ("tl.where(v > 0, v, C)", "C = tl.constexpr(float('-inf'))"),
    "string": ("tl.inline_asm_elementwise(ASM, '=r,r', [v], tl.float32, True, 1)", "ASM = tl.constexpr('mov.b32 $0, $1;')"),
    "dtype": ("v.to(D).to(tl.float32)", "D = tl.float16"),
    "dtype in constexpr": ("v.to(D).to(tl.float32)", "D = tl.constexpr(tl.bfloat16)"),
    "tuple": ("v * C[0] + C[1]", "C = tl.constexpr((1, (2, 3)[1]))"),
    "module": ("v * C.scale.value", "C = types.ModuleType('settings')\nC.scale = tl.constexpr(2)"),
    "function of Triton": ("tl.cdiv(triton.cdiv(B, 3), 2) + v + triton.next_power_of_2(B)", ""),
    "libdevice": ("libdevice.tanh(v)", ""),
    "function by name": ("exp(v)", "from triton.language import exp"),
    "libdevice function": ("tanh(v)", "from triton.language.extra.libdevice import tanh"),
    "function of the standard library": ("v * root", "root = tl.constexpr(math.sqrt(2))"),
    "min": ("min(B, 7) + v", ""),
    "helper": ("helper(v)", "@triton.jit\ndef helper(v, C: tl.constexpr = 3):\n    return v * C"),
    "helper not inlined": ("helper(3.0) + v", "@triton.jit(noinline=True)\ndef helper(v):\n    return v * 3"),
    "helper of a helper": ("helper(v)", "@triton.jit\ndef inner(v):\n    return v + 1\n@triton.jit\ndef helper(v):\n    return inner(v) * 3"),
    "combination": ("tl.reduce(v, 0, add) + v", "@triton.jit\ndef add(a, b):\n    return a + b"),
    "constexpr function": ("v * double(B)", "@triton.constexpr_function\ndef double(n):\n    return int(math.sqrt(n)) * 2"),
    "python function": ("v * double(B)", "@tl.core.builtin\ndef double(n, _semantic=None):\n    return tl.constexpr(n.value * 2)"),
    "aggregate": ("Pair(v, v).total()", "@tl.core._aggregate\nclass Pair:\n    a: tl.tensor\n    b: tl.tensor\n    @triton.constexpr_function\n    def __init__(self, a, b):\n        self.a, self.b = a, b\n    @triton.jit\n    def total(self):\n        return self.a + self.b * 2"),
    "numpy": ("v * C", "import numpy\nC = tl.constexpr(int(numpy.int32(4)))"),
}  # fmt: skip

ARGUMENTS = {
    "named tuple": ("v * C.a + C.b", "class Pair(typing.NamedTuple):\n    a: int\n    b: int = 3\nC = Pair(2)"),
    "enum": ("v * C.value.value", "class Mode(enum.Enum):\n    SLOW = 1\n    FAST = 7\nC = Mode.FAST"),
    "int enum": ("v * C", "class Mode(enum.IntEnum):\n    SLOW = 1\n    FAST = 7\nC = Mode.FAST"),
    "enum with a method": ("v * C.twice()", "class Mode(enum.Enum):\n    FAST = 7\n    def twice(self):\n        return self.value * 2\nC = Mode.FAST"),
    "dataclass": ("v * C.scale + C.shift", "@dataclasses.dataclass(frozen=True)\nclass Config:\n    scale: float\n    shift: float = 3.0\n    more: list = dataclasses.field(default_factory=list)\nC = Config(2.0)"),
    "object": ("v * C.scale", "class Config:\n    def __init__(self):\n        self.scale = 9\nC = Config()"),
    "object with slots": ("v * C.scale", "class Config:\n    __slots__ = ('scale',)\nC = Config()\nC.scale = 3"),
    "class": ("v * C.scale", "class Config:\n    scale = 9\nC = Config"),
    "derived class": ("v * C.scale * C.other", "class Base:\n    other = 2\nclass Config(Base):\n    scale = 9\nC = Config"),
    "changed class": ("v * C.scale", "class Config:\n    scale = 9\nConfig.scale = 10\nC = Config"),
    "property": ("v * C.scale", "class Config:\n    @property\n    def scale(self):\n        return 5\nC = Config()"),
    "namespace": ("v * C.scale", "C = types.SimpleNamespace(scale=2, tensor=torch.zeros(3))"),
    "function": ("v * C(B)", "def C(n):\n    return n * 2"),
    "bound method": ("v * C(B)", "class Config:\n    by = 3\n    def scaled(self, n):\n        return n * self.by\nC = Config().scaled"),
    "lambda": ("v * C(B)", "C, other = (lambda n: n * 2), (lambda n: n * 3)"),
    "lambdas in a line": ("v * C[1](B)", "C = (lambda n: n * 2, lambda n: n * 3)"),
    "function of torch": ("v * C.itemsize", "C = torch.float16"),
    "function of math": ("v * C(16.0)", "C = math.sqrt"),
    "unused object": ("v * 2", "C = torch.nn.Linear(2, 2)"),
    "dict": ("v * len(C)", "C = {'a': 2}"),
    "itself": ("v * len(C)", "C = [1, 2]\nC.append(C)"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_the_same(name):
    expression, before = ARGUMENTS[name]
    text = one_kernel(expression, before).replace("(x, B:", "(x, C: tl.constexpr, B:")
    text += "\nSIGNATURE = {'x': '*fp32', 'C': 'constexpr', 'B': 'constexpr'}\nCONSTANTS = {'C': C}\n"
    found = InChild(compiled_both_ways)(text)
    assert found["apart"] == found["in place"] and isinstance(found["apart"], str), found


@pytest.mark.parametrize("name", VALUES)
def test_names_mean_the_same(name):
    if name == "aggregate" and not hasattr(triton.language.core, "_aggregate"):
        pytest.skip("this Triton has none")
    found = InChild(compiled_both_ways)(one_kernel(*VALUES[name]))
    assert found["apart"] == found["in place"] and isinstance(found["apart"], str), found


KERNELS = {
    "closure": """
def make(scale, helper):
    @triton.jit
    def kernel(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), helper(tl.load(x + tl.arange(0, B))) * scale)
    return kernel

@triton.jit
def twice(v):
    return v * 2

other = make(tl.constexpr(7), twice)
kernel = make(tl.constexpr(5), twice)
""",
    "method": """
class Kernels:
    @staticmethod
    @triton.jit
    def kernel(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1.0)
kernel = Kernels.kernel
""",
    "in an if": """
if torch.cuda.is_available() or True:
    @triton.jit
    def kernel(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1.0)
else:
    @triton.jit
    def kernel(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 2.0)
""",
    "two of one name": """
@triton.jit
def kernel(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)
first = kernel

@triton.jit
def kernel(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 2.0)
kernel = first
""",
    "decorators": """
@triton.autotune(
    configs=[triton.Config({"B": 32})],
    key=[],
)
@triton.heuristics({"E": lambda arguments: arguments["B"] > 16})

@triton.jit(
    do_not_specialize=["n"],
)
# a comment
def kernel(x, n, B: tl.constexpr,
           E: tl.constexpr):
    if E:
        tl.store(x + tl.arange(0, B), n * 1.0)
kernel = kernel.fn.fn
SIGNATURE = {"x": "*fp32", "n": "i32", "B": "constexpr", "E": "constexpr"}
CONSTANTS = {"E": True}
""",
    "another decorator": """
def noted(function):
    @functools.wraps(function)
    def wrapper(*arguments, **named):
        return function(*arguments, **named)
    return wrapper

@triton.jit
@noted
def kernel(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), FACTOR)
FACTOR = tl.constexpr(2.0)
""",
    "a long list of the same name": """
i = list(range(100_000))
@triton.jit
def kernel(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, 1.0)
""",
    "own name": """
@triton.jit(repr=lambda s: f"kernel_{s.constants['B']}")
def kernel(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)
""",
    "annotations and defaults": """
DEFAULT = 3.0
KIND = tl.constexpr

@triton.jit
def helper(v, scale: KIND = DEFAULT, shift: KIND = 2):
    out: tl.constexpr = 5
    return v * scale + shift + out

@triton.jit
def kernel(x: torch.Tensor, B: KIND):
    tl.store(x + tl.arange(0, B), helper(tl.load(x + tl.arange(0, B)), shift=4))
""",
    "kernel as an argument": """
@triton.jit
def square(v):
    return v * v

@triton.jit
def kernel(x, ACT: tl.constexpr, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), ACT(tl.load(x + tl.arange(0, B))))
SIGNATURE = {"x": "*fp32", "ACT": "constexpr", "B": "constexpr"}
CONSTANTS = {"ACT": square}
""",
    "other arguments": """
class Mode(enum.Enum):
    A, B = 1, 2

@triton.jit
def kernel(x, D: tl.constexpr, T: tl.constexpr, N: tl.constexpr, M: tl.constexpr, S: tl.constexpr, B: tl.constexpr):
    if N is None and S == "yes" and M.value == 2:
        tl.store(x + tl.arange(0, B), (tl.load(x + tl.arange(0, B)) * T[1]).to(D).to(tl.float32))
SIGNATURE = {"x": "*fp32", **dict.fromkeys("DTNMSB", "constexpr")}
CONSTANTS = {"D": tl.float16, "T": (1, 2), "N": None, "M": Mode.B, "S": "yes"}
""",
    "tuple of pointers": """
@triton.jit
def kernel(xs, B: tl.constexpr):
    for i in tl.static_range(len(xs)):
        tl.store(xs[i] + tl.arange(0, B), i * 1.0)
SIGNATURE = {"xs": ("*fp32", "*fp32"), "B": "constexpr"}
""",
    "descriptor": """
@triton.jit
def kernel(x, B: tl.constexpr):
    x.store([0, 0], x.load([0, 0]) * 2)
SIGNATURE = {"x": "tensordesc<fp32[8, 32]>", "B": "constexpr"}
""",
    "made at run time": """
import linecache
text = "@triton.jit\\ndef kernel(x, B: tl.constexpr):\\n    tl.store(x + tl.arange(0, B), 1.0)\\n"
linecache.cache["<made>"] = (len(text), None, text.splitlines(True), "<made>")
exec(compile(text, "<made>", "exec"))
""",
    "of an installed package": """
from kbx.runner.warmup import increment as kernel
SIGNATURE = {"pointer": "*fp32", "n": "i32", "BLOCK": "constexpr"}
CONSTANTS = {"BLOCK": 32}
""",
    "unused names": """
table = torch.zeros(2)
FLAG = tl.constexpr(False)
@triton.jit
def kernel(x, B: tl.constexpr):
    if FLAG:
        tl.store(x, table)
    tl.store(x + tl.arange(0, B), 1.0)
""",
    "tabs and unicode": """
if True:
\tβ = tl.constexpr(3)
\t@triton.jit
\tdef kernel(x, B: tl.constexpr):
\t\t# ∑
\t\ttl.store(x + tl.arange(0, B), β * 1.0)
""",
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_found_where_they_stand(name):
    found = InChild(compiled_both_ways)(KERNELS[name])
    assert found["apart"] == found["in place"] and isinstance(found["apart"], str), found


def test_postponed_annotations():
    text = "from __future__ import annotations\n" + HEAD + one_kernel("v * 2")
    found = InChild(compiled_both_ways_as_is)(text)
    assert found["apart"] == found["in place"] and isinstance(found["apart"], str), found


def compiled_both_ways_as_is(text):
    harness.HEAD = ""
    return compiled_both_ways(text)


def test_locations_name_the_candidates_lines():
    ir = InChild(compiled_both_ways)(KERNELS["closure"])["apart"]
    assert re.search(r'loc\("[^"]*/candidate.py":10:', ir) or re.search(r'candidate.py":\d+', ir)


FAILURES = {
    "unknown name": one_kernel("v * absent"),
    "in a helper": one_kernel("helper(v)", "@triton.jit\ndef helper(v):\n    return v.absent"),
    "static assertion": one_kernel("helper(v)", "@triton.jit\ndef helper(v):\n    tl.static_assert(False, 'never')\n    return v"),
    "unsupported syntax": one_kernel("helper(v)", "@triton.jit\ndef helper(v):\n    with open('x') as y:\n        return v\n    return v"),
    "shapes": one_kernel("v + tl.arange(0, 64)"),
    "a global that is no constant": one_kernel("v * FACTOR", "FACTOR = 3"),
    "a tensor": one_kernel("v * FACTOR", "FACTOR = torch.zeros(3)"),
    "a function that raises": one_kernel("v * broken(B)", "@triton.constexpr_function\ndef broken(n):\n    raise ValueError(f'not {n}')"),
    "assembler": one_kernel("tl.inline_asm_elementwise('nonsense $0, $1;', '=r,r', [v], tl.float32, True, 1)"),
    "a cluster": (one_kernel("v"), {"num_warps": 3}),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_failures_are_the_same(name):
    text, options = FAILURES[name] if isinstance(FAILURES[name], tuple) else (FAILURES[name], None)
    found = InChild(compiled_both_ways)(text, "", options)
    assert without_files(found["apart"]) == without_files(found["in place"]) and isinstance(found["apart"], list), found


def without_files(failure):
    """PTXAS names temporary files."""
    return json.loads(re.sub(r"/tmp/[\w.]+", "", json.dumps(failure)))


LAUNCHES = """
def made(scale):
    @triton.jit
    def kernel(x, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(x + i, tl.load(x + i, mask=i < n) * scale, mask=i < n)
    return kernel

two, three = tl.constexpr(2), tl.constexpr(3)
for scale in (two, two, three):
    made(scale)[(1,)](torch.zeros(64, device="cuda"), 64, B=64)

@triton.autotune(
    configs=[triton.Config({"B": 65536}), triton.Config({"B": 64}, num_warps=2), triton.Config({"B": 128})], key=["n"]
)
@triton.jit
def tuned(x, n, B: tl.constexpr):
    tl.static_assert(B < 10000)
    tl.store(x + tl.arange(0, B), 1.0, mask=tl.arange(0, B) < n)
tuned[(1,)](torch.zeros(64, device="cuda"), 64)

@triton.jit
def large(x, B: tl.constexpr):
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(x + i, tl.trans(tl.load(x + i)))
try:
    large[(1,)](torch.zeros(256, 256, device="cuda"), B=256, num_warps=32)
except Exception as error:
    failed = error
"""


def test_launches_report_what_was_compiled():
    found = InChild(launched)(LAUNCHES)
    assert [each["kernel"] for each in found["compiled"]] == ["kernel", "kernel", "kernel", "tuned"]
    assert ["seconds" in each for each in found["compiled"]] == [True, False, True, True]
    assert all(each["registers"] > 0 and each["arch"] == "sm_90" for each in found["compiled"])
    assert found["best"] == "B: 64" and found["numbers"] == [1, 1, 2]
    assert found["failed"].startswith("OutOfResources: out of resource: shared memory")


def launched(text):
    with tempfile.TemporaryDirectory() as folder:
        loaded, numbers = Loaded(text, folder), []
        with compiling(loaded.text, loaded.path) as send:
            launches.emulate("sm_90")
            cuda_on_cpu.install("sm_90")
            execution.launch = lambda *_: None
            log = launches.LaunchLog()
            log.install()
            compilation.install(send, loaded.path, loaded.text)
            prepared = launches._Launcher.__init__

            def prepare(launcher, src, metadata):
                numbers.append(src.kbx_number)
                prepared(launcher, src, metadata)

            launches._Launcher.__init__ = prepare
            loaded.load()
        found = vars(loaded.module)
        best, failed = str(found["tuned"].best_config), found["failed"]
        return {
            "compiled": log.take_compiled(),
            "best": best.partition(",")[0],
            "numbers": numbers[:3],
            "failed": f"{type(failed).__name__}: {failed}",
        }
