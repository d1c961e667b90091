"""Arenas in CPU memory, and the socket over which they are handed to runners."""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Sequence

import torch

from kbx.executor.channel import EXECUTOR, Channel
from kbx.messages import ArenaDescription
from kbx.oracle import listening
from kbx.tensors import Arena

CAPACITY = 1 << 30
"""Bytes of each arena. Sparse: only pages that were written take memory."""

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
"""A runner that could truncate its arena would kill the oracle by SIGBUS."""
_PEER_TIMEOUT = 5
"""Seconds that a peer on the data socket may take for its four bytes."""
_EXECUTOR_TIMEOUT = 60
"""Seconds for an answer, on a busy machine: nothing runs when it is asked."""
_MOST_TOLD = 1 << 30
"""Bytes that an executor may say at a time: the results and arguments of a call that was made again."""
_PAUSE = 0.1
"""Seconds before the data socket listens again where it could not."""


class SharedArena(Arena):
    """An arena that a runner maps as well."""

    def describe(self) -> ArenaDescription:
        """As in ``messages.runner.Attach``."""
        raise NotImplementedError

    def close(self) -> None:
        """Gives the memory back."""
        raise NotImplementedError


class MemoryArena(SharedArena):
    """A sealed memfd that this process has mapped."""

    device = torch.device("cpu")

    def __init__(self, name: str, least: int = 0) -> None:
        super().__init__(name, max(CAPACITY, least))
        self.fd = os.memfd_create(f"kbx-{name}", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
        os.ftruncate(self.fd, self.capacity)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, _SEALS)
        self.memory = mmap.mmap(self.fd, self.capacity)

    def typed(self, offset: int, count: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=offset)

    def describe(self) -> ArenaDescription:
        """As in ``messages.runner.Attach``."""
        return {"name": self.name, "bytes": self.capacity}

    def close(self) -> None:
        """Gives the memory back. The mapping itself goes when the last tensor that points into it does."""
        os.close(self.fd)
        del self.memory


class DataSocket:
    """Hands each runner its arenas, once: the zygote connects and writes the runner's number (u32, big endian) and gets the
    two descriptors by SCM_RIGHTS with a JSON list of ``{"name", "bytes"}``. The runner's executor gets them as well, and is asked
    on that connection from then on.

    On a GPU nobody fetches arenas, and the zygote hands the connection to a runner's recorder over when it has introduced it
    (``hands_over``): that takes an executor's place.

    Connections and ``offer`` may come in either order. Peers of another user than this one or root are turned away.
    """

    def __init__(self, listener: socket.socket | None = None, hands_over: bool = False) -> None:
        self._hands_over, self._arrived = hands_over, threading.Condition()
        self._listener = listener or listening.anywhere()
        self.address = self._listener.getsockname()[1:].decode()
        self._lock = threading.Lock()
        self._waiting: dict[int, socket.socket] = {}
        self._offered: dict[int, Sequence[MemoryArena]] = {}
        self._executors: dict[int, Channel | None] = {}
        threading.Thread(target=self._accept, name="kbx-data", daemon=True).start()

    def offer(self, runner: int, arenas: Sequence[MemoryArena]) -> None:
        """Gives ``runner`` and its executor the arenas now, or when they connect."""
        for peer in (runner, runner | EXECUTOR):
            with self._lock:
                self._offered[peer] = arenas
            self._match(peer)

    def executor(self, runner: int) -> Channel | None:
        """A runner's executor, once the runner is attached; None where it has none. One that is handed over is waited for."""
        if self._hands_over:
            with self._arrived:
                if not self._arrived.wait_for(lambda: runner in self._executors, _PEER_TIMEOUT):
                    self._executors[runner] = None
        with self._lock:
            return self._executors.get(runner)

    def withdraw(self, runner: int) -> None:
        """Forgets a runner: its arenas are about to be closed."""
        with self._lock:
            left: list[socket.socket | Channel | None] = [
                self._waiting.pop(peer, None) for peer in (runner, runner | EXECUTOR)
            ]
            left.append(self._executors.pop(runner, None))
            for peer in (runner, runner | EXECUTOR):
                self._offered.pop(peer, None)
        for connection in left:
            if connection is not None:
                connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # no descriptors left, until others give some back
                time.sleep(_PAUSE)
                continue
            self._welcome(connection)

    def _welcome(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(_PEER_TIMEOUT)
            if _peer_uid(connection) not in (0, os.getuid()):
                raise OSError("foreign peer")
            (runner,) = struct.unpack(">I", connection.recv(4, socket.MSG_WAITALL))
            if self._hands_over:
                _, (descriptor,), _, _ = socket.recv_fds(connection, 1, 1)
                connection.close()
                connection = socket.socket(fileno=descriptor)
        except (OSError, ValueError, struct.error):
            connection.close()
            return
        with self._lock:
            # Of runners that ended before they were offered anything nobody else tells.
            stale = [r for r, waiting in self._waiting.items() if r == runner or _hung_up(waiting)]
            for each in stale:
                self._waiting.pop(each).close()
            self._waiting[runner] = connection
        self._match(runner)

    def _match(self, runner: int) -> None:
        with self._lock:
            if runner not in self._offered or runner not in self._waiting:
                return
            arenas, connection = self._offered.pop(runner), self._waiting.pop(runner)
            body = json.dumps([a.describe() for a in arenas]).encode()
            # A runner that died first is its zygote's to report.
            with contextlib.suppress(OSError):
                socket.send_fds(connection, [body], [a.fd for a in arenas])
            if runner & EXECUTOR:
                connection.settimeout(_EXECUTOR_TIMEOUT)
                self._executors[runner ^ EXECUTOR] = Channel(connection, _MOST_TOLD)
            else:
                connection.close()
        with self._arrived:
            self._arrived.notify_all()


def _hung_up(connection: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connection, 0)  # what is always told suffices
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _peer_uid(connection: socket.socket) -> int:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    uid: int = struct.unpack("3i", credentials)[1]
    return uid
