"""What is compiled ahead of the device, and what the runner that has it makes of that."""

import base64
import contextlib
import json
import math
import os
import pathlib
import pickle
import re
import subprocess
import sys
import textwrap

import patience
import pytest
import torch
import triton
from bench_client import PRELUDE, bench
from compiling_both_ways import InChild, compiling
from patience import eventually, has_ended

from kbx import shapes, tensors
from kbx.executor import ahead as rebuilt
from kbx.executor import compiler
from kbx.messages import Failed
from kbx.messages import runner as messages
from kbx.messages.oracle import TraceLargestShapes
from kbx.oracle import shape_tracing, taskfile
from kbx.oracle.task import describe
from kbx.runner import ahead, compilation, cuda_on_cpu, execution, launches, linux, module

SCALE = """
@triton.jit
def kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

def run(x):
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), B=64)
    return out
"""


def traced(*tensors_, timed=True):
    """A call as the oracle traces it; of a benchmark size, unless told otherwise."""
    leaves = [
        {"t": "tensor", "shape": list(t.shape), "stride": list(t.stride()), "dtype": tensors.dtype_name(t.dtype)}
        for t in tensors_
    ]
    return {"args": leaves, "kwargs": {}, "timed": timed}


def precompile(source, *calls, seconds=patience.LONG_SECONDS):
    """The answer of a bench without arenas."""
    with bench() as client:
        client.ask(messages.Attach(1, []))
        loaded = client.load(source)
        assert isinstance(loaded, messages.Loaded), loaded
        return client.ask(messages.Precompile(2, list(calls), seconds))


def tuning(source, blocks, config="triton.Config({'B': b})", **options):
    """The source with as many configurations."""
    configs = f"[{config} for b in {blocks}]"
    head = f"@triton.autotune({configs}, key=['n'], **{options})\n@triton.jit"
    return source.replace("@triton.jit", head).replace(", B=64)", ")")


def compiled_anew(source, files):
    """Kernels that a runner with these files compiles nevertheless."""
    with bench(executes=False) as client:
        client.attach()
        client.load(source, files=files)
        reply = client.call(torch.arange(100.0))
    assert reply.compiled
    return [each for each in reply.compiled if "seconds" in each]


def test_another_runner_finds_the_kernels_compiled():
    ahead = precompile(SCALE, traced(torch.empty(100)))
    assert ahead.kernels == 1
    assert compiled_anew(SCALE, ahead.files) == []


def test_of_compiled_texts_only_the_one_that_explains_is_sent_by_default():
    files = precompile(SCALE, traced(torch.empty(100))).files
    assert {name.rpartition(".")[2] for name in files} <= {"json", "cubin", "so", "ttir"}


def test_compiled_texts_are_sent_if_the_candidate_reads_them():
    source = SCALE.replace("kernel[(", "compiled = kernel[(").replace(
        "return out", "return out, len(compiled.asm['ptx'])"
    )
    files = precompile(source, traced(torch.empty(100))).files
    with bench() as client:
        client.attach()
        client.load(source, files=files)
        assert client.run(torch.ones(100))[1] > 100


def test_sizes_take_no_memory_and_kernels_do_not_run():
    huge = torch.empty(1 << 31, device="meta")
    assert precompile(SCALE, traced(huge)).kernels == 1


MODULE = """
import resource

class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.norm = torch.nn.BatchNorm1d(width)
        self.register_buffer("table", torch.arange(40))

    def forward(self, x):
        wide = self.norm(self.first(x)).softmax(1)
        wide.mul_(2)
        assert self.table[3].item() == 3 and wide.shape == x.shape, "small tensors have values"
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 << 20, "KiB: large ones have none"
        return run(wide.t().contiguous())
"""


def test_pytorch_operations_are_skipped():
    source = SCALE + textwrap.dedent(MODULE)
    with bench() as client:
        client.ask(messages.Attach(1, []))
        assert isinstance(client.load(source, "ModelNew"), messages.Loaded)
        width = 1 << 16  # 16 GiB of weights
        made = client.ask(messages.Construct(2, {"init": [tensors.encode(width, None)], "seed": 1}, shapes=True))
        assert isinstance(made, messages.Constructed), made
        found = client.ask(
            messages.Precompile(3, [traced(torch.empty(1 << 14, width, device="meta"))], patience.LONG_SECONDS)
        )
    assert found.kernels == 1 and found.whole


def test_every_configuration_is_compiled():
    assert precompile(tuning(SCALE, [32, 64, 128]), traced(torch.empty(100))).kernels == 3


def test_one_configuration_is_compiled_for_each_call_that_is_not_timed():
    sizes = [torch.empty(n) for n in (16, 32, 48, 64, 80, 96, 112, 128)]
    calls = [traced(size, timed=False) for size in sizes]
    found = precompile(tuning(SCALE, [32, 64, 128]), *calls)
    assert found.whole and 1 < found.kernels <= 3, "different shapes check different ones"
    # A tuner without a key keeps what it chose, but not from calls that are not timed to those that are.
    keyless = tuning(SCALE, [32, 64, 128]).replace("key=['n']", "key=[]")
    assert precompile(keyless, *calls, traced(torch.empty(160))).kernels == 3


def watched(hook, folder, cores):
    """Source before which each kernel, of 32 to 256 elements, runs ``hook`` where it is compiled, and leaves in ``folder`` who does."""
    return textwrap.dedent(f"""
    import os, pathlib, time
    from triton.compiler.compiler import ASTSource
    from kbx.runner import ahead, compilers
    ahead._GRACE = 1.0
    os.sched_getaffinity = lambda pid: range({cores})
    folder = pathlib.Path({str(folder)!r})
    make_ir = ASTSource.make_ir
    def watched(source, *given, **named):
        block = next(iter(source.constants.values()))
        folder.joinpath(str(os.getpid())).touch()
        {hook}
        return make_ir(source, *given, **named)
    ASTSource.make_ir = watched
    """)


BLOCKS = [32, 64, 128, 256]
LOOP = SCALE.replace(
    "    kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), B=64)",
    f"    for b in {BLOCKS}:\n        kernel[(triton.cdiv(x.numel(), b),)](x, out, x.numel(), B=b)",
)
OWN_TUNER = SCALE.replace(
    "@triton.jit",
    f"""
class Tuner(triton.KernelInterface):
    def __init__(self, function):
        self.function = function

    def run(self, *args, grid, warmup, **kwargs):
        times = {{}}
        for b in {BLOCKS}:
            times[b] = triton.testing.do_bench(lambda: self.function.run(*args, grid=grid, warmup=False, B=b))
        self.function.run(*args, grid=grid, warmup=False, B=min(times, key=times.get))

@Tuner
@triton.heuristics({{"B": lambda args: args["B"]}})
@triton.jit""",
).replace(", B=64)", ")")


def all_ended(folder):
    pids = [path.name for path in folder.iterdir()]
    return pids and eventually(lambda: all(map(has_ended, pids)))


@pytest.mark.parametrize("source", [tuning(SCALE, BLOCKS), LOOP, OWN_TUNER])
def test_launches_are_compiled_side_by_side(source, tmp_path):
    hook = "while len(os.listdir(folder)) < 4: time.sleep(0.01)"
    found = precompile(watched(hook, tmp_path, 4) + source, traced(torch.empty(100)))
    assert found.kernels == 4 and found.whole
    assert len(os.listdir(tmp_path)) == 4


def test_calls_share_what_is_compiled_and_the_processes(tmp_path):
    hook = "assert len(list(folder.glob('*.now'))) < 2; now = folder / f'{os.getpid()}.now'; now.touch(); time.sleep(0.05); now.unlink()"
    calls = [traced(torch.empty(100 * i)) for i in (1, 2, 3)]
    source = watched(hook, tmp_path, 2) + tuning(SCALE, BLOCKS)
    assert precompile(source, *calls).kernels == 4
    assert len(os.listdir(tmp_path)) == 4, "each kernel by one process"


def test_inspected_launch_and_later_launches_are_compiled():
    source = LOOP.replace("        kernel[", "        made = kernel[") + textwrap.dedent("""
    inner = run
    def run(x):
        out = torch.empty_like(x)
        assert kernel[(1,)](x, out, 100, B=512).n_regs > 0
        return inner(x)
    """)
    found = precompile(source, traced(torch.empty(100)))
    assert found.kernels == 5 and found.whole


def test_hanging_compilation_does_not_block_others(tmp_path):
    source = watched("time.sleep(1000 if block == 64 else 0)", tmp_path, 2) + tuning(SCALE, BLOCKS)
    source += textwrap.dedent("""
    class Clock:
        sleep = time.sleep

        def monotonic():
            "Time is up when one process hangs and the others have compiled theirs."
            try:
                return 1000.0 if len(os.listdir(folder)) == 4 and ahead.kernels() == 3 else 0.0
            except OSError:  # Triton renames what is counted
                return 0.0

    ahead.time = compilers.time = Clock
    """)
    found = precompile(source, traced(torch.empty(100)), seconds=6.0)
    assert found.kernels == 3 and not found.whole
    assert all_ended(tmp_path)


def test_processes_started_by_a_call_end_with_it(tmp_path):
    source = SCALE + textwrap.dedent(f"""
    import pathlib, subprocess
    inner = run
    def run(x):
        left = subprocess.Popen(["sleep", "1000"])
        pathlib.Path({str(tmp_path)!r}, str(left.pid)).touch()
        return inner(x)
    """)
    assert precompile(source, traced(torch.empty(100))).whole
    assert all_ended(tmp_path)


def test_compile_failures_are_left_to_the_runner_with_the_device():
    source = SCALE + textwrap.dedent("""
    inner = run
    def run(x):
        if x.numel() == 7:
            raise ValueError("no sevens")
        return inner(x)
    """)
    ahead = precompile(source, traced(torch.empty(7)), traced(torch.empty(100)))
    assert ahead.kernels == 1


def test_no_call_begins_after_the_time_limit():
    assert precompile(SCALE, traced(torch.empty(100)), seconds=0.0).files == {}


def test_crash_in_one_call_does_not_affect_others():
    source = SCALE + textwrap.dedent("""
    import os
    os.sched_getaffinity = lambda pid: range(2)  # a process for each call
    inner = run
    def run(x):
        inner(x)
        if x.numel() == 7 << 20:
            x.numpy()[0] = 1  # there are no pages to write to
    """)
    found = precompile(source, traced(torch.empty(7 << 20)), traced(torch.empty(100)))
    assert found.kernels == 2 and not found.whole


def test_incomplete_compilation_is_reported():
    waiting = SCALE.replace(
        "    out = torch.empty_like(x)", "    import time; time.sleep(0.3)\n    out = torch.empty_like(x)"
    )
    calls = [traced(torch.empty(100 * i)) for i in range(1, 40)]
    assert not precompile(waiting, *calls, seconds=0.1).whole
    assert precompile(SCALE, *calls[:3]).whole
    assert precompile(SCALE).whole


def test_binaries_above_the_frame_limit_are_left_out():
    source = SCALE + textwrap.dedent("""
    import os, pathlib
    inner = run
    def run(x):
        folder = pathlib.Path(os.environ["TRITON_CACHE_DIR"], "ballast")
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath("noise.bin").write_bytes(os.urandom(12 << 20))
        return inner(x)
    """)
    found = precompile(source, traced(torch.empty(100)))
    assert found.left_out == ["triton"] and not [name for name in found.files if "ballast" in name]
    assert compiled_anew(SCALE, found.files) == [], "a kernel stayed behind that fits"


def test_kernels_are_sent_up_to_the_frame_limit():
    shrunk = SCALE + textwrap.dedent("""
    from kbx.runner import ahead
    ahead._ROOM = 20_000
    """)
    tuned = tuning(shrunk, [1 << i for i in range(4, 10)])
    found = precompile(tuned, traced(torch.empty(100)))
    cubins = [name for name in found.files if name.endswith(".cubin")]
    assert found.kernels == 6 and found.left_out == ["triton"] and found.whole
    assert 0 < len(cubins) < 6
    assert sum(len(name) + len(text) for name, text in found.files.items()) < 20_000
    for cubin in cubins:
        folder, _, name = cubin.removesuffix(".cubin").rpartition("/")
        assert {f"{folder}/{name}.json", f"{folder}/__grp__{name}.json"} <= set(found.files), "half a kernel"


def test_autotuning_winner_is_not_sent():
    tuned = tuning(SCALE, [32, 64], cache_results=True)
    found = precompile(tuned, traced(torch.empty(100)))
    assert found.kernels == 2 and not [name for name in found.files if "autotune" in name]


def task(name):
    return taskfile.load(f"../tasks/kernelbenchx/{name}.py")


def test_tracing_finds_every_shape_once_and_sizes_on_demand():
    relu = task("Activation/relu")
    calls = shape_tracing.calls(relu, False)
    timed = shape_tracing.calls(relu, True)
    found = {tuple(c["args"][0]["shape"]) for c in timed}
    assert [c for c in timed if not c["timed"]] == calls and len(timed) > len(calls)
    assert {tuple(size["shape"]) for size in relu.sizes} <= found
    assert all("offset" not in c["args"][0] for c in timed)


def test_calls_whose_shapes_depend_on_values_are_left_out():
    masked = task("Fusion/fused_masked_select_add_gelu")
    small = {tuple(size["shape"]) for size in masked.sizes if math.prod(size["shape"]) <= shapes.SMALL}
    traced_sizes = {tuple(c["args"][0]["shape"]) for c in shape_tracing.calls(masked, True) if c["timed"]}
    assert traced_sizes >= small and len(traced_sizes) < len(masked.sizes)


def test_gpu_shapes_are_traced_without_slow_imports():
    program = (
        "import sys; from kbx.oracle import shape_tracing, taskfile; "
        "task = taskfile.load('../tasks/kernelbenchx/Math/add.py', 'cuda:0'); "
        "assert len(shape_tracing.calls(task, True)) > 20; sys.exit('sympy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.later
def test_the_largest_size_is_traced_alone(oracle):
    path = "../tasks/kernelbenchx/Activation/relu.py"
    reply = oracle.ask(TraceLargestShapes, task=path)
    sizes = task("Activation/relu").sizes
    assert math.prod(reply.call["args"][0]["shape"]) == max(math.prod(size["shape"]) for size in sizes)
    assert reply.shape in [describe(size) for size in sizes]
    assert reply.entries == ["relu", "kernel_function"]


def test_a_task_may_have_no_size_that_is_known_without_values(oracle, tmp_path):
    path = tmp_path / "fused_masked_select_add_gelu.py"
    with open("../tasks/kernelbenchx/Fusion/fused_masked_select_add_gelu.py", encoding="utf-8") as bundled:
        path.write_text(bundled.read().replace("(4096,)", "(524288,)"), encoding="utf-8")
    reply = oracle.ask(TraceLargestShapes, task=str(path))
    assert isinstance(reply, Failed) and reply.reason == "unsupported"
    assert "depend on the values of tensors" in reply.message


def test_kernels_are_compiled_once_more_without_the_candidate():
    """What is not in the candidate's file is left out, and so is what takes too long."""
    source, path, requests = described(SCALE, traced(torch.zeros(100)), traced(torch.zeros(64, dtype=torch.float16)))
    assert len(requests) == 2
    made = InChild(rebuild)(source, path, requests, patience.LONG_SECONDS)
    assert set(made) == {compiler.key_of(each) for each in requests}
    for kernel in map(json.loads, made.values()):
        assert {name.partition(".")[2] for name in kernel["files"]} == {"cubin", "json"}
    assert InChild(rebuild)(source.replace("def kernel", "def other"), path, requests, patience.LONG_SECONDS) == {}
    assert InChild(rebuild)(source, path, requests, 0.0) == {}


TUNED_AND_NOT = """
@triton.autotune([triton.Config({"B": 64}, num_warps=w, num_stages=s) for w in (1, 2, 4, 8) for s in range(1, 6)], key=["n"])
@triton.jit
def tuned(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

@triton.jit
def other(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

def run(x):
    out = x.clone()
    tuned[(triton.cdiv(x.numel(), 64),)](out, x.numel())
    other[(triton.cdiv(x.numel(), 64),)](out, x.numel(), B=64)
    return out
"""


def test_of_an_autotuned_kernel_what_untimed_calls_launch_is_requested():
    """Of benchmark sizes as well, which are called without being timed, too; whoever has compiled it."""
    calls = [traced(torch.zeros(100)), traced(torch.zeros(64, dtype=torch.float16))]
    _, path, requests = described(TUNED_AND_NOT, *calls)
    assert sorted(map(kernel_of, requests)) == ["other", "other", "tuned", "tuned"]
    _, other_path, launched = described(TUNED_AND_NOT, *(call | {"timed": False} for call in calls))
    assert {json.dumps(each).replace(path, "") for each in requests} == {
        json.dumps(each).replace(other_path, "") for each in launched
    }


def test_requests_take_turns_in_the_order_in_which_they_came(tmp_path):
    for place, name in enumerate(["a-3", "a-1", "a-2", "b-9", "c-5", "b-7"]):
        file = tmp_path / name
        file.write_text(name)
        os.utime(file, ns=(place, place))
    collection = compilation.Collection(tmp_path)
    assert ahead.requests(collection) == ["a-3", "b-9", "c-5", "a-1", "b-7", "a-2"]
    for number in range(40):
        (tmp_path / f"d-{number}").write_text("d")
    assert len(ahead.requests(collection)) == 32


def test_they_are_those_that_a_recorder_would_have_compiled():
    """Under the same keys: what a runner tells of a kernel that it launches is what was told ahead."""
    source, path, requests = described(SCALE, traced(torch.zeros(100)))
    assert InChild(request_of_launch)(source, path) == requests
    (made,) = InChild(rebuild)(source, path, requests, patience.LONG_SECONDS).values()
    assert made == InChild(compiled_alone)(source, path, requests[0])


ESCAPES = """
import os, triton
from triton import language as tl

@triton.constexpr_function
def reached(_):
    found = []
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"")
            found.append(f"descriptor {descriptor}")
        except OSError:
            pass
    for file in (f"/proc/{os.getppid()}/mem", FOLDER + "/left"):
        try:
            os.close(os.open(file, os.O_RDWR | os.O_CREAT))
            found.append(file)
        except OSError:
            pass
    raise ValueError("reached " + ", ".join(found))

@triton.jit
def kernel(x, B: tl.constexpr):
    tl.store(x, reached(B))

def run(x):
    kernel[(1,)](x, B=1)
    return x
"""


def test_python_of_a_kernel_reaches_nobody_while_it_is_compiled(tmp_path):
    """It has its own connection alone: neither the referee's nor those of others that compile, and no files."""
    source = ESCAPES.replace("FOLDER", repr(str(tmp_path)))
    said = InChild(what_is_said)(source, str(tmp_path / "candidate.py"))
    assert said
    for line in said:
        assert re.fullmatch(r"descriptor \d+", re.findall(r"reached ([^')]*)", line)[-1]), line


def described(source, *calls):
    """The candidate's source and path, and the requests of what these calls launch."""
    compiled = precompile(source, *calls)
    requests = [json.loads(each) for each in compiled.requests]
    (path,) = {entry["file"] for each in requests for entry in each["description"]["objects"] if "file" in entry}
    return PRELUDE + textwrap.dedent(source), path, requests


def kernel_of(request):
    description = request["description"]
    entry = description["objects"][description["function"]]
    return entry["name"]


def rebuild(source, path, requests, seconds):
    return rebuilt.compile_all(source, path, requests, 2, seconds)


def compiled_alone(source, path, request):
    with compiling(source, path) as send:
        return compiler.loadable(send(request))


def loaded(source, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pathlib.Path(path).write_text(source)
    launches.emulate("sm_90")
    cuda_on_cpu.install("sm_90")
    return module.load(source, path, ["run"], "sm_90", contextlib.nullcontext)[1]


def request_of_launch(source, path):
    """What a runner on a GPU tells its recorder of."""
    told = []
    execution.launch = lambda *_: None
    compilation.remember(path, source)
    stock = triton.compile

    def compile(src, *given, **named):
        made = stock(src, *given, **named)
        told.append(json.loads(json.dumps(src.kbx_request())))
        return made

    triton.compiler.compile = triton.compile = triton.compiler.compiler.compile = compile
    launches._Launcher.__call__ = lambda *_: None
    loaded(source, path)(torch.zeros(100, device="cuda"))
    return told


def what_is_said(source, path):
    """By a kernel that is compiled by one of two processes."""
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    folder = ahead.collect_requests(path, source).folder
    launches.only_compile()
    stock = triton.compile

    def described_alone(src, target=None, options=None, **_):
        (folder / "request").write_text(json.dumps(compilation._request(src, options, 90, path, source)))
        raise RuntimeError

    triton.compiler.compile = triton.compile = triton.compiler.compiler.compile = described_alone
    with contextlib.suppress(RuntimeError):
        loaded(source, path)(torch.zeros(4, device="cuda"))
    triton.compiler.compile = triton.compile = triton.compiler.compiler.compile = stock
    request, said = json.loads((folder / "request").read_text()), []
    answer = compiler.Compiler.answer

    def heard(self):
        said.append(str(pickle.loads(base64.b64decode(answer(self)["failed"]))))
        return {"failed": ""}

    compiler.Compiler.answer = heard
    rebuilt.compile_all(source, path, [request, request | {"arch": 80}], 2, patience.LONG_SECONDS)
    return said
