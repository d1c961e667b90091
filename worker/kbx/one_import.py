"""Imports torch once for the zygote and the first oracle on the CPU: torch takes longer to import than all else before the first verdict.

The process that was started as the zygote imports torch, forks both, and from then on only waits for them. It has seen nothing else: neither a
seed nor a task nor a candidate, no variable of the referee's environment, and no descriptor of the oracle, which that receives itself.
Both live apart as if each had been started. Every further oracle, every one on a GPU, and every confined one is started.

To the referee, what was started as the oracle is the oracle: it hands its arguments, environment and first three descriptors to the fork, and ends
as that does. Whatever goes wrong, it imports torch itself.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import NoReturn

from kbx import bytecode
from kbx.runner import linux

_SECONDS_TO_MEET = 10.0
"""How long the oracle looks for the process that is to import torch. Started at the same time, both begin within a tenth of a second on an
idle machine."""
_LENGTH = struct.Struct(">I")
_TAKEN = b"+"
_STATUS = struct.Struct(">i")
_CREDENTIALS = struct.Struct("3i")


# ---------------------------------------------------------------- in what was started as the zygote


def fork_from_here(address: str, zygote: Callable[[], None]) -> None:
    """Imports torch and, if an oracle waits at ``address`` by then, forks it and the zygote, and does not return. Otherwise returns: this
    process is the zygote.

    To be called in a clean environment, before any thread has been started.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    gc.disable()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind("\0" + address)
        listener.listen(4)
        listener.setblocking(False)
        bytecode.keep()
        importlib.import_module("torch")
        waiting = _waiting(listener)
    # Nobody can reach this process any more, and no candidate has been heard of yet.
    if waiting is None or not _can_fork():
        return
    gc.freeze()
    oracle = _fork(lambda: _be_oracle(waiting), {waiting.fileno()})
    _wait(_fork(zygote, {0, 1}), oracle, waiting)


def _can_fork() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))  # Linux 5.3
    except OSError:
        return False
    return len(os.listdir("/proc/self/task")) == 1


def _waiting(listener: socket.socket) -> socket.socket | None:
    """The connection of the oracle that the same referee has started; None without one."""
    with contextlib.suppress(BlockingIOError):
        while True:
            connection, _ = listener.accept()
            if _is_sibling(connection):
                connection.setblocking(True)
                return connection
            connection.close()
    return None


def _is_sibling(connection: socket.socket) -> bool:
    """Whether the process at the other end has this user and this parent."""
    pid, uid, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        return uid == os.geteuid() and int(stat.read().rpartition(")")[2].split()[1]) == os.getppid()
    return False


def _fork(program: Callable[[], None], kept: set[int]) -> int:
    """Forks a process that keeps these descriptors and stderr, runs the program and ends; its process id."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before that was set
            os._exit(1)
        _close_all_but({*kept, 2})
        program()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(status)


def _close_all_but(kept: set[int]) -> None:
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor not in kept:
            with contextlib.suppress(OSError):  # the list's own
                os.close(descriptor)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in {0, 1} - kept:
        if null != standard:
            os.dup2(null, standard)
    if null > 2:
        os.close(null)


def _be_oracle(connection: socket.socket) -> None:
    header, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, 3, socket.MSG_WAITALL)
    arguments, environment = json.loads(_received(connection, *_LENGTH.unpack(header)))
    for standard, descriptor in enumerate(descriptors):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    connection.sendall(_TAKEN)
    connection.close()  # the process that waits has it, too
    os.environ.clear()
    os.environ.update(environment)
    if "numpy.random" in sys.modules:
        # As Python's own, which does so by itself: runners have a copy of what it was.
        sys.modules["numpy.random"].seed()
    sys.argv = arguments
    importlib.import_module("kbx.oracle.__main__").main()


def _wait(zygote: int, oracle: int, connection: socket.socket) -> NoReturn:
    """Ends as the zygote does, and the oracle with it. The oracle also ends with the process that stands for it, which learns how it ended."""
    _close_all_but({connection.fileno(), 2})
    zygote_end, oracle_end = os.pidfd_open(zygote), os.pidfd_open(oracle)
    poll = select.poll()
    poll.register(zygote_end, select.POLLIN)
    poll.register(oracle_end, select.POLLIN)
    poll.register(connection, 0)  # which tells of its end
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if zygote_end in ready:
            _end(os.waitstatus_to_exitcode(os.waitpid(zygote, 0)[1]))
        if oracle_end in ready:
            poll.unregister(oracle_end)
            with contextlib.suppress(OSError):
                connection.sendall(_STATUS.pack(os.waitstatus_to_exitcode(os.waitpid(oracle, 0)[1])))
            oracle_end = -1
        if connection.fileno() in ready:
            poll.unregister(connection)
            if oracle_end >= 0:
                os.kill(oracle, signal.SIGKILL)


def _end(code: int) -> NoReturn:
    """Ends as a process did that exited with ``code`` or, where that is negative, by a signal."""
    if code < 0:
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(abs(code))


def _received(connection: socket.socket, count: int) -> bytes:
    """That many bytes, or fewer at the end."""
    data = b""
    while len(data) < count and (part := connection.recv(count - len(data))):
        data += part
    return data


# ---------------------------------------------------------------- in what was started as the oracle


def hand_over(address: str, arguments: list[str]) -> None:
    """Has the process at ``address`` fork the oracle with these arguments, waits for its end, and ends likewise. Returns if there is no such
    process, or it forks none: this process is then the oracle itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = _connected(address)
    if connection is None:
        return
    with connection:
        try:
            body = json.dumps([arguments, dict(os.environ)]).encode()
            socket.send_fds(connection, [_LENGTH.pack(len(body))], [0, 1, 2])
            connection.sendall(body)
            taken = _received(connection, len(_TAKEN)) == _TAKEN
        except OSError:
            taken = False
        if taken:
            status = b""
            with contextlib.suppress(OSError):
                status = _received(connection, _STATUS.size)
            _end(_STATUS.unpack(status)[0] if len(status) == _STATUS.size else 1)


def _connected(address: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    end = time.monotonic() + _SECONDS_TO_MEET
    while time.monotonic() < end:
        try:
            connection.connect("\0" + address)
        except OSError:
            time.sleep(0.01)
            continue
        if _is_sibling(connection):
            return connection
        break
    connection.close()
    return None
