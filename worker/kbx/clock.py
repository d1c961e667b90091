"""Times calls on the device. Oracle and runner use the same code: any difference between them would bias every speedup.

A candidate can patch classes such as ``torch.cuda.Event``, but not the C types below them. This module uses the C types, and takes
them before a candidate is loaded.
"""

import contextlib
import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import torch

from kbx.context import Context

# The C class under torch.Tensor cannot be assigned to.
_copy, _fill = torch._C.TensorBase.copy_, torch._C.TensorBase.fill_
_empty, _empty_like = torch.empty, torch.empty_like
# Absent from builds without CUDA, and then nobody asks for them.
_Event, _Stream = (cast(Any, getattr(torch._C, f"_Cuda{name}Base", None)) for name in ("Event", "Stream"))
_current, _set_current, _wait, _statistics, _reset_peaks = (
    cast(Any, getattr(torch._C, f"_cuda_{name}", None))
    for name in ("getCurrentStream", "setStream", "synchronize", "memoryStats", "resetPeakMemoryStats")
)
_NoFunctionModes, _NoDispatchModes = torch._C.DisableTorchFunction, torch._C._DisableTorchDispatch


class Call(NamedTuple):
    """A call to be timed; ``inputs`` are the tensors among its arguments."""

    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: dict[str, Any]
    inputs: list[torch.Tensor]


class Timed(NamedTuple):
    """The measured times of one call."""

    ms: float
    host_bound: bool
    """Whether the device reached the call before the host had launched all of it, and so may have waited for the host."""
    peak_bytes: int | None = None
    """The most that PyTorch's allocator held during the call, its result included, beyond what it held before; None if it does not
    tell."""


class Before(NamedTuple):
    """What the device does before each call."""

    flush_bytes: int
    """Written at least once, which flushes L2."""
    lead: int
    """As in ``messages.runner.Measure``."""
    warm: bool
    """Whether the inputs are read last, so that L2 holds as much of them as fits."""


class Clock:
    """Times calls on the ``torch.device`` ``device``, which must be the current one; make it before the candidate's code is loaded."""

    def __init__(self, device: torch.device) -> None:
        self._device, self._home = device, _current(device.index)
        self._main = _Stream(**dict(zip(("stream_id", "device_index", "device_type"), self._home, strict=True)))
        self._context = Context()
        self._all = _Event()
        self._all.record(self._main)  # makes it

    @property
    def lacks(self) -> str | None:
        """As ``Context.lacks``."""
        return self._context.lacks

    def forget(self) -> None:
        """Resets pinned lines in L2. Calls right after take up to 0.4 us longer, so do this for a batch, not for each call."""
        self._context.forget()

    def time(self, calls: Sequence[Call], before: Before, done: Callable[[Call, Any], None]) -> list[Timed]:
        """A ``Timed`` for each call; ``done`` takes every call and its result, after its time.

        Before each call the device waits for the host, then gets work of the same length. So the host's run-ahead is the same for
        every call and on both sides. It would not be if all calls were submitted at once.
        """
        with _NoFunctionModes(), _NoDispatchModes():
            flush = _empty(before.flush_bytes, dtype=torch.uint8, device=self._device)
        spans, overtaken, peaks = [], [], []
        with _no_collections():
            for call in calls:
                span = self._prepare(call, flush, before)
                held = self._held()
                result = self._run(call, *span, before.lead)
                spans.append(span)
                overtaken.append(span[0].query())
                peaks.append(self._beyond(held))  # only now: it takes the host time
                done(call, result)
                del result
        _wait()
        times = [begin.elapsed_time(end) for begin, end in spans]
        return [Timed(*each) for each in zip(times, overtaken, peaks, strict=True)]

    def _held(self) -> int | None:
        """Bytes that the allocator holds, whose peak begins here."""
        if self._device.type != "cuda":
            return None
        _reset_peaks(self._device.index)
        return int(_statistics(self._device.index)["allocated_bytes"]["all"]["current"])

    def _beyond(self, held: int | None) -> int | None:
        if held is None:
            return None
        return int(_statistics(self._device.index)["allocated_bytes"]["all"]["peak"]) - held

    def _prepare(
        self, call: Call, flush: torch.Tensor, before: Before
    ) -> tuple[torch._C._CudaEventBase, torch._C._CudaEventBase]:
        begin, end = _Event(enable_timing=True), _Event(enable_timing=True)
        with _NoFunctionModes(), _NoDispatchModes():
            for event in (begin, end):
                event.record(self._main)  # makes it, which takes time
            _wait()
            for _ in range(before.lead if before.warm else max(1, before.lead)):
                _fill(flush, 1)
            for tensor in call.inputs if before.warm else ():
                _copy(_empty_like(tensor), tensor)
            if not before.lead:
                _wait()
        return begin, end

    def _run(self, call: Call, begin: torch._C._CudaEventBase, end: torch._C._CudaEventBase, lead: int) -> Any:
        """Makes the call between the events: on every stream its work starts after the first event and ends before the second."""
        begin.record(self._main)
        if lead:  # else the device passes it at once
            self._context.wait(begin)
        try:
            result = call.function(*call.args, **call.kwargs)
            # Recorded for the context, ``end`` itself comes up to 0.4 us late, and not in all processes alike.
            self._context.record(self._all)
            self._all.wait(self._main)
            end.record(self._main)
        finally:
            if _current(self._device.index) != self._home:
                _set_current(*self._home)
        return result


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """Disables garbage collection, which would add to the time of an arbitrary call."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def peak_bytes(timed: Sequence[Timed]) -> int | None:
    """The largest of what calls held; None if it is not known."""
    return max((each.peak_bytes for each in timed if each.peak_bytes is not None), default=None)
