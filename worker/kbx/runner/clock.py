"""Device time of a candidate's calls, read with objects that assignments in Python do not reach.

``torch.cuda.Event`` and its like are classes anyone may change; the C types below them are not, and the functions used here
are taken before a candidate is loaded. Native code in this process can still lie: the referee has a clock of its own.
"""

import ctypes

import torch

_PRIORITIES = (0, -1, -2, -3)
_STREAMS_OF_A_PRIORITY = 32


class Clock:
    """Times calls on the current stream of ``device``. Make it before the candidate's code is loaded."""

    def __init__(self, device, runtime):
        """``runtime`` is the CUDA runtime that torch loaded, a ``ctypes`` library."""
        core = torch._C
        self._event, self._index = core._CudaEventBase, device.index
        self._current, self._set_current = core._cuda_getCurrentStream, core._cuda_setStream
        self._home = self._current(self._index)
        names = ("stream_id", "device_index", "device_type")
        self._main = core._CudaStreamBase(**dict(zip(names, self._home, strict=True)))
        self._streams = Streams(core._CudaStreamBase)
        self._forget = runtime.cudaCtxResetPersistingL2Cache
        self._forget.restype = ctypes.c_int

    def prepare(self):
        """Before a batch: finds streams taken so far, and makes what earlier calls pinned in L2 evictable again."""
        self._streams.look()
        self._forget()

    def time(self, function, args, kwargs):
        """Calls the function; returns its result and two events around its work, for ``elapsed``.

        Streams that the candidate took from torch's pool wait for the first event, and the second one waits for them: on
        such a stream no work starts before the clock or goes on after it. Without such streams this costs nothing.
        """
        begin, end = self._event(enable_timing=True), self._event(enable_timing=True)
        begin.record(self._main)
        for stream in self._streams.taken:
            begin.wait(stream)
        result = function(*args, **kwargs)
        for stream in self._streams.taken:
            done = self._event()
            done.record(stream)
            done.wait(self._main)
        end.record(self._main)
        if self._current(self._index) != self._home:
            self._set_current(*self._home)
        self._streams.look()
        return result, (begin, end)

    @staticmethod
    def elapsed(span):
        """Milliseconds between the two events, which must have happened."""
        begin, end = span
        return begin.elapsed_time(end)


class Streams:
    """The streams of torch's pool that somebody else has taken since this was made.

    The pool of each priority hands out its streams in turn. So a stream taken here is the next one in order, unless the
    candidate has taken those between.
    """

    def __init__(self, take):
        """``take(priority=p)`` returns the next stream of that priority, with its ``stream_id``."""
        self._take = take
        self.taken = []
        pools = {p: [take(priority=p) for _ in range(_STREAMS_OF_A_PRIORITY)] for p in _PRIORITIES}
        # A device with fewer priorities gives the nearest: the same pool under several numbers, each time once around.
        firsts = {pool[0].stream_id: p for p, pool in reversed(pools.items())}
        self._pools = {p: pools[p] for p in firsts.values()}
        self._next = dict.fromkeys(self._pools, 0)

    def look(self):
        """Adds to ``taken`` what was taken since the last look."""
        for priority, pool in self._pools.items():
            mine = self._take(priority=priority).stream_id
            for _ in pool:
                stream = pool[self._next[priority]]
                self._next[priority] = (self._next[priority] + 1) % len(pool)
                if stream.stream_id == mine:
                    break
                if all(stream.stream_id != t.stream_id for t in self.taken):
                    self.taken.append(stream)
