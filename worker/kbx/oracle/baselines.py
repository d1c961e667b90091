"""The reference under ``torch.compile``, against eager PyTorch: the baselines besides eager.

A process of its own does this (see ``compiler_cache``). A compiler that hangs can be ended without losing a candidate, and its caches,
threads and CUDA graphs are not in the process that judges.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from kbx import suite
from kbx.clock import Call
from kbx.oracle import judge, truth
from kbx.oracle.session import WrongOrder
from kbx.oracle.task import InvalidTask, Task

if TYPE_CHECKING:
    from kbx.oracle.cuda import CudaDevice

MODES = {"compile": "default", "max-autotune": "max-autotune"}
"""Modes of ``torch.compile`` by the name of the baseline."""
FIRST_CALLS = 3
"""Calls before anything is timed. With CUDA graphs the first warms up, the second records, the third replays."""
CAPACITY = 8 << 30
"""Bytes of arguments that one round holds at most."""
REASON_CHARACTERS = 300


class NotCompiled(Exception):
    """There is no such baseline for this size; the text says why."""


class CompiledReference:
    """The reference of ``task`` compiled for one benchmark size, known to be right there.

    Making one compiles, which may take minutes; raises NotCompiled or InvalidTask. ``device`` is a ``CudaDevice``. Use one at
    a time: ``torch.compile`` keeps its state in the process.
    """

    def __init__(self, task: Task, size: int, kind: str, seed: str, device: CudaDevice) -> None:
        if kind not in MODES or not 0 <= size < len(task.sizes):
            raise WrongOrder(f"there is no baseline {kind!r} of size {size}")
        task = task.seeded(seed)
        self.task, self.seed, self.device = task, seed, device
        self.parameters, self.stem = task.sizes[size], f"{seed}/{task.name}/baseline {size}"
        torch.compiler.reset()
        # Shapes are those of this size alone, as they are for who deploys a kernel for it.
        self.function = torch.compile(task.compilable, dynamic=False, mode=MODES[kind])
        with _reasons():
            self._look()

    def compare(self, sets: int, round_: int, lead: int, warm: bool = False) -> tuple[list[float], list[float]]:
        """Device milliseconds of eager and of compiled, each on the same fresh sets; who is first changes with every round."""
        calls = self.calls(sets, round_)
        order: list[Callable[..., Any]] = [self.task.reference, self.function]
        if round_ % 2:
            order.reverse()
        with torch.no_grad():
            times = {f: [t.ms for t in self.device.time([_timed(f, c) for c in calls], lead, warm)] for f in order}
        return times[self.task.reference], times[self.function]

    def calls(self, sets: int, round_: int) -> list[suite.Call]:
        """Fresh sets for one round, fewer than ``sets`` where there is no room for all."""
        first = self._make(f"{round_}/0")
        nbytes = sum(t.numel() * t.element_size() for t in truth.argument_tensors(first))
        room = min(CAPACITY, self.device.room())
        return [first, *(self._make(f"{round_}/{k}") for k in range(1, min(sets, room // max(1, nbytes))))]

    def close(self) -> None:
        """Gives back what compiling left in memory; CUDA graphs keep pools of their own."""
        del self.function
        torch.compiler.reset()
        gc.collect()
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()

    def _look(self) -> None:
        """Calls often enough that no timed call is a first one, and judges the last result as a candidate's would be."""
        call = self._make("look")
        before = _graphs()
        for _ in range(FIRST_CALLS):
            value = None  # A CUDA graph writes its next results where this one lies.
            mine = truth.copy_call(call)
            torch.manual_seed(truth.seed_number(self.seed))
            with torch.no_grad():
                value = self.function(*mine.args, **mine.kwargs)
        if _graphs() == before:
            raise NotCompiled("torch.compile compiled nothing of it: all of it would run in eager PyTorch")
        judgement = judge.judge_made(
            self.task, lambda: call, self.seed, lambda known: judge.examine_own(self.task, known, value, mine)
        )
        if judgement.status != "correct":
            raise NotCompiled(f"the compiled reference is wrong: {judgement.status}: {judgement.message}")

    def _make(self, turn: str) -> suite.Call:
        made = self.task.call(
            self.parameters, self.task.plain, f"{self.stem}/{turn}", self.device.torch_device, fast=True
        )
        return self.task.inside(made)


def _timed(function: Callable[..., Any], call: suite.Call) -> Call:
    return Call(function, call.args, call.kwargs, truth.argument_tensors(call))


def _graphs() -> int:
    """Graphs that were compiled in this process so far."""
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"]


@contextlib.contextmanager
def _reasons() -> Iterator[None]:
    """Whatever a compiler raises becomes the reason why there is no baseline."""
    try:
        yield
    except (NotCompiled, InvalidTask):
        raise
    except Exception as error:
        first, *more = f"{type(error).__name__}: {error}".strip().splitlines()
        text = f"{first} {more[0]}" if more and first.endswith(":") else first
        raise NotCompiled(text[:REASON_CHARACTERS]) from error
