"""The oracle's requests, one at a time."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import math
import os
import pathlib
import platform
import time
from importlib import metadata
from typing import TYPE_CHECKING, Literal, Protocol

import torch

import kbx
from kbx import PROTOCOL, clock, cores
from kbx.messages import Failed, Hello, Message, Request
from kbx.messages import oracle as messages
from kbx.oracle import (
    backward_files,
    controls,
    faults,
    footprint,
    models,
    own_references,
    session,
    shape_tracing,
    taskfile,
)
from kbx.oracle.baselines import CompiledReference, NotCompiled
from kbx.oracle.bench import Bench, NotRecorded
from kbx.oracle.devices import CpuDevice
from kbx.oracle.judge import Judgement
from kbx.oracle.task import InvalidTask, Task, Unsupported
from kbx.protocol import ProtocolError, decode, encode

if TYPE_CHECKING:
    from kbx.oracle.arenas import SharedArena
    from kbx.oracle.cuda import CudaDevice


class _AboutTask(Protocol):
    """A request that names a task file."""

    task: str
    dtype: str | None


log = logging.getLogger(__name__)

_PROBED = 1 << 20
"""Elements that a probe adds up."""
_SOME_GPU = "cuda:0"
"""A task has its published sizes on any GPU, and nothing is made there to estimate its memory."""


class Server:
    """Answers requests with messages. ``device`` is a ``CpuDevice`` or a ``CudaDevice``."""

    def __init__(self, device: CpuDevice | CudaDevice) -> None:
        self.device = device
        self.traced_for: str | None = None
        self.session: session.Session | None = None
        self.runner: int | None = None
        self.bench: Bench | None = None
        self.compiled: CompiledReference | None = None

    def hello(self) -> Hello:
        """The first message."""
        return Hello(
            protocol=PROTOCOL, role="oracle", pid=os.getpid(), versions=_versions(), device=self.device.describe(),
            data_address=self.device.data_address,
        )  # fmt: skip

    def answer(self, payload: bytes) -> bytes:
        """The encoded answer to one frame's payload. What a request did wrong ends in ``Failed``, never in an exception."""
        request = None
        try:
            request = decode(payload, messages.REQUESTS)
            return encode(getattr(self, "_" + type(request).TYPE)(request))
        except InvalidTask as error:
            return self._failed(request, "invalid_task", error.message, error.file, error.line)
        except Unsupported as error:
            return self._failed(request, "unsupported", str(error))
        except (ProtocolError, RecursionError, session.WrongOrder) as error:
            return self._failed(request, "internal", str(error))
        except Exception as error:
            if not faults.full(error):
                log.exception("request failed")
                return self._failed(request, "internal", f"{type(error).__name__}: {error}")
            answer = self._failed(request, "memory", str(error))
        # Not while the exception is handled: it holds on to all that there was no room for.
        with contextlib.suppress(RuntimeError):  # where the context is broken, the next request says so
            self.device.trim()
        return answer

    def _failed(
        self,
        request: Request | None,
        reason: Literal["invalid_task", "unsupported", "memory", "internal"],
        message: str,
        file: str | None = None,
        line: int | None = None,
    ) -> bytes:
        id_ = request.id if request else -1
        return encode(Failed(id_, reason, message[:4000], file, line))

    def trace_for_gpus(self) -> None:
        """Shapes are traced for GPUs from now on."""
        self.traced_for = _SOME_GPU

    def _trace_shapes(self, request: messages.TraceShapes) -> Message:
        task = self._task(request, self.traced_for)
        return messages.ShapesTraced(
            request.id,
            task.entries,
            shape_tracing.calls(task, request.timed),
            task.module("shapes"),
            list(task.mutates),
            own_references.numbers(task),
            backward_files.upstream(task),
        )

    def _trace_largest_shapes(self, request: messages.TraceLargestShapes) -> Message:
        task = self._task(request)
        found = shape_tracing.largest(task)
        if found is None:
            raise Unsupported(
                "the shapes of every benchmark size depend on the values of tensors, so none can be known ahead"
            )
        return messages.LargestShapesTraced(request.id, task.entries, *found)

    def _estimate_memory(self, request: messages.EstimateMemory) -> Message:
        return footprint.of(taskfile.load(request.task, _SOME_GPU)).message(request.id)

    def _open(self, request: messages.Open) -> Message:
        start = time.monotonic()
        self._end_session()
        try:
            return self._opened(request, start)
        except Exception:
            self.device.withdraw(request.runner)  # it may be waiting for its arenas
            raise

    def _opened(self, request: messages.Open, start: float) -> Message:
        task = self._task(request)
        task.check_room()
        if request.published:
            task = taskfile.published(task)
        arenas = self.device.arenas(request.timed, (request.lent, request.returned))
        beside = None if request.expert is None else self._more_arenas(request, arenas)
        self.session = session.Session(
            task,
            request.seed,
            arenas,
            self.device.torch_device,
            request.alone,
            schemes=request.schemes,
            executor=lambda: None if request.timed else self.device.executor(request.runner),
            memory_checks=request.memory_checks,
            operations=request.operations,
            properties=request.properties,
            expert=beside,
            replayer=None if request.timed else self.device.replayer,
            kernels=request.kernels,
        )
        self.runner = request.runner
        core = self.device.core if request.timed else None
        if core is not None and not cores.keep_to(core):
            core = None
        self.device.offer(request.runner, arenas, request.timed)
        return messages.Opened(
            request.id, task.entries, [a.describe() for a in arenas],
            [] if request.timed else [c.message(task) for c in self.session.calls],
            [
                {"index": i, "shape": shape_tracing.shown(task, size), "weight": task.shares[i] if task.shares else None}
                for i, size in enumerate(task.sizes)
            ],
            time.monotonic() - start, task.module(request.seed), task.scaled, task.constant, core,
            None if beside is None else [a.describe() for a in beside],
        )  # fmt: skip

    def _more_arenas(
        self, request: messages.Open, arenas: tuple[SharedArena, SharedArena]
    ) -> tuple[SharedArena, SharedArena]:
        """Another pair for the expert's runner; where there is no room for it, the first is given up as well."""
        try:
            return self.device.arenas(request.timed, (request.lent, request.returned))
        except Exception:
            for arena in arenas:
                arena.close()
            raise

    def _prepare(self, request: messages.Prepare) -> Message:
        current = self._current()
        if current.is_idle(request.call):
            return messages.Prepared(request.id, [], {}, idle=True)
        args, kwargs = current.prepare(request.call)
        self.device.synchronize()
        if current.task.large or current.calls[request.call].sized:
            self.device.trim()  # What the truth was made in is room for the candidate.
        return messages.Prepared(request.id, args, kwargs)

    def _check(self, request: messages.Check) -> Message:
        self.device.synchronize()
        return self._checked(request.id, self._current().check(request.call, request.value))

    def _locate(self, request: messages.Locate) -> Message:
        self.device.synchronize()
        return messages.Located(request.id, self._current().locate(request.call, request.value))

    def _change_weights(self, request: messages.ChangeWeights) -> Message:
        return messages.WeightsChanged(request.id, self._current().change_weights())

    def _close(self, request: messages.Close) -> Message:
        self._end_session()
        self._drop_compiled()
        return messages.Closed(request.id)

    def _verify_task(self, request: messages.VerifyTask) -> Message:
        start = time.monotonic()
        task = self._task(request)
        task.check_room()
        device = self.device.torch_device
        report = controls.verify(task, request.seed, device, request.alone)
        if task.large:
            self.device.trim()
        return messages.TaskVerified(request.id, report, time.monotonic() - start)

    def _prepare_size(self, request: messages.PrepareSize) -> Message:
        self.bench = None
        round_ = f"{request.phase} {request.round}"
        self.bench = self.device.bench(self._current(), request.size, request.sets, round_)
        return self.bench.message(request.id)

    def _lend_size(self, request: messages.LendSize) -> Message:
        return messages.LentSize(request.id, self._lent(request.expert).lend())

    def _baseline(self, request: messages.Baseline) -> Message:
        start = time.monotonic()
        try:
            timed = self._prepared_size().baseline(request.lead, request.warm, request.graph)
        except NotRecorded as error:
            return messages.BaselineMeasured(request.id, [], time.monotonic() - start, unrecorded=str(error))
        end = time.monotonic()
        state = self.device.state()  # before the clocks have time to fall
        return messages.BaselineMeasured(
            request.id, [each.ms for each in timed], end - start, state, time.monotonic() - end,
            host_bound=sum(each.host_bound for each in timed), peak_bytes=clock.peak_bytes(timed),
        )  # fmt: skip

    def _check_size(self, request: messages.CheckSize) -> Message:
        return self._checked(request.id, self._lent(request.expert).check(request.slots, request.values))

    def _probe(self, request: messages.Probe) -> Message:
        start = time.monotonic()
        found = int(torch.arange(_PROBED, device=self.device.torch_device).sum())
        if found != _PROBED * (_PROBED - 1) // 2:
            raise RuntimeError(f"the device computed a wrong sum: {found}")
        return messages.Probed(request.id, time.monotonic() - start)

    def _measure_peaks(self, request: messages.MeasurePeaks) -> Message:
        return messages.Peaks(request.id, self.device.peaks(request.glance), self.device.state())

    def _compile_baseline(self, request: messages.CompileBaseline) -> Message:
        start = time.monotonic()
        self._drop_compiled()
        task = self._task(request)
        failure = None
        try:
            self.compiled = self.device.compiled(task, request.size, request.kind, request.seed)
        except NotCompiled as error:
            failure = str(error)
        return messages.BaselineCompiled(request.id, time.monotonic() - start, failure)

    def _compare_baseline(self, request: messages.CompareBaseline) -> Message:
        start = time.monotonic()
        if self.compiled is None:
            raise session.WrongOrder("no baseline is compiled")
        eager_ms, compiled_ms = self.compiled.compare(request.sets, request.round, request.lead, request.warm)
        state = self.device.state()
        return messages.BaselineCompared(request.id, eager_ms, compiled_ms, time.monotonic() - start, state)

    def _task(self, request: _AboutTask, device: str | None = None) -> Task:
        task = taskfile.load(request.task, device or self.device.torch_device)
        return task if request.dtype is None else models.at(task, request.dtype)

    def _checked(self, id_: int, judgement: Judgement) -> Message:
        fields = {k: v for k, v in vars(judgement).items() if k not in ("value", "read")}
        # No JSON holds another number, and a wrong result must not become a failure to say so.
        fields["metrics"] = {k: v for k, v in judgement.metrics.items() if math.isfinite(v)}
        return messages.Checked(id_, **fields, schemes=self._current().task.contract.schemes_left)

    def _current(self) -> session.Session:
        if self.session is None:
            raise session.WrongOrder("no task is open")
        return self.session

    def _prepared_size(self) -> Bench:
        if self.bench is None:
            raise session.WrongOrder("no size is prepared")
        return self.bench

    def _lent(self, expert: bool) -> Bench:
        bench = self._prepared_size()
        return bench.of_expert if expert else bench

    def _drop_compiled(self) -> None:
        if self.compiled:
            self.compiled.close()
        self.compiled = None

    def _end_session(self) -> None:
        self.bench = None
        if self.session:
            self.device.withdraw(self.runner)
            self.session.close()
            self.session = None
            self.device.trim()


def _fingerprint() -> str:
    """The first digits of the SHA-256 of this package's sources: a changed judge must not repeat an old verdict."""
    digest = hashlib.sha256()
    package = pathlib.Path(kbx.__file__).parent
    for path in sorted(p for pattern in ("*.py", "*.cpp", "*.h") for p in package.rglob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _versions() -> dict[str, str]:
    """``python, torch, triton`` (the last only where it is installed), and ``worker``: which judge this is."""
    found = {"python": platform.python_version(), "torch": torch.__version__, "worker": _fingerprint()}
    if importlib.util.find_spec("triton"):
        found["triton"] = metadata.version("triton")
    return found
