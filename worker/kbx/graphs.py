"""Records the work of a call as a CUDA graph. A replay runs no Python, so its time has no launch cost.

Oracle and runner record in the same way, each its own side. The C types are taken before a candidate is loaded: assignments
to ``torch.cuda`` do not affect them.
"""

import contextlib
from collections.abc import Callable
from typing import Any, cast

import torch

# Absent from builds without CUDA, and then nobody asks for them.
_Graph, _Stream, _current, _set_current, _new_pool, _close_pool = (
    cast(Any, getattr(torch._C, name, None))
    for name in (
        "_CUDAGraph", "_CudaStreamBase", "_cuda_getCurrentStream", "_cuda_setStream", "_graph_pool_handle",
        "_cuda_endAllocateToPool",
    )
)  # fmt: skip


class Recorded:
    """A call that was recorded: calling it repeats the work, on the same memory, and returns the same ``result``."""

    def __init__(self, graph: torch._C._CUDAGraph, result: Any) -> None:
        self._replay, self.result = graph.replay, result

    def __call__(self) -> Any:
        self._replay()
        return self.result


class Recorder:
    """Records calls on the ``torch.device`` ``device``, which must be the current one."""

    def __init__(self, device: torch.device) -> None:
        self._index = device.index
        stream = _Stream(priority=0)  # The default stream cannot be recorded.
        self._aside = stream.stream_id, stream.device_index, stream.device_type

    def record(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Recorded:
        """Records the call; the device has not run it yet, so its result is undefined.

        Raises what the function raises, or torch's RuntimeError if its work is no fixed sequence: it synchronizes, or
        reads values.
        """
        graph, pool, home = _Graph(), _new_pool(), _current(self._index)
        _set_current(*self._aside)
        try:
            graph.capture_begin(pool=pool, capture_error_mode="global")
            try:
                result = function(*args, **kwargs)
                graph.capture_end()
            except BaseException:
                self._give_up(graph, pool)
                raise
        finally:
            _set_current(*home)
        return Recorded(graph, result)

    def _give_up(self, graph: torch._C._CUDAGraph, pool: tuple[int, int]) -> None:
        """Where a recording fails, some versions of torch leave its pool open for whatever is allocated next, and their random
        generators in the belief that they are being recorded, until a recording ends well."""
        with contextlib.suppress(RuntimeError):
            graph.capture_end()
        with contextlib.suppress(RuntimeError):
            _close_pool(self._index, pool)
        nothing = _Graph()
        with contextlib.suppress(RuntimeError):
            nothing.capture_begin(pool=_new_pool(), capture_error_mode="global")
            nothing.capture_end()
