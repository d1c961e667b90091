"""Compiles launches in parallel processes, whoever makes them: a call, an autotuner of any kind, a loop that looks for a good block.

Where a launch needs a kernel, a forked process compiles it into the common cache and the launch returns at once: no kernel runs
here. This only saves time: what is not compiled here is compiled where it runs.
"""

import contextlib
import hashlib
import os
import tempfile
import threading
import time

from triton.runtime.jit import JITFunction

_LOOK_SECONDS = 0.005


class Compilers:
    """At most ``processes`` that compile at a time, for all processes forked after this was made. They share what has been begun. A ``collection`` of
    ``kbx.runner.compilation`` gets the requests for what each launches, whoever compiles it."""

    def __init__(self, processes, collection=None):
        self._collection, self._noted = collection, set()
        self._begun = tempfile.mkdtemp(prefix="kbx-begun-")
        self._free, self._give_back = os.pipe()
        os.set_blocking(self._free, False)
        os.write(self._give_back, bytes(processes))
        self._processes, self._children, self._stock, self._end = processes, [], None, 0.0

    def begin(self, end):
        """From now on launches of this process are compiled so, until ``end`` on the clock ``time.monotonic``."""
        self._stock, self._end = JITFunction._do_compile, end
        JITFunction._do_compile = lambda function, key, *rest: self._compile(function, key, *rest)

    def only_compile(self):
        """What this process launches is not collected."""
        if self._collection is not None:
            self._collection.goes_on = False

    def finish(self):
        """Waits for what has been begun, and has launches compiled by this process again; returns whether all ended in time."""
        while self._children and time.monotonic() < self._end:
            self._reap()
            time.sleep(_LOOK_SECONDS)
        JITFunction._do_compile = self._stock
        return not self._children

    def settle(self, end):
        """Waits, when the processes that made launches are gone, until nothing of theirs is compiled any more."""
        free = 0
        while free < self._processes and time.monotonic() < end:
            with contextlib.suppress(BlockingIOError):
                free += len(os.read(self._free, self._processes))
                continue
            time.sleep(_LOOK_SECONDS)

    def _compile(self, function, key, *rest):
        """In place of Triton's: None, with which a launch ends."""
        warmup = rest[-1]
        # Who only warms up looks at the kernel. A process forked beside another thread may wait forever for a lock of that thread.
        if warmup or threading.active_count() > 1:
            return self._stock(function, key, *rest)
        kernel = f"{function.cache_key} {key}"
        if not self._claim(kernel):
            self._note(kernel, function, key, *rest)
            return None
        self._noted.add(kernel)
        if not self._take():
            return None
        try:
            pid = os.fork()
        except OSError:
            os.write(self._give_back, b"x")
            return self._stock(function, key, *rest)
        if not pid:
            self._work(function, key, *rest)
        self._children.append(pid)
        return None

    def _work(self, function, key, *rest):
        try:
            JITFunction._do_compile = self._stock
            with contextlib.suppress(Exception):
                self._stock(function, key, *rest)._init_handles()  # some versions compile a launcher there
        finally:
            os.write(self._give_back, b"x")
            os._exit(0)

    def _note(self, kernel, function, key, *rest):
        """Collects the request for what another process compiles, or has compiled."""
        if self._collection is not None and kernel not in self._noted:
            self._noted.add(kernel)
            with contextlib.suppress(Exception):
                self._collection.note(lambda: self._stock(function, key, *rest))

    def _claim(self, kernel):
        """Whether no other process has begun it."""
        try:
            os.close(
                os.open(os.path.join(self._begun, hashlib.sha256(kernel.encode()).hexdigest()), os.O_CREAT | os.O_EXCL)
            )
        except FileExistsError:
            return False
        return True

    def _take(self):
        """Waits until a further process may compile; whether one may."""
        while time.monotonic() < self._end:
            self._reap()
            with contextlib.suppress(BlockingIOError):
                os.read(self._free, 1)
                return True
            time.sleep(_LOOK_SECONDS)
        return False

    def _reap(self):
        for pid in list(self._children):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._children.remove(pid)
                if status:  # it could not give it back itself
                    os.write(self._give_back, b"x")
