"""Estimates the memory of a module, or of a user's own reference, at its largest size, on shapes alone: arguments, results, weights and intermediate values.

The estimate determines the arenas, the runner's memory, and how many candidates share the device.
"""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kbx.messages import oracle as messages
from kbx.oracle import session, truth
from kbx.oracle.fakes import fake_tensors
from kbx.oracle.models import ModelTask
from kbx.oracle.task import InvalidTask, Task
from kbx.suite import Call
from kbx.suite.values import tensors

MOST_OPERATIONS = 5000
"""Operations of the reference after which it is left at what was seen: one that walks along a sequence has little at a time, and
each operation takes a millisecond here."""


LEAST_ARENA = 1 << 30
CONTEXTS = 2 << 30
"""CUDA contexts of oracle and runner, and what libraries work in."""


@dataclass(frozen=True)
class Footprint:
    """Bytes, as in ``messages.oracle.MemoryEstimated``. ``working``: most that the reference holds at a time besides arguments and weights."""

    lent: int = 0
    returned: int = 0
    weights: int = 0
    working: int = 0

    @property
    def device(self) -> int:
        """What judging takes of the device: both arenas; in the oracle arguments, results and weights, and all of it in float64
        with what the reference works in; in the runner weights and what the candidate works in."""
        if self == Footprint():
            return 0
        arenas = max(LEAST_ARENA, self.lent) + max(LEAST_ARENA, self.returned)
        oracle = 3 * (self.lent + self.weights) + 2 * (self.returned + self.working)
        return arenas + oracle + self.weights + self.working + CONTEXTS

    def message(self, id_: int) -> messages.MemoryEstimated:
        """As ``messages.oracle.MemoryEstimated``."""
        return messages.MemoryEstimated(id_, self.lent, self.returned, self.weights, self.device)


@functools.lru_cache(maxsize=1024)
def of(task: Task) -> Footprint:
    """The footprint of a call; zeros where only values tell, and for a task whose cases are small by design."""
    if not task.large:
        return Footprint()
    try:
        with fake_tensors(), torch.no_grad():
            return _estimate(task)
    except InvalidTask:
        return Footprint()  # What is wrong with it shows when it is used.


def _estimate(task: Task) -> Footprint:
    made = [task.call(size, task.distributions[0], "footprint") for size in task.sizes]
    call = max(made, key=session.room)
    reference, held = task.traced()
    names = task.state if isinstance(task, ModelTask) else ()
    state = [operator.attrgetter(name)(reference) for name in names]
    lent = session.room(Call((*call.args, *state), call.kwargs))
    known = Footprint(lent, weights=sum(t.numel() * t.element_size() for t in held))
    alive = _Alive([*truth.argument_tensors(call), *held])
    try:
        with alive:
            value = task.run("the reference", reference, *call.args, **call.kwargs)
    except InvalidTask:
        return replace(known, working=alive.most)
    returned = session.result_room(session.result_bytes(value))
    return replace(known, returned=returned, working=alive.most)


class _Alive(TorchDispatchMode):
    """Adds up the memory of the tensors that are alive at a time, besides those ``given``."""

    def __init__(self, given: Iterable[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's
        self.most = self._now = self._operations = 0
        self._known = {t.untyped_storage()._cdata for t in given}

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        self._operations += 1
        if self._operations > MOST_OPERATIONS:
            raise RuntimeError(f"over {MOST_OPERATIONS} operations")
        result = function(*args, **(kwargs or {}))
        for tensor in tensors(list(result) if isinstance(result, (list, tuple)) else result):
            self._see(tensor.untyped_storage())
        return result

    def _see(self, storage: torch.UntypedStorage) -> None:
        if storage._cdata in self._known:
            return
        self._known.add(storage._cdata)
        self._now += storage.nbytes()
        self.most = max(self.most, self._now)
        weakref.finalize(storage, self._forget, storage._cdata, storage.nbytes())

    def _forget(self, key: int, nbytes: int) -> None:
        self._known.discard(key)
        self._now -= nbytes
