"""Forks a process that starts replayers, before the oracle gives up root and before it loads torch."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

from kbx.executor.channel import Channel

_SECONDS = 60
"""Until a replay has been made, its process started and its kernels loaded."""


class Starter:
    """Starts the process, in one that was forked before the oracle gave up its rights."""

    def __init__(self, index: int, uid: int | None) -> None:
        """To be called before there are threads."""
        self._begun: Channel | None = None
        self._asking, asked = socket.socketpair()
        if os.fork() == 0:
            self._asking.close()
            _start_when_asked(asked, ["--index", str(index), *([] if uid is None else ["--uid", str(uid)])])
        asked.close()

    def begin(self) -> None:
        """Starts one that ``start`` will give: it takes seconds until it can make a call, as long as the oracle itself."""
        with contextlib.suppress(OSError):
            self._begun = self._start()

    def start(self) -> Channel:
        """A connection to one that was begun, or to a new one; that before is ended. Raises OSError."""
        begun, self._begun = self._begun, None
        return begun or self._start()

    def _start(self) -> Channel:
        self._asking.sendall(b"+")
        _, descriptors, _, _ = socket.recv_fds(self._asking, 1, 1)
        if not descriptors:
            raise OSError("what starts replayers has ended")
        connection = socket.socket(fileno=descriptors[0])
        connection.settimeout(_SECONDS)
        return Channel(connection)

    def stop(self) -> None:
        """Ends the one that was started last."""
        with contextlib.suppress(OSError):
            self._asking.sendall(b"-")


def _start_when_asked(asked: socket.socket, options: Sequence[str]) -> NoReturn:
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):  # the referee's
        os.dup2(null, descriptor)
    process = None
    with contextlib.suppress(OSError):
        while request := asked.recv(1):
            if process is not None:
                process.kill()
                process.wait()
            if request == b"-":
                continue
            ours, theirs = socket.socketpair()
            command = [sys.executable, "-m", "kbx.executor.replayer", *options]
            process = subprocess.Popen(command, stdin=theirs.fileno(), stdout=2)
            socket.send_fds(asked, [b"+"], [ours.fileno()])
            ours.close()
            theirs.close()
    if process is not None:
        process.kill()
    os._exit(0)
