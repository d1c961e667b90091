"""What a module takes at its published size, found without memory for any value: what it is lent, returns, holds and works with.

Referee and oracle give it room by that: arenas, the runner's memory, and how many candidates share the device meanwhile.
"""

import functools
import weakref
from dataclasses import dataclass

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from kbx.oracle import session, truth
from kbx.oracle.taskfile import InvalidTask
from kbx.suite.values import tensors


@dataclass(frozen=True)
class Footprint:
    """Bytes; the fields are those of ``messages.Weighed``."""

    lent: int = 0
    returned: int = 0
    weights: int = 0
    working: int = 0


@functools.lru_cache(maxsize=1024)
def of(task):
    """The footprint of a call; zeros where only values tell, and for a task whose cases are small by design."""
    if not task.large:
        return Footprint()
    try:
        with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
            return _weigh(task)
    except InvalidTask:
        return Footprint()  # What is wrong with it shows when it is used.


def _weigh(task):
    call = task.call(task.cases[0], task.distributions[0], "footprint")
    model = task.run("the constructor", task.model, *task.init)
    held = list(model.state_dict(keep_vars=True).values())
    known = Footprint(session.room(call), weights=sum(t.numel() * t.element_size() for t in held))
    alive = _Alive([*truth.argument_tensors(call), *held])
    try:
        with alive:
            value = task.run("the reference", model, *call.args, **call.kwargs)
    except InvalidTask:
        return known
    return Footprint(known.lent, session.result_room(session.result_bytes(value)), known.weights, alive.most)


class _Alive(TorchDispatchMode):
    """Adds up the memory of the tensors that are alive at a time, besides those ``given``."""

    def __init__(self, given):
        super().__init__()
        self.most = self._now = 0
        self._known = {t.untyped_storage()._cdata for t in given}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in tensors(list(result) if isinstance(result, (list, tuple)) else result):
            self._see(tensor.untyped_storage())
        return result

    def _see(self, storage):
        if storage._cdata in self._known:
            return
        self._known.add(storage._cdata)
        self._now += storage.nbytes()
        self.most = max(self.most, self._now)
        weakref.finalize(storage, self._forget, storage._cdata, storage.nbytes())

    def _forget(self, key, nbytes):
        self._known.discard(key)
        self._now -= nbytes
