"""Compares kbx.ttir, which executes Triton IR on the CPU, with a GPU: launch by launch, operation by operation.

    python3 bench/ttir_gpu.py OUT [tasks|operations|tests]...        needs a GPU, torch and triton; without PART: all three

tasks       every honest file of the corpus and of the suites on all cases of its task. Before each launch of a Triton kernel on the GPU the
            same IR is executed on copies of the same memory; afterwards each byte that the kernel could reach is compared.
            Autotuned kernels launch every configuration.
operations  each operation of Triton IR on special values, random bits and random numbers of every dtype: all 65,536 values where an
            operation has one operand of 16 bits. Reductions, scans, atomics and products of matrices, too.
tests       worker/tests/test_ttir_*.py, with each launch repeated on the GPU: 200 random kernels are among them.
KBX_FILES=softmax,conv python3 bench/ttir_gpu.py OUT tasks       only files with such names
KBX_PROCESSES=16                                                  how many at once

A result has the same bits (any NaN is a NaN), or is within the tolerance, or differs. The tolerance, relative to the value plus the
mean of the tensor's values: 1e-5 for float32, 1e-12 for float64, 2^-7 for bfloat16, 2^-10 for float16, a step for the 8-bit formats; and
integers must be equal. OUT/report.txt says what differs and what in the kernel rounds in another way; OUT/launches.jsonl and
OUT/operations.jsonl are all that is not the same.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import hashlib
import importlib.util
import inspect
import itertools
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "worker"), str(ROOT / "worker" / "tests")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
import ttir_launch  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402

from kbx.ttir import executor  # noqa: E402
from kbx.ttir.launch import Launch  # noqa: E402
from kbx.ttir.memory import Memory, Region  # noqa: E402

FILE_SECONDS, TESTS_SECONDS = 150, 240
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 2.0**-7, torch.float16: 2.0**-10,
              torch.float8_e4m3fn: 2.0**-3, torch.float8_e5m2: 2.0**-2}  # fmt: skip
NAMES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "f8E4M3FN", torch.float8_e5m2: "f8E5M2",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8",
}  # fmt: skip
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
EIGHTHS = (torch.float8_e4m3fn, torch.float8_e5m2)
INTS = (torch.int64, torch.int32, torch.int16, torch.int8)

# ---------------------------------------------------------------- comparing


def difference(mine, real, dtype):
    """What differs between two arrays of bytes, or None: counts, the largest error and an example; ``within`` is the tolerance's word."""
    if np.array_equal(mine, real):
        return None
    count = len(mine) // dtype.itemsize * dtype.itemsize
    a, b = (torch.from_numpy(x[:count].copy()).view(dtype) for x in (mine, real))
    if not dtype.is_floating_point:
        bad = a != b
        at = int(torch.nonzero(bad)[0])
        return {"dtype": str(dtype)[6:], "differ": int(bad.sum()), "of": len(a), "kind": int(bad.sum()), "error": None, "ulps": None,
                "at": at, "mine": a[at].item(), "gpu": b[at].item(), "within": False}  # fmt: skip
    a, b = a.double(), b.double()
    bad = ~((a == b) & (torch.signbit(a) == torch.signbit(b)) | (a.isnan() & b.isnan()))
    if not bad.any():
        return None
    info = torch.finfo(dtype)
    finite = a.isfinite() & b.isfinite()
    size = (b[finite].abs().mean() if finite.any() else torch.zeros((), dtype=torch.float64)).clamp(min=info.tiny)
    error = torch.where(finite, (a - b).abs() / (b.abs() + size), 0.0)
    ulps = torch.where(finite, (a - b).abs() / (b.abs() * info.eps).clamp(min=info.tiny * info.eps), 0.0)
    other = bad & ~finite  # infinite or NaN on one side
    at = int(torch.nonzero(other)[0]) if other.any() else int(torch.where(bad, ulps, -1.0).argmax())
    return {"dtype": str(dtype)[6:], "differ": int(bad.sum()), "of": len(a), "kind": int(other.sum()), "error": error.max().item(),
            "ulps": ulps.max().item(), "at": at, "mine": a[at].item(), "gpu": b[at].item(),
            "within": not other.any() and error.max().item() <= TOLERANCES.get(dtype, 0)}  # fmt: skip


def causes(text):
    """What in a kernel a GPU rounds in another way, or does in another order."""
    found = []
    for cause, pattern in (
        ("order of float atomics", r"tt\.atomic_rmw fadd"),
        ("order of sums in products", r"tt\.dot"),
        ("approximate functions", r"math\.(exp|log|sin|cos|sqrt|rsqrt|erf|tanh)|tt\.extern_elementwise|inline_asm"),
        ("approximate division", r"arith\.divf"),
        ("order of sums", r'"tt\.(reduce|scan)".{0,400}?arith\.(addf|mulf)'),
    ):
        if re.search(pattern, text, re.DOTALL):
            found.append(cause)
    if "arith.mulf" in text and re.search(r"arith\.(addf|subf)", text):
        found.append("contraction to fma")
    return found


def bytes_on_host(storage):
    """A copy of a storage of the GPU."""
    if not storage.nbytes():
        return np.zeros(0, np.uint8)
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage).cpu().numpy()


# ---------------------------------------------------------------- processes


def in_children(jobs, work, limit_s, label):
    """Calls ``work(job)``, which gives a list of records, in forked processes; what dies or takes too long is a record of its own."""
    most, left, running, records = int(os.environ.get("KBX_PROCESSES", os.cpu_count() or 1)), list(jobs)[::-1], {}, []
    folder = pathlib.Path(tempfile.mkdtemp())
    while left or running:
        while left and len(running) < most:
            job = left.pop()
            path = folder / f"{len(left)}.json"
            child = os.fork()
            if child == 0:
                signal.alarm(limit_s)
                try:
                    found = work(job)
                except BaseException as error:
                    found = [
                        {
                            "job": label(job),
                            "failed": f"{type(error).__name__}: {error}",
                            "trace": traceback.format_exc()[-1200:],
                        }
                    ]
                path.write_text(json.dumps(found, default=str))
                sys.stdout.flush()
                os._exit(0)
            running[child] = job, path
        child, _ = os.wait()
        job, path = running.pop(child)
        records += (
            json.loads(path.read_text()) if path.exists() else [{"job": label(job), "failed": "died or took too long"}]
        )
    return records


# ---------------------------------------------------------------- tasks


def task_files():
    """Pairs of an honest file and its task's."""
    wanted = [w for w in os.environ.get("KBX_FILES", "").split(",") if w]
    tasks = {p.stem: p for p in sorted((ROOT / "tasks").glob("*/*/*.py")) if p.parent.name != "kernels"}
    files = sorted([*(ROOT / "corpus/honest").glob("*/*.py"), *(ROOT / "tasks").glob("*/*/kernels/*.py")])
    return [(f, tasks[f.stem]) for f in files if f.stem in tasks and (not wanted or any(w in str(f) for w in wanted))]


def on_device(tree):
    """A tree of arguments with its tensors on the GPU; what is one tensor stays one."""
    memo = {}

    def move(x):
        if isinstance(x, torch.Tensor):
            if id(x) not in memo:
                moved = x.detach().to("cuda").requires_grad_(x.requires_grad) if x.is_leaf else x.to("cuda")
                memo[id(x)] = moved, x
            return memo[id(x)][0]
        if isinstance(x, torch.device):
            return torch.device("cuda")
        if isinstance(x, dict):
            return {k: move(v) for k, v in x.items()}
        if isinstance(x, (list, tuple)):
            moved = [move(v) for v in x]
            return type(x)(*moved) if hasattr(x, "_fields") else type(x)(moved)
        return x

    return move(tree)


class Recorder:
    """Stands before each launch of this process on the GPU."""

    def __init__(self):
        self.records, self.call, self._kernels = [], -1, {}

    def install(self):
        from triton.backends.nvidia.driver import CudaLauncher
        from triton.compiler.compiler import CompiledKernel

        loaded, launched = CompiledKernel._init_handles, CudaLauncher.__call__

        def load(kernel):
            done = loaded(kernel)
            kernel._run.kbx = kernel.asm.get("ttir"), kernel.src
            return done

        def launch(launcher, x, y, z, stream, function, packed, metadata, enter, leave, *arguments):
            def real():
                return launched(launcher, x, y, z, stream, function, packed, metadata, enter, leave, *arguments)

            text, source = getattr(launcher, "kbx", (None, None))
            if x * y * z == 0:
                return real()
            with torch._C.DisableTorchFunction(), torch.no_grad():
                return self._compared(text, source, (x, y, z), arguments, real)

        CompiledKernel._init_handles, CudaLauncher.__call__ = load, launch

    def _compared(self, text, source, grid, arguments, real):
        record = {"kernel": source.name, "grid": grid, "call": self.call}
        self.records.append(record)
        torch.cuda.synchronize()
        copies = {}
        try:
            if text is None:
                raise ValueError("no Triton IR")
            started = time.perf_counter()
            record["findings"] = self._execute(text, grid, flat(source, arguments), copies)
            record["seconds"] = time.perf_counter() - started
        except Exception as error:
            record["error"] = f"{type(error).__name__}: {error}"
        done = real()
        torch.cuda.synchronize()
        if "error" not in record:
            found = []
            for memory, storage, dtype in copies.values():
                one = difference(memory, bytes_on_host(storage), dtype)
                if one is not None:
                    found.append(one)
            record["differences"] = found
            if found:
                record["causes"], record["hash"] = causes(text), hashlib.sha256(text.encode()).hexdigest()[:12]
        return done

    def _execute(self, text, grid, arguments, copies):
        kernel = self._kernels.get(text)
        if kernel is None:
            kernel = self._kernels[text] = executor.Kernel(text)
        passed = [ttir_argument(a, lambda tensor: region_of_copy(tensor, copies)) for a in arguments]

        def more():
            known = [
                o for o in gc.get_objects() if isinstance(o, torch.Tensor) and o.is_cuda and o.layout == torch.strided
            ]
            for tensor in known:
                region_of_copy(tensor, copies)
            return [Region(start, memory, "a tensor") for start, (memory, _, _) in copies.items()]

        regions = [Region(start, memory) for start, (memory, _, _) in copies.items()]
        launch = Launch(grid, Memory(regions, more))
        kernel.run(launch, passed)
        return [str(f) for f in launch.findings]


def region_of_copy(tensor, copies):
    storage = tensor.untyped_storage()
    if storage.data_ptr() not in copies and storage.nbytes():
        copies[storage.data_ptr()] = bytes_on_host(storage).copy(), storage, tensor.dtype


def ttir_argument(argument, seen):
    """An argument of Triton's launcher as one of the executor's."""
    if hasattr(argument, "block_shape"):
        seen(argument.base)
        nan, tf32 = getattr(argument, "padding", "zero") == "nan", getattr(argument, "round_f32_to_tf32", False)
        return executor.TensorDescriptor(
            argument.base.data_ptr(), tuple(argument.shape), tuple(argument.strides), nan, tf32
        )
    if hasattr(argument, "data_ptr"):
        tensor = argument if isinstance(argument, torch.Tensor) else getattr(argument, "base", None)
        if isinstance(tensor, torch.Tensor):
            seen(tensor)
        return argument.data_ptr()
    return argument


def flat(source, arguments):
    """Arguments that the IR has parameters for."""
    found = []

    def add(kind, value):
        if kind == "constexpr":
            return
        if isinstance(kind, tuple):
            for one, each in zip(kind, value, strict=False):
                add(one, each)
        else:
            found.append(value)

    for name, argument in zip(source.fn.arg_names, arguments, strict=False):
        add(source.signature.get(name), argument)
    return found


def calls_of(pair):
    """All calls of a task by one file: launches that are not the same, and a summary."""
    from kbx import standins
    from kbx.oracle import taskfile
    from kbx.runner import module, tuning

    file, task_file = pair
    torch.set_num_threads(1)
    standins.install()
    task = taskfile.load(task_file).seeded("seed")
    calls = [task.call(case, task.distributions[0], f"call {i}") for i, case in enumerate(task.cases)]
    tuning.take_every()
    recorder = Recorder()
    recorder.install()
    name, failed, called = str(file.relative_to(ROOT)), [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["TRITON_CACHE_DIR"] = f"{folder}/triton"
        path, source = f"{folder}/candidate.py", file.read_text(encoding="utf-8-sig")
        pathlib.Path(path).write_text(source)
        torch.manual_seed(0)
        _, entry = module.load(source, path, task.entries, "sm_90", contextlib.nullcontext)
        if isinstance(entry, type):
            _, entry = module.construct(entry, task.module("seed"), torch.device("cuda"))
        for i, call in enumerate(calls):
            recorder.call = i
            try:
                entry(*on_device(call.args), **on_device(call.kwargs))
                torch.cuda.synchronize()
                called += 1
            except Exception as error:
                failed.append(f"call {i}: {type(error).__name__}: {str(error)[:200]}")
                if isinstance(error, torch.AcceleratorError):
                    break
    records = recorder.records
    bad = {r["call"] for r in records if r.get("error") or r.get("differences")}
    summary = {"file": name, "task": task_file.stem, "calls": called, "launches": len(records), "failed": failed,
               "same_calls": called - len(bad), "same": sum(not r.get("error") and not r.get("differences") for r in records),
               "seconds": sum(r.get("seconds", 0) for r in records)}  # fmt: skip
    return [
        summary,
        *({**r, "of": name} for r in records if r.get("error") or r.get("differences") or r.get("findings")),
    ]


# ---------------------------------------------------------------- one kernel, on the GPU and here


def compiled(text, **options):
    """A kernel of Triton IR for this GPU."""
    path = pathlib.Path(tempfile.gettempdir()) / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.ttir"
    if not path.exists():
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(text)
        fresh.rename(path)
    major, minor = torch.cuda.get_device_capability()
    return triton.compile(str(path), target=GPUTarget("cuda", 10 * major + minor, 32), options=options)


def run_on_gpu(text, grid, arguments, **options):
    """The memory of all tensors of the CPU among the arguments, by address, as the GPU leaves it."""
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    twins, passed = {}, []
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            storage = argument.untyped_storage()
            if storage.data_ptr() not in twins:
                whole = torch.empty(0, dtype=torch.uint8).set_(storage)
                twins[storage.data_ptr()] = whole.cuda(), argument.dtype
            start = twins[storage.data_ptr()][0]
            at = argument.data_ptr() - storage.data_ptr()
            passed.append(start[at:] if at < len(start) else start)
        else:
            passed.append(argument)
    compiled(text, **options)[(*grid, 1, 1)[:3]](*passed)
    torch.cuda.synchronize()
    return {address: (twin.cpu().numpy(), dtype) for address, (twin, dtype) in twins.items()}


# ---------------------------------------------------------------- operations

LANES = 1024
HEAD = """module {{
  tt.func public @k({parameters}) {{
    %p = tt.get_program_id x : i32
    %w = arith.constant 1024 : i32
    %s = arith.muli %p, %w : i32
    %t = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32>
    %u = tt.splat %s : i32 -> tensor<1024xi32>
    %i = arith.addi %u, %t : tensor<1024xi32>
"""
LOAD = """    %{n}p = tt.splat %{n}_ptr : !tt.ptr<{t}> -> tensor<1024x!tt.ptr<{t}>>
    %{n}q = tt.addptr %{n}p, %i : tensor<1024x!tt.ptr<{t}>>, tensor<1024xi32>
    %{n} = tt.load %{n}q : tensor<1024x!tt.ptr<{t}>>
"""
TAIL = """    %op = tt.splat %o_ptr : !tt.ptr<{t}> -> tensor<1024x!tt.ptr<{t}>>
    %oq = tt.addptr %op, %i : tensor<1024x!tt.ptr<{t}>>, tensor<1024xi32>
    tt.store %oq, {r} : tensor<1024x!tt.ptr<{t}>>
    tt.return
  }}
}}
"""


def text_of(operation, result, *inputs):
    """A kernel of one operation on %a, %b, %c; a ``result`` of None is i1. ``{a}`` is the type of %a, ``{r}`` that of the result."""
    types = dict(zip("abc", (NAMES[d] for d in inputs), strict=False))
    kept = NAMES[result] if result is not None else "i8"
    parameters = ", ".join(f"%{n}_ptr: !tt.ptr<{t}>" for n, t in (*types.items(), ("o", kept)))
    tensors = {n: f"tensor<1024x{t}>" for n, t in types.items()}
    body = operation.format(**tensors, r=f"tensor<1024x{kept if result is not None else 'i1'}>")
    text = HEAD.format(parameters=parameters) + "".join(LOAD.format(n=n, t=t) for n, t in types.items())
    text += f"    %r = {body}\n"
    if result is None:
        text += "    %z = arith.extui %r : tensor<1024xi1> to tensor<1024xi8>\n"
    return text + TAIL.format(t=kept, r="%r" if result is not None else "%z")


def special(dtype):
    """Values at which operations differ."""
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        return [
            0,
            1,
            -1,
            2,
            -2,
            3,
            7,
            -7,
            8,
            15,
            16,
            31,
            32,
            33,
            63,
            64,
            100,
            info.max,
            info.min,
            info.max - 1,
            info.min + 1,
        ]
    info = torch.finfo(dtype)
    positive = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 10.0, 100.0, info.max, info.max / 2, info.tiny, info.tiny / 2, info.tiny * 3,
                info.eps, 1 + info.eps, 1 - info.eps / 2, 127.5, 128.5, 255.5, 32768.0, math.pi, math.nan, math.inf]  # fmt: skip
    return [s * v for v in positive for s in (1, -1)]


def operands(dtypes, seed):
    """Tensors of equal length for an operation: all pairs of special values, random bits and random numbers."""
    generator = torch.Generator().manual_seed(seed)
    if len(dtypes) == 1 and dtypes[0].itemsize <= 2:
        bits = torch.arange(65536, dtype=torch.int32).to(torch.int16 if dtypes[0].itemsize == 2 else torch.uint8)
        return [bits.view(dtypes[0])]
    columns = list(itertools.islice(itertools.product(*(special(d) for d in dtypes)), 8192))
    count, found = 32768, []
    for column, dtype in zip(zip(*columns, strict=False), dtypes, strict=False):
        head = torch.tensor(column, dtype=torch.float64 if dtype.is_floating_point else dtype).to(dtype)
        half = (count - len(head)) // 2
        bits = torch.randint(-(2**31), 2**31, (half * 2,), generator=generator, dtype=torch.int32).view(torch.uint8)
        raw = bits[: half * dtype.itemsize].clone().view(dtype)
        rest = count - len(head) - half
        if dtype.is_floating_point:
            spread = torch.exp(2 * torch.randn(rest, generator=generator, dtype=torch.float64))
            numbers = (torch.randn(rest, generator=generator, dtype=torch.float64) * spread).to(dtype)
        else:
            numbers = torch.randint(-100, 100, (rest,), generator=generator).to(dtype)
        found.append(torch.cat([head, raw, numbers]))
    return found


def arity(function):
    return function.nin if isinstance(function, np.ufunc) else len(inspect.signature(function).parameters)


def elementwise():
    """``name, operation, result, operands``."""
    found = []

    def add(operation, result, *inputs):
        found.append((operation, result, inputs))

    for d in FLOATS:
        for n in ("addf", "subf", "mulf", "divf", "remf", "maxnumf", "minnumf", "maximumf", "minimumf"):
            add(f"arith.{n} %a, %b : {{a}}", d, d, d)
        for n in ("oeq", "olt", "ole", "ogt", "oge", "one", "ord", "ueq", "ult", "ule", "ugt", "uge", "une", "uno"):
            add(f"arith.cmpf {n}, %a, %b : {{a}}", None, d, d)
        for n in (
            "exp",
            "exp2",
            "log",
            "log2",
            "sin",
            "cos",
            "sqrt",
            "rsqrt",
            "erf",
            "floor",
            "ceil",
            "absf",
            "tanh",
            "trunc",
            "roundeven",
        ):
            add(f"math.{n} %a : {{a}}", d, d)
        add("arith.negf %a : {a}", d, d)
        add("math.fma %a, %b, %c : {a}", d, d, d, d)
        for n in ("none", "all"):
            add(f"tt.clampf %a, %b, %c, propagateNan = {n} : {{a}}", d, d, d, d)
        for t in INTS:
            for n in ("fptosi", "fptoui"):
                add(f"arith.{n} %a : {{a}} to {{r}}", t, d)
            for n in ("sitofp", "uitofp"):
                add(f"arith.{n} %a : {{a}} to {{r}}", d, t)
        for t in (*FLOATS, *EIGHTHS):
            if t == d:
                continue
            if t.itemsize < d.itemsize:
                add("tt.fp_to_fp %a, rounding = rtne : {a} -> {r}", t, d)
                add("tt.fp_to_fp %a, rounding = rtz : {a} -> {r}", t, d)
                if t.itemsize > 1:
                    add("arith.truncf %a : {a} to {r}", t, d)
            elif t.itemsize > d.itemsize:
                add("arith.extf %a : {a} to {r}", t, d)
                add("tt.fp_to_fp %a : {a} -> {r}", t, d)
    for d in EIGHTHS:
        for t in FLOATS:
            add("tt.fp_to_fp %a : {a} -> {r}", t, d)
    for d in (torch.float32, torch.float64):
        add("tt.precise_divf %a, %b : {a}", d, d, d)
        add("tt.precise_sqrt %a : {a}", d, d)
    for d in INTS:
        for n in ("addi", "subi", "muli", "divsi", "remsi", "divui", "remui", "andi", "ori", "xori", "shli", "shrsi", "shrui", "maxsi",
                  "minsi", "maxui", "minui"):  # fmt: skip
            add(f"arith.{n} %a, %b : {{a}}", d, d, d)
        for n in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"):
            add(f"arith.cmpi {n}, %a, %b : {{a}}", None, d, d)
        add("math.absi %a : {a}", d, d)
        if d.itemsize >= 4:
            add("tt.mulhiui %a, %b : {a}", d, d, d)
        for t in INTS:
            if t.itemsize > d.itemsize:
                add("arith.extsi %a : {a} to {r}", t, d)
                add("arith.extui %a : {a} to {r}", t, d)
            elif t.itemsize < d.itemsize:
                add("arith.trunci %a : {a} to {r}", t, d)
        add("arith.trunci %a : {a} to {r}", None, d)
    return [*found, *externs()]


def externs():
    """Functions of libdevice of one dtype, and some of integers."""
    from kbx import libdevice

    def text(symbol, count):
        names, kinds = (", ".join(f.format(n=n) for n in "abc"[:count]) for f in ("%{n}", "{{{n}}}"))
        return f'tt.extern_elementwise {names} {{{{libname = "", libpath = "", pure = true, symbol = "{symbol}"}}}} : ({kinds}) -> {{r}}'

    found = []
    for name, function in libdevice._FLOAT.items():
        for suffix, d in (("f", torch.float32), ("", torch.float64)):
            if name == "abs":  # of integers
                continue
            found.append((text(f"__nv_{name}{suffix}", arity(function)), d, (d,) * arity(function)))
    for name in libdevice._FAST:
        count = 2 if name == "powf" else 1
        found.append((text(f"__nv_fast_{name}", count), torch.float32, (torch.float32,) * count))
    found.append((text("__nv_fast_fdividef", 2), torch.float32, (torch.float32,) * 2))
    for letter, d in (("f", torch.float32), ("d", torch.float64)):
        for name, function in libdevice._ARITHMETIC.items():
            symbol = f"__nv_{letter}{name}_rn" if name != "ma" else f"__nv_fma{'f' if letter == 'f' else ''}_rn"
            if not (name == "rsqrt" and letter == "d"):
                found.append((text(symbol, arity(function)), d, (d,) * arity(function)))
    i32, i64 = torch.int32, torch.int64
    for name, count, d in (
        ("abs", 1, i32), ("llabs", 1, i64), ("clz", 1, i32), ("popc", 1, i32), ("brev", 1, i32), ("brevll", 1, i64), ("ffs", 1, i32),
        ("mulhi", 2, i32), ("umulhi", 2, i32), ("mul64hi", 2, i64), ("umul64hi", 2, i64), ("sad", 3, i32), ("usad", 3, i32),
        ("hadd", 2, i32), ("uhadd", 2, i32), ("rhadd", 2, i32), ("urhadd", 2, i32),
    ):  # fmt: skip
        found.append((text(f"__nv_{name}", count), d, (d,) * count))
    for name, source, result in (
        ("isnanf", torch.float32, i32), ("isinff", torch.float32, i32), ("finitef", torch.float32, i32), ("signbitf", torch.float32, i32),
        ("float_as_int", torch.float32, i32), ("int_as_float", i32, torch.float32), ("ilogbf", torch.float32, i32),
        ("llrintf", torch.float32, i64), ("llroundf", torch.float32, i64), ("double_as_longlong", torch.float64, i64),
        *((f"float2{t}_{m}", torch.float32, i32) for t in ("int", "uint") for m in ("rn", "rz", "rd", "ru")),
        *((f"float2{t}_{m}", torch.float32, i64) for t in ("ll", "ull") for m in ("rn", "rz")),
        *((f"double2{t}_{m}", torch.float64, i32) for t in ("int", "uint") for m in ("rn", "rz")),
        ("int2float_rn", i32, torch.float32), ("uint2float_rn", i32, torch.float32), ("ll2float_rn", i64, torch.float32),
        ("ull2double_rn", i64, torch.float64),
    ):  # fmt: skip
        found.append((text(f"__nv_{name}", 1), result, (source,)))
    found.append((text("__nv_nextafterf", 2), torch.float32, (torch.float32,) * 2))
    return found


def name_of(operation, inputs, result):
    symbol = re.search(r'symbol = "(\w+)"', operation)
    short = (
        symbol[1]
        if symbol
        else operation.split(" : ")[0].replace("%a", "").replace("%b", "").replace("%c", "").replace(",", "").strip()
    )
    return f"{' '.join(short.split())} {' '.join(str(d)[6:] for d in inputs)} -> {str(result)[6:] if result is not None else 'i1'}"


def one_operation(operation, result, dtypes):
    inputs = operands(dtypes, seed=1)
    count = len(inputs[0]) // LANES
    text = text_of(operation, result, *dtypes)
    record = {"operation": name_of(operation, dtypes, result), "values": count * LANES}
    kept = result if result is not None else torch.int8
    out = torch.zeros(len(inputs[0]), dtype=torch.uint8 if kept in EIGHTHS else kept).view(kept)
    return compared(record, text, (count,), [*inputs, out], out, inputs)


def compared(record, text, grid, arguments, out, inputs=()):
    """Runs a kernel both ways on tensors of the CPU, of which the last, ``out``, is compared."""
    try:
        real = run_on_gpu(text, grid, arguments)
    except torch.AcceleratorError:
        raise
    except BaseException as error:
        return {**record, "refused": f"{type(error).__name__}: {str(error)[:160]}"}
    try:
        findings = ttir_launch.launch_on_tensors(executor.Kernel(text), grid, arguments)
    except Exception as error:
        return {**record, "error": f"{type(error).__name__}: {error}"}
    if findings:
        record["findings"] = [str(f) for f in findings]
    record["differences"] = differences(arguments, real)
    for found in record["differences"] if inputs else ():
        found["operands"] = [x[found["at"]].item() for x in inputs]
    return record


def differences(arguments, real):
    """What tensors of the CPU and the memory of the GPU have not in common."""
    found = []
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            found.append(
                difference(ttir_launch.region_of(argument).memory, *real[argument.untyped_storage().data_ptr()])
            )
    return [one for one in found if one is not None]


# Kernels of more than one lane at a time.


@triton.jit
def reduce_kernel(x, out, where, KIND: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * M * N + i[:, None] * N + j[None, :])
    at = tl.program_id(0) * M + i
    if KIND == "sum":
        tl.store(out + at, tl.sum(v, axis=1))
    elif KIND == "max":
        tl.store(out + at, tl.max(v, axis=1))
    elif KIND == "min":
        tl.store(out + at, tl.min(v, axis=1))
    elif KIND == "xor":
        tl.store(out + at, tl.xor_sum(v, axis=1))
    elif KIND == "argmax":
        tl.store(where + at, tl.argmax(v, axis=1))
    elif KIND == "argmin":
        tl.store(where + at, tl.argmin(v, axis=1))
    elif KIND == "maxnan":
        w, k = tl.max(v, axis=1, return_indices=True)
        tl.store(out + at, w)
        tl.store(where + at, k)


@triton.jit
def scan_kernel(x, out, KIND: tl.constexpr, REVERSE: tl.constexpr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + at)
    if KIND == "cumsum":
        v = tl.cumsum(v, 0, reverse=REVERSE).to(v.dtype)
    elif KIND == "cumprod":
        v = tl.cumprod(v, 0, reverse=REVERSE).to(v.dtype)
    elif KIND == "sort":
        v = tl.sort(v, descending=REVERSE)
    elif KIND == "flip":
        v = tl.flip(v, 0)
    tl.store(out + at, v)


@triton.jit
def atomic_kernel(x, out, old, KIND: tl.constexpr, SHARED: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.program_id(0) * N + i
    v = tl.load(x + at)
    target = out + (i % SHARED if SHARED else at)
    if KIND == "add":
        r = tl.atomic_add(target, v)
    elif KIND == "max":
        r = tl.atomic_max(target, v)
    elif KIND == "min":
        r = tl.atomic_min(target, v)
    elif KIND == "and":
        r = tl.atomic_and(target, v)
    elif KIND == "or":
        r = tl.atomic_or(target, v)
    elif KIND == "xor":
        r = tl.atomic_xor(target, v)
    elif KIND == "xchg":
        r = tl.atomic_xchg(target, v)
    elif KIND == "cas":
        r = tl.atomic_cas(target, v, v + 1)
    if not SHARED:
        tl.store(old + at, r)


@triton.jit
def dot_kernel(a, b, c, out, P: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    p = tl.program_id(0)
    x = tl.load(a + p * M * K + i[:, None] * K + k[None, :])
    y = tl.load(b + p * K * N + k[:, None] * N + j[None, :])
    z = tl.load(c + p * M * N + i[:, None] * N + j[None, :])
    r = tl.dot(x, y, z, input_precision=P, out_dtype=z.dtype)
    tl.store(out + p * M * N + i[:, None] * N + j[None, :], r)


@triton.jit
def scaled_kernel(a, b, sa, sb, out, KIND: tl.constexpr, PACK: tl.constexpr, B: tl.constexpr, K: tl.constexpr):
    i, j, k, s = tl.arange(0, B), tl.arange(0, B), tl.arange(0, K // PACK), tl.arange(0, K // 32)
    x = tl.load(a + i[:, None] * (K // PACK) + k[None, :])
    y = tl.load(b + k[:, None] * B + j[None, :])
    u = tl.load(sa + i[:, None] * (K // 32) + s[None, :])
    v = tl.load(sb + j[:, None] * (K // 32) + s[None, :])
    tl.store(out + i[:, None] * B + j[None, :], tl.dot_scaled(x, u, KIND, y, v, KIND))


@triton.jit
def chain_kernel(x, y, out, KIND: tl.constexpr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    a, b = tl.load(x + at), tl.load(y + at)
    if KIND == "a*b+a":
        r = a * b + a
    elif KIND == "a*b-b":
        r = a * b - b
    elif KIND == "a-a*b":
        r = a - a * b
    elif KIND == "softplus":
        r = tl.log(1 + tl.exp(-tl.abs(a.to(tl.float32)))) + tl.maximum(a, 0.0)
    elif KIND == "sigmoid":
        r = tl.sigmoid(a.to(tl.float32))
    elif KIND == "softmax":
        r = tl.softmax(a.to(tl.float32))
    elif KIND == "div_rn":
        r = tl.div_rn(a.to(tl.float32), b.to(tl.float32))
    elif KIND == "floordiv":
        r = a // b
    elif KIND == "mod":
        r = a % b
    elif KIND == "cdiv":
        r = tl.cdiv(a, b)
    elif KIND == "rand":
        r = tl.rand(7, at)
    elif KIND == "randn":
        r = tl.randn(7, at)
    elif KIND == "randint":
        r = tl.randint(7, at)
    tl.store(out + at, r)


def together():
    """``name, kernel, grid, arguments, constants`` of what combines lanes."""
    found = []

    def randoms(count, d, seed=0, values=False):
        g = torch.Generator().manual_seed(seed)
        if not d.is_floating_point:
            return torch.randint(-50, 50, (count,), generator=g).to(d)
        x = torch.randn(count, generator=g).to(d)
        if values:
            x[::37], x[5::53], x[7::61] = 0.0, -0.0, math.nan
            x[11::71] = math.inf
        return x

    for d in (*FLOATS, *INTS):
        for kind in ("sum", "max", "min", "argmax", "argmin", "maxnan", *(("xor",) if d in INTS else ())):
            for values in (False, True) if d in FLOATS else (False,):
                x = randoms(4 * 16 * 128, d, 1, values)
                wide = (
                    torch.int32
                    if d in (torch.int8, torch.int16) and kind in ("sum", "max", "min", "xor", "maxnan")
                    else d
                )
                arguments = [x, torch.zeros(64, dtype=wide), torch.zeros(64, dtype=torch.int32)]
                found.append(
                    (
                        f"tl.{kind} of {str(d)[6:]}{' with NaN' if values else ''}",
                        reduce_kernel,
                        (4,),
                        arguments,
                        {"KIND": kind, "M": 16, "N": 128},
                    )
                )
        for kind in ("cumsum", "cumprod", "sort", "flip"):
            for reverse in (False, True):
                x = randoms(4 * 256, d, 2)
                if kind == "cumprod" and d in FLOATS:
                    x = (1 + x.float() / 16).to(d)
                found.append(
                    (
                        f"tl.{kind} of {str(d)[6:]}{' reversed' if reverse else ''}",
                        scan_kernel,
                        (4,),
                        [x, torch.zeros_like(x)],
                        {"KIND": kind, "REVERSE": reverse, "N": 256},
                    )
                )
    for d in (*FLOATS, torch.int32, torch.int64):
        kinds = ("add", "xchg") + (("max", "min") if d not in (torch.float16, torch.bfloat16) else ())
        kinds += ("and", "or", "xor", "cas") if d in INTS else ()
        for kind in kinds:
            for shared in (0, 8):
                if shared and (kind in ("xchg", "cas")):
                    continue
                x = randoms(4 * 128, d, 3, d in FLOATS and not (kind == "add" and shared))
                out = randoms(4 * 128, d, 4)
                found.append(
                    (
                        f"tl.atomic_{kind} of {str(d)[6:]}{' on shared places' if shared else ''}",
                        atomic_kernel,
                        (4,),
                        [x, out, torch.zeros_like(x)],
                        {"KIND": kind, "SHARED": shared, "N": 128},
                    )
                )
    for d, accumulators, precisions in (
        (torch.float16, (torch.float32, torch.float16), ("tf32",)), (torch.bfloat16, (torch.float32,), ("tf32",)),
        (torch.float32, (torch.float32,), ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")), (torch.float64, (torch.float64,), ("ieee",)),
        (torch.float8_e5m2, (torch.float32,), ("tf32",)), (torch.float8_e4m3fn, (torch.float32,), ("tf32",)),
        (torch.int8, (torch.int32,), ("ieee",)),
    ):  # fmt: skip
        for accumulator, precision, whole in itertools.product(accumulators, precisions, (False, True)):
            M = N = K = 64
            a, b = (randoms(4 * M * K, torch.float32, s) for s in (5, 6))
            if whole or d == torch.int8:
                a, b = (a * 3).round(), (b * 3).round()
            c = torch.zeros(4 * M * N) if whole else randoms(4 * M * N, torch.float32, 7)
            arguments = [a.to(d), b.to(d), c.to(accumulator), torch.zeros(4 * M * N, dtype=accumulator)]
            found.append(
                (
                    f"tl.dot {precision} of {str(d)[6:]} to {str(accumulator)[6:]}{', whole numbers' if whole else ''}",
                    dot_kernel,
                    (4,),
                    arguments,
                    {"P": precision, "M": M, "N": N, "K": K},
                )
            )
    for kind, pack in (("e2m1", 2), ("e4m3", 1), ("e5m2", 1)):
        g = torch.Generator().manual_seed(8)
        a, b = (
            torch.randint(0, 256 if pack == 2 else 0x70, (64 * 64 // pack,), generator=g).to(torch.uint8)
            for _ in range(2)
        )
        sa, sb = (torch.randint(120, 134, (64 * 2,), generator=g).to(torch.uint8) for _ in range(2))
        found.append(
            (
                f"tl.dot_scaled of {kind}",
                scaled_kernel,
                (1,),
                [a, b, sa, sb, torch.zeros(64 * 64)],
                {"KIND": kind, "PACK": pack, "B": 64, "K": 64},
            )
        )
    for d in FLOATS:
        for kind in (
            "a*b+a",
            "a*b-b",
            "a-a*b",
            *(("softplus", "sigmoid", "softmax", "div_rn") if d != torch.float64 else ()),
        ):
            x, y = randoms(4096, d, 9), randoms(4096, d, 10)
            wide = torch.float32 if kind in ("softplus", "sigmoid", "softmax", "div_rn") else d
            found.append(
                (
                    f"{kind} of {str(d)[6:]}",
                    chain_kernel,
                    (4,),
                    [x, y, torch.zeros(4096, dtype=wide)],
                    {"KIND": kind, "N": 1024},
                )
            )
    for d in INTS:
        for kind in ("floordiv", "mod", "cdiv"):
            x, y = randoms(4096, d, 9), randoms(4096, d, 10)
            y[y == 0] = 3
            found.append(
                (
                    f"{kind} of {str(d)[6:]}",
                    chain_kernel,
                    (4,),
                    [x, y, torch.zeros(4096, dtype=d)],
                    {"KIND": kind, "N": 1024},
                )
            )
    for kind, d in (("rand", torch.float32), ("randn", torch.float32), ("randint", torch.int32)):
        x = torch.zeros(4096, dtype=torch.int32)
        found.append(
            (f"tl.{kind}", chain_kernel, (4,), [x, x.clone(), torch.zeros(4096, dtype=d)], {"KIND": kind, "N": 1024})
        )
    return found


def some_operations(part):
    """Records of a part of all operations."""
    torch.set_num_threads(1)
    records = []
    for kind, job in part:
        if kind == "lanes":
            records.append(one_operation(*job))
            continue
        name, kernel, grid, arguments, constants = job
        try:
            text = ttir_launch.text_of(kernel, arguments, constants)
        except Exception as error:
            records.append(
                {"operation": name, "refused": f"{type(error).__name__}: {str(error.__cause__ or error)[:160]}"}
            )
            continue
        records.append(compared({"operation": name, "causes": causes(text)}, text, grid, arguments, None))
    return records


# ---------------------------------------------------------------- tests, as a plugin of pytest


def pytest_configure(config):
    """Each launch of a test is repeated on the GPU; what differs is written to the file that KBX_TTIR_GPU names."""
    into = os.environ.get("KBX_TTIR_GPU")
    if not into:
        return
    prepare, execute = executor.Kernel.__init__, ttir_launch.launch_on_tensors

    def keep(kernel, text):
        prepare(kernel, text)
        kernel.text = text

    def both(kernel, grid, arguments, seed=0, order="ascending", checks=True, more=None):
        before = [a.untyped_storage().clone() if isinstance(a, torch.Tensor) else None for a in arguments]
        findings = execute(kernel, grid, arguments, seed, order, checks, more)
        record = {"test": os.environ.get("PYTEST_CURRENT_TEST", "?").split(" ")[0].rpartition("/")[2]}
        if findings or any(hasattr(a, "block_shape") for a in arguments):
            record["left"] = "with a finding" if findings else "descriptors of the host"
        elif "!tt.ptr<i1>" in kernel.text:
            record["left"] = "booleans in memory"
        else:
            mine = [ttir_launch.region_of(a).memory.copy() if isinstance(a, torch.Tensor) else None for a in arguments]
            with contextlib.ExitStack() as after:
                for argument, old, memory in zip(arguments, before, mine, strict=True):
                    if old is not None:
                        argument.untyped_storage().copy_(old)
                        after.callback(
                            lambda a=argument, m=memory: ttir_launch.region_of(a).memory.__setitem__(slice(None), m)
                        )
                try:
                    real = run_on_gpu(kernel.text, grid, arguments)
                    apart = (
                        run_on_gpu(kernel.text, grid, arguments, enable_fp_fusion=False)
                        if "contraction to fma" in causes(kernel.text)
                        else None
                    )
                except BaseException as error:
                    real, apart = None, None
                    record["refused"] = f"{type(error).__name__}: {str(error)[:160]}"
            if real is not None:
                record["differences"] = differences(arguments, real)
                record["causes"] = causes(kernel.text) if record["differences"] else []
                if record["differences"] and apart is not None:
                    record["apart"] = not differences(arguments, apart)
        with open(into, "a") as file:
            file.write(json.dumps(record) + "\n")
        return findings

    executor.Kernel.__init__ = keep
    ttir_launch.launch_on_tensors = both


def run_tests(out):
    """Records of all launches of the tests, and pytest's last line."""
    into = out / "tests.jsonl"
    into.unlink(missing_ok=True)
    home = str(pathlib.Path(__file__).resolve().parent)
    environment = {**os.environ, "KBX_TTIR_GPU": str(into), "KBX_SOAK": "1",
                   "PYTHONPATH": os.pathsep.join([home, str(ROOT / "worker"), str(ROOT / "worker/tests"), os.environ.get("PYTHONPATH", "")])}  # fmt: skip
    names = ("arithmetic", "assembly", "kernels", "random", "waiting")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--noconftest",
        "-p",
        "no:cacheprovider",
        "-p",
        "ttir_gpu",
        "--tb=line",
    ]
    if importlib.util.find_spec("xdist"):
        command += ["-n", os.environ.get("KBX_PROCESSES", "auto")]
    command += [str(ROOT / f"worker/tests/test_ttir_{name}.py") for name in names]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TESTS_SECONDS, cwd=out)
        said = done.stdout.strip().splitlines()
        said = [line[:300] for line in said if line.startswith(("FAILED", "ERROR"))][:30] + said[-1:]
    except subprocess.TimeoutExpired:
        said = [f"pytest took more than {TESTS_SECONDS} s"]
    records = [json.loads(line) for line in into.read_text().splitlines()] if into.exists() else []
    return records, said


# ---------------------------------------------------------------- the report


def level(record):
    if record.get("failed") or record.get("error"):
        return "failed here"
    if record.get("refused"):
        return "refused by Triton"
    if record.get("left"):
        return "left out"
    found = record.get("differences", [])
    if not found:
        return "same bits"
    return "within the tolerance" if all(d["within"] for d in found) else "differ"


def words(d):
    error = "" if d["error"] is None else f", error {d['error']:.2g}, {d['ulps']:.3g} ulp"
    kind = f", {d['kind']} non-finite" if d["kind"] and d["error"] is not None else ""
    operands = (
        f" for {', '.join(format(x, '.9g') if isinstance(x, float) else str(x) for x in d['operands'])}"
        if "operands" in d
        else ""
    )
    return f"{d['dtype']} {d['differ']} of {d['of']}{error}{kind}: {d['mine']!r} here, {d['gpu']!r} there{operands}"


def report_tasks(records, write):
    files = [r for r in records if "file" in r]
    launches = [r for r in records if "of" in r]
    whole = sum(r["launches"] for r in files)
    tasks = {r["task"] for r in files if r["launches"] and not r["failed"]}
    write(
        f"tasks: {len(files)} files of {len({r['task'] for r in files})} tasks, {len(tasks)} with launches and no failed call"
    )
    write(
        f"  {sum(r['calls'] for r in files)} calls, {sum(r['same_calls'] for r in files)} with the same bits in each launch"
    )
    counts = collections.Counter(level(r) for r in launches if level(r) != "same bits")
    counts["same bits"] = sum(r["same"] for r in files)
    write(f"  {whole} launches: " + ", ".join(f"{n} {name}" for name, n in counts.most_common()))
    write(f"  executing them here took {sum(r['seconds'] for r in files):.1f} s of processors")
    for r in records:
        if "failed" in r and r["failed"]:
            write(f"  ! {r.get('file') or r.get('job')}: {r['failed']}")
    by_cause = collections.defaultdict(list)
    for r in launches:
        if r.get("differences"):
            by_cause[level(r), tuple(r["causes"]), max((d["dtype"] for d in r["differences"]), default="")].append(r)
    for (name, why, dtype), group in sorted(by_cause.items(), key=lambda x: (x[0][0], -len(x[1]))):
        worst = max((d["error"] if d["error"] is not None else math.inf) for r in group for d in r["differences"])
        write(
            f"  {name}: {len(group)} launches of {len({r['of'] for r in group})} files, {dtype}, largest error {worst:.2g}: {', '.join(why) or 'no cause known'}"
        )
    seen = set()
    for r in launches:
        key = (r["of"], r["kernel"], level(r))
        if (level(r) in ("differ", "failed here") or r.get("findings")) and key not in seen:
            seen.add(key)
            write(
                f"  ! {r['of']} {r['kernel']} {tuple(r['grid'])} call {r['call']}: {r.get('error') or '; '.join(map(words, r.get('differences', [])))} {r.get('causes', '')} {r.get('findings') or ''}"
            )


def report_operations(records, write, what, brief=False):
    """``brief``: what is within the tolerance only by its causes."""
    counts = collections.Counter(map(level, records))
    write(f"{what}: {len(records)}: " + ", ".join(f"{n} {name}" for name, n in counts.most_common()))
    apart = [r["apart"] for r in records if "apart" in r]
    if apart:
        write(
            f"  of {len(apart)} that are not the same and have products and sums, {sum(apart)} are where the GPU may not contract them to fma"
        )
    alike = collections.defaultdict(list)
    for r in records:
        name = r.get("operation") or r.get("test") or r.get("job")
        kind = level(r)
        if kind == "refused by Triton":
            alike[f"{kind}: {r['refused'].splitlines()[0][:100]}"].append(name)
        elif kind == "left out":
            alike[f"{kind}, {r['left']}"].append("")
        elif brief and kind == "within the tolerance":
            worst = max(d["error"] or 0 for d in r["differences"])
            alike[f"{kind}: {', '.join(r['causes']) or 'no cause known'}"].append(f"{name} {worst:.1g}")
        elif kind != "same bits":
            text = r.get("failed") or r.get("error") or "; ".join(map(words, r["differences"]))
            write(f"  {kind}: {name}: {text}{' (' + ', '.join(r['causes']) + ')' if r.get('causes') else ''}")
        if r.get("findings"):
            write(f"    finding: {r['findings'][0]}")
    for kind, names in sorted(alike.items()):
        listed = sorted({n for n in names if n})
        write(
            f"  {kind}: {len(names)}{': ' + ', '.join(listed[:40]) if listed else ''}{' …' if len(listed) > 40 else ''}"
        )


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    parts = sys.argv[2:] or ["tasks", "operations", "tests"]
    out.mkdir(parents=True, exist_ok=True)
    os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp()
    os.environ["TRITON_CACHE_DIR"] = f"{tempfile.tempdir}/triton"
    with open(out / "report.txt", "w") as file:

        def write(line):
            print(line[:1200], file=file, flush=True)

        write(f"torch {torch.__version__}, triton {triton.__version__}, numpy {np.__version__}, {device_name()}")
        for part in parts:
            started = time.time()
            if part == "tasks":
                from kbx.oracle import taskfile  # noqa: F401  before the fork
                from kbx.runner import module, tuning  # noqa: F401

                records = in_children(task_files(), calls_of, FILE_SECONDS, lambda pair: str(pair[0].relative_to(ROOT)))
                (out / "launches.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
                report_tasks(records, write)
            elif part == "operations":
                jobs = [("lanes", job) for job in elementwise()] + [("together", job) for job in together()]
                step = max(1, len(jobs) // 16)
                records = in_children(
                    [jobs[at::step] for at in range(step)], some_operations, FILE_SECONDS, lambda part: "operations"
                )
                (out / "operations.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
                report_operations(sorted(records, key=lambda r: str(r.get("operation"))), write, "operations")
            elif part == "tests":
                records, said = run_tests(out)
                report_operations(records, write, "launches of tests", brief=True)
                for line in said:
                    write(f"  pytest: {line}")
            write(f"  {part}: {time.time() - started:.0f} s\n")


def device_name():
    """Asked in a child: CUDA must not begin before processes are forked."""
    said = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True
    )
    return said.stdout.strip() or "no GPU"


if __name__ == "__main__":
    main()
