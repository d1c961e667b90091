"""Compiles the kernels of a candidate before it has a device, so that nobody waits for them where its calls are made again.

The requests are claims of a process that ran the candidate. What is made of each is what ``kbx.executor.compiler`` makes of it, under the
key of the request: a recorder asks for a kernel by the key of what the candidate launched there.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections import deque
from collections.abc import Iterable

from kbx.executor import compiler
from kbx.executor.compiler import Compiler, CompilerEnded, Message
from kbx.runner import linux

NICENESS = 10
"""Whoever is timed meanwhile launches first."""


def compile_all(source: str, path: str, requests: Iterable[Message], processes: int, seconds: float) -> dict[str, str]:
    """Compiles so many kernels at a time, each in a process forked from this one, for at most ``seconds``; as ``loadable`` has them, by
    ``compiler.key_of``. What fails is left out. The caller must not be dumpable: so nobody can look into the processes, or write there.

    ``path``: the candidate's file; ``source``: what is in it.
    """
    waiting, end, made = deque(requests), time.monotonic() + seconds, {}
    free = [_start(source, path) for _ in range(min(processes, len(waiting)))]
    busy: dict[int, tuple[Compiler, Message]] = {}
    while (free and waiting) or busy:
        while free and waiting:
            one = free.pop()
            with contextlib.suppress(CompilerEnded):
                one.ask(waiting[0])
                busy[one.connection.fileno()] = one, waiting.popleft()
        ready, _, _ = select.select(list(busy), [], [], max(0.0, end - time.monotonic()))
        if not ready:
            break
        for descriptor in ready:
            one, request = busy.pop(descriptor)
            with contextlib.suppress(CompilerEnded):
                reply = one.answer()
                free.append(one)
                if "failed" not in reply:
                    made[compiler.key_of(request)] = compiler.loadable(reply)
    return made


def _start(source: str, path: str) -> Compiler:
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        try:
            # Python of the candidate's that a kernel calls while it is compiled runs below this process: it must reach nobody else's answers.
            linux.close_all_but([theirs.fileno()])
            os.nice(NICENESS)
            compiler.serve(theirs)
        finally:
            os._exit(0)
    theirs.close()
    started = Compiler(ours)
    with contextlib.suppress(CompilerEnded):
        started.begin(source, path)
    return started
