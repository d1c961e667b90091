"""Honest candidates on their tasks' calls: each launch executed from its IR and interpreted as Python, with equal results and no finding."""

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import tempfile

import numpy as np
import patience
import pytest
import second_opinion
import setuptools  # noqa: F401  torch imports it after each fork otherwise
import torch
from triton.compiler.compiler import CompiledKernel
from ttir_launch import launch_on_tensors, region_of

from kbx import standins
from kbx.oracle import taskfile
from kbx.runner import cuda_on_cpu, execution, launches, module
from kbx.ttir.executor import Kernel

ROOT = pathlib.Path(__file__).parents[2]
FILES = sorted([*(ROOT / "corpus/honest").glob("*/*.py"), *(ROOT / "tasks").glob("*/*/kernels/*.py")])[::8]
"""Of 178: all were tried, which takes ten minutes of a processor."""
ROOM = 1e-5
"""Relative difference that a sum in another order makes."""

pytestmark = pytest.mark.sampled(24)


def task_of(file):
    found = [path for path in (ROOT / "tasks").glob(f"kernelbench*/*/{file.stem}.py") if path.parent.name != "kernels"]
    return found[0] if found else None


@pytest.mark.parametrize("file", [f for f in FILES if task_of(f)], ids=lambda f: str(f.relative_to(ROOT)))
def test_both_ways_agree(file):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(int(patience.LONG_SECONDS))
        try:
            found = in_child(file)
        except BaseException as error:
            found = {"failed": f"{type(error).__name__}: {error}"}
        os.write(writing, json.dumps(found).encode()[:60000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    assert answer, "the child died"
    assert json.loads(answer) == {"failed": None, "wrong": []}


def in_child(file):
    """Makes all calls of a task; what went wrong."""
    torch.set_num_threads(1)
    standins.install()
    task = taskfile.load(task_of(file)).seeded("seed")
    calls = [task.call(case, task.distributions[0], f"call {i}") for i, case in enumerate(task.cases)]
    launches.emulate("sm_90")
    cuda_on_cpu.install("sm_90")
    launches._refuse_host_tensors = lambda arguments: None  # inputs made before the device was there
    both = Both()
    both.install()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["TRITON_CACHE_DIR"] = f"{folder}/triton"
        path, source = f"{folder}/candidate.py", file.read_text(encoding="utf-8-sig")
        pathlib.Path(path).write_text(source)
        torch.manual_seed(0)
        _, entry = module.load(source, path, task.entries, "sm_90", contextlib.nullcontext)
        for call in calls:
            entry(*call.args, **call.kwargs)
    return {"failed": None, "wrong": both.wrong}


class Both:
    """Executes each launch by its IR, then as Python; what the latter computes stays."""

    def __init__(self):
        self.wrong, self._text, self._function, self._kernels = [], None, None, {}

    def install(self):
        loaded, launched = CompiledKernel._init_handles, launches._Launcher.__call__

        def load(kernel):
            loaded(kernel)
            kernel._run.text = kernel.asm["ttir"]

        def launch(launcher, *arguments):
            self._text, self._function, launcher._number = launcher.text, launcher._function, 0
            return launched(launcher, *arguments)

        CompiledKernel._init_handles, launches._Launcher.__call__, execution.launch = load, launch, self._launch

    def _launch(self, number, types, grid, arguments):
        function = self._function
        with torch._C.DisableTorchFunction():
            kernel = self._kernels.get(self._text)
            if kernel is None:
                kernel = self._kernels[self._text] = Kernel(self._text)
            given = [a for p, a in zip(function.params, arguments, strict=True) if types.get(p.name) != "constexpr"]
            tensors = [a for a in (getattr(g, "base", g) for g in given) if isinstance(a, torch.Tensor)]
            memories = list({t.untyped_storage().data_ptr(): bytes_of(t) for t in tensors}.values())
            before = [memory.copy() for memory in memories]
            findings = launch_on_tensors(kernel, grid, given, more=known_tensors)
            self.wrong += [str(finding) for finding in findings]
            mine = [memory.copy() for memory in memories]
            for memory, old in zip(memories, before, strict=True):
                memory[:] = old
        second_opinion.launch(function, types, grid, arguments)
        for one, other in zip(mine, memories, strict=True):
            if not np.array_equal(one, other) and not self._near(tensors, one, other):
                self.wrong.append(f"{function.__name__} over {grid}: other results")

    def _near(self, tensors, one, other):
        """Whether values are the same but for the order of sums and the bits of NaN."""
        for dtype in {t.dtype for t in tensors if t.dtype.is_floating_point}:
            with torch._C.DisableTorchFunction():
                count = len(one) // dtype.itemsize * dtype.itemsize
                a, b = (torch.from_numpy(np.array(x[:count])).view(dtype).double() for x in (one, other))
                same = (a == b) | (a.isnan() & b.isnan())
                scale = b[b.isfinite()].abs().mean() if b.isfinite().any() else 0
                room = max(ROOM, torch.finfo(dtype).eps if dtype.itemsize < 4 else 0)
                if (same | ((a - b).abs() <= room * (b.abs() + scale))).all():
                    return True
        return False


def bytes_of(tensor):
    storage = tensor.untyped_storage()
    if not storage.nbytes():
        return np.zeros(0, np.uint8)
    return np.frombuffer((ctypes.c_uint8 * storage.nbytes()).from_address(storage.data_ptr()), np.uint8)


def known_tensors():
    """All storages of this process: their addresses may lie in memory."""
    import gc

    found = {}
    for each in gc.get_objects():
        if isinstance(each, torch.Tensor) and each.layout == torch.strided and each.untyped_storage().nbytes():
            found.setdefault(each.untyped_storage().data_ptr(), each)
    return [region_of(tensor, "a tensor") for tensor in found.values()]
