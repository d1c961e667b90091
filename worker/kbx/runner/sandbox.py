"""Between ``fork`` in the zygote and the first line of untrusted code.

Three processes per runner. The *monitor*, child of the zygote, enters new namespaces. *Init*, pid 1 of the pid namespace,
builds the file tree, reaps orphans and reports how the runner ended; when it exits or is killed the kernel ends every
process of the namespace, however it was detached. The *runner* gives up every privilege and serves. Without a GPU there are two more
beside it, as confined and out of its reach: the *compiler* and the *executor*, see ``kbx.executor``.

A protection that this machine refuses is skipped and said so: see ``Protections``. All of it works as root and as an
ordinary user.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import dataclasses
import fcntl
import gc
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

from kbx.executor.channel import Executor
from kbx.messages.zygote import Protection, Spawn
from kbx.runner import landlock, linux, mounts, seccomp

CONTROL_FD, DATA_FD = 3, 4
"""Where the runner finds its two sockets."""
STATUS_FD, ORACLE_FD, HEAP_FD = 5, 6, 7
"""Of the processes that it descends from, and of the executor."""
_OPEN_FILES = 1024
_NO_CORE = 1
"""Bytes of a core dump. One is too few for a file, and the kernel's mark for "no dump"; 0 still pipes one to a handler."""
_NAMESPACES = (
    ("files", linux.CLONE_NEWNS), ("processes", linux.CLONE_NEWPID), ("network", linux.CLONE_NEWNET),
    ("ipc", linux.CLONE_NEWIPC | linux.CLONE_NEWUTS),
)  # fmt: skip


class Protections:
    """What is active, by name, for ``kbx doctor``; filled by the processes on the way down."""

    def __init__(self) -> None:
        self._found: dict[str, Protection] = {}

    def set(self, name: str, active: bool, detail: str) -> None:
        self._found[name] = {"name": name, "active": active, "detail": detail}

    def refused(self, name: str, error: OSError) -> None:
        self.set(name, False, getattr(error, "strerror", None) or str(error))

    def active(self, name: str) -> bool:
        return name in self._found and self._found[name]["active"]

    def note(self, name: str, text: str) -> None:
        self._found[name]["detail"] += f"; {text}"

    def as_list(self) -> list[Protection]:
        return list(self._found.values())


class Beside(Protocol):
    """Main loops of the processes beside a runner, see ``kbx.executor``."""

    def execute(
        self, runner: socket.socket, oracle: socket.socket, compiler: socket.socket, heap: int | None
    ) -> object: ...

    def compile_for(self, executor: socket.socket) -> object: ...


@dataclasses.dataclass
class Cell:
    """Everything one runner is given: the request, its descriptors, its file tree, its entry."""

    spawn: Spawn
    tree: mounts.Tree
    control: socket.socket
    data: socket.socket | None
    output: int
    """Write end of the pipe that becomes its stdout and stderr."""
    status: int
    """Write end of the pipe to the zygote: JSON lines ``init``, ``ready`` or ``refused``, then ``ended``."""
    scratch: str
    """Folder to make and use where there is no mount namespace."""
    serve: Callable[[socket.socket, socket.socket | None, Spawn, Executor | None], object]
    """``serve(sock, data_sock, spawn, executor)``: the runner's main loop."""
    oracle: socket.socket | None = None
    """The executor's connection to the oracle; None where the runner gets no executor."""
    heap: int | None = None
    """The file in memory that runner and executor share, of ``HEAP_BYTES``; None where there is none."""
    beside: Beside | None = None
    """What runs beside the runner then."""
    watched: bool = False
    """Whether ``control`` is sent, first of all, the descriptor by which denied calls and connections are counted and answered."""
    loopback: bool = False
    """Whether the runner may connect to itself: it was asked for, and nobody else is there to be connected to."""

    @property
    def uid(self) -> int:
        """The user the runner becomes: as asked when root, the present one otherwise."""
        return self.spawn.uid if os.geteuid() == 0 and self.spawn.uid else os.geteuid()

    def tell(self, **line: object) -> None:
        os.write(self.status, json.dumps(line).encode() + b"\n")


def launch(cell: Cell) -> NoReturn:
    """Body of the monitor, called in a fresh fork of the zygote; never returns."""
    _run_and_exit(lambda: _monitor(cell), cell)


def _run_and_exit(body: Callable[[], int], cell: Cell) -> NoReturn:
    code = 70
    try:
        code = body()
    except BaseException as error:  # whatever happens, a forked copy must not run on in the zygote's loop
        with contextlib.suppress(OSError):
            cell.tell(refused=f"{type(error).__name__}: {error}")
    finally:
        os._exit(code)


# ---------------------------------------------------------------- monitor


def _monitor(cell: Cell) -> int:
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    os.umask(0o022)
    _move_descriptors(cell)
    protections = Protections()
    enter_namespaces(protections)
    if cell.spawn.loopback and protections.active("network"):
        _raise_loopback(cell, protections)
    init = os.fork()
    if init == 0:
        _run_and_exit(lambda: _init(cell, protections), cell)
    cell.tell(init=init)
    os.close(STATUS_FD)
    os.waitpid(init, 0)
    return 0


def _move_descriptors(cell: Cell) -> None:
    """Puts the cell's descriptors at their known numbers and closes every other one, the zygote's among them."""
    null = os.open(os.devnull, os.O_RDONLY)
    data = null if cell.data is None else cell.data.fileno()
    # Duplicates above the target numbers first: a source may itself lie on a target.
    oracle = null if cell.oracle is None else cell.oracle.fileno()
    heap = null if cell.heap is None else cell.heap
    sources = (null, cell.output, cell.output, cell.control.fileno(), data, cell.status, oracle, heap)
    for target, fd in enumerate([fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HEAP_FD + 1) for fd in sources]):
        os.dup2(fd, target, inheritable=target <= 2)
    os.closerange(HEAP_FD + 1, os.sysconf("SC_OPEN_MAX"))
    cell.status = STATUS_FD


def enter_namespaces(protections: Protections) -> None:
    """New namespaces, all in one call where the kernel grants that, else each that it grants."""
    if os.geteuid() == 0:
        protections.set("user", True, "")
    else:
        _enter_user_namespace(protections)
    wanted = 0
    for _, flags in _NAMESPACES:
        wanted |= flags
    try:
        linux.unshare(wanted)
        for name, _ in _NAMESPACES:
            protections.set(name, True, "own namespace")
    except OSError:
        for name, flags in _NAMESPACES:
            try:
                linux.unshare(flags)
                protections.set(name, True, "own namespace")
            except OSError as error:
                protections.refused(name, error)


def _raise_loopback(cell: Cell, protections: Protections) -> None:
    cell.loopback = True
    try:
        linux.raise_loopback()
        protections.note("network", "with its own loopback")
    except OSError as error:  # Unix sockets, which is what ncu 2024.1 uses, need no interface
        protections.note("network", f"its loopback is down: {error.strerror}")


def _enter_user_namespace(protections: Protections) -> None:
    """A user namespace that maps only this user: it makes the other namespaces possible without root."""
    uid, gid = os.geteuid(), os.getegid()
    try:
        linux.unshare(linux.CLONE_NEWUSER)
        _map_ids(uid, gid)
        protections.set("user", True, f"user namespace, uid {uid}")
    except OSError as error:
        protections.refused("user", error)


def _map_ids(uid: int, gid: int) -> None:
    # An undumpable process does not own its files in /proc, so could not write its own map.
    linux.prctl(linux.PR_SET_DUMPABLE, 1)
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    finally:
        linux.prctl(linux.PR_SET_DUMPABLE, 0)


# ---------------------------------------------------------------- init


def _init(cell: Cell, protections: Protections) -> int:
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    _enter_tree(cell, protections)
    executor = None
    if cell.oracle is not None and cell.beside is not None:
        executor = _start_executor(cell, cell.beside, protections)
    runner = os.fork()
    if runner == 0:
        _run_and_exit(lambda: _runner(cell, protections, executor), cell)
    os.closerange(0, STATUS_FD)
    os.closerange(ORACLE_FD, os.sysconf("SC_OPEN_MAX"))
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid == runner:
            cell.tell(ended=status, peak=usage.ru_maxrss << 10)
            return 0


def _enter_tree(cell: Cell, protections: Protections) -> None:
    cell_scratch = cell.scratch
    if protections.active("files") and protections.active("processes"):
        try:
            note = mounts.enter(cell.tree, cell.spawn.file_bytes, cell.uid)
            protections.set("files", True, "read-only root with the system and Python")
            if note:
                protections.note("processes", note)
            cell.scratch = "/tmp"
            return
        except OSError as error:
            protections.refused("files", error)
    elif protections.active("files"):
        protections.set("files", False, "no pid namespace, so no /proc of its own")
    os.mkdir(cell_scratch, 0o700)
    os.chown(cell_scratch, cell.uid, -1)


# ---------------------------------------------------------------- executor and compiler


def _start_executor(cell: Cell, beside: Beside, protections: Protections) -> Executor:
    """Forks both; the runner's end of its connection to the executor, with the memory that they share."""
    (ours, theirs), (compiling, compiler) = socket.socketpair(), socket.socketpair()
    heap = None if cell.heap is None else HEAP_FD
    _fork(cell, protections, [compiler.fileno()], lambda: beside.compile_for(compiler), own_scratch=True)
    kept = [theirs.fileno(), compiling.fileno(), ORACLE_FD, *([] if heap is None else [heap])]
    _fork(cell, protections, kept, lambda: beside.execute(theirs, socket.socket(fileno=ORACLE_FD), compiling, heap))
    for end in (theirs, compiling, compiler):
        end.close()
    return Executor(ours, heap)


def _fork(
    cell: Cell, protections: Protections, kept: Sequence[int], serve: Callable[[], object], own_scratch: bool = False
) -> None:
    """Starts a process of kbx's beside the runner, confined like it, with no descriptors but those ``kept``. Nobody may trace it. With
    ``own_scratch`` no other process sees the files that it writes on its way, if that can be had."""

    def body() -> int:
        linux.close_all_but([STATUS_FD, *kept])
        if own_scratch and protections.active("files"):
            cell.scratch = mounts.enter_own_scratch(cell.spawn.file_bytes)
        _confine(cell, copy.deepcopy(protections))
        os.close(STATUS_FD)
        cell.status = -1  # the number is another descriptor's from now on
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        serve()
        return 0

    if os.fork() == 0:
        _run_and_exit(body, cell)


# ---------------------------------------------------------------- runner


def _runner(cell: Cell, protections: Protections, executor: Executor | None) -> int:
    os.close(ORACLE_FD)
    if executor is None or executor.heap is None:
        os.close(HEAP_FD)
    _confine(cell, protections)
    linux.prctl(linux.PR_SET_DUMPABLE, 1)  # CUDA and torch read their own /proc/self
    be_first_to_go()  # as an ordinary user, whose /proc/self is only now its own
    cell.tell(ready=protections.as_list())
    os.close(STATUS_FD)
    return _serve(cell, executor)


def _confine(cell: Cell, protections: Protections) -> None:
    os.setsid()
    be_first_to_go()  # as root, so that it cannot be taken back
    _reset_environment(cell)
    os.chdir(cell.scratch)
    _become(cell.uid, protections)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)  # after setuid, which clears it
    _limit(cell.spawn, protections)
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.drop_capabilities()
    # Only where it reaches nothing but itself: sockets of other programs are files, too.
    cell.loopback = cell.loopback and protections.active("files")
    _restrict_files(cell, protections)
    _filter_calls(cell, protections)


def be_first_to_go() -> None:
    """If memory runs out in spite of all limits (buffers of sockets count for none), a runner is ended and nobody else."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _reset_environment(cell: Cell) -> None:
    kept = {k: os.environ[k] for k in ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_HOME") if k in os.environ}
    scratch, cuda = cell.scratch, cell.spawn.device == "cuda"
    os.environ.clear()
    os.environ.update(
        kept,
        HOME=scratch, TMPDIR=scratch, TRITON_CACHE_DIR=f"{scratch}/triton", USER="runner", LOGNAME="runner",
        TORCH_EXTENSIONS_DIR=f"{scratch}/extensions",
        CUDA_VISIBLE_DEVICES=(cell.tree.gpu or str(cell.spawn.device_index)) if cuda else "",
    )  # fmt: skip
    tempfile.tempdir = None  # what the zygote found is not there
    if cuda:
        # Each connection takes its time to make and to end. Kernels use none of those for copies; copies of several streams wait for
        # one another.
        os.environ["CUDA_DEVICE_MAX_COPY_CONNECTIONS"] = "1"
    if cuda and not cell.spawn.concurrent:
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"


def _become(uid: int, protections: Protections) -> None:
    """Drops root for ``uid`` and no groups, in a user namespace so that the limit on processes is this runner's own."""
    if os.geteuid() != 0 or uid == 0:
        if uid == 0:
            protections.set("user", False, "runs as root: no user id was given")
        return
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    detail = f"uid {uid}"
    try:
        linux.unshare(linux.CLONE_NEWUSER)
        _map_ids(uid, uid)
        detail += " in its own user namespace"
    except OSError as error:
        detail += f", which shares its limit on processes with that user's other processes ({error.strerror})"
    protections.set("user", True, detail)


def _limit(spawn: Spawn, protections: Protections) -> None:
    limits = [
        (resource.RLIMIT_CORE, _NO_CORE, _NO_CORE),
        (resource.RLIMIT_CPU, spawn.cpu_seconds, spawn.cpu_seconds + 1),
        (resource.RLIMIT_FSIZE, spawn.file_bytes, spawn.file_bytes),
        (resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES),
        (resource.RLIMIT_NPROC, spawn.processes, spawn.processes),
    ]
    detail = f"{spawn.memory_bytes >> 20} MiB resident, watched"
    if spawn.device != "cuda":  # CUDA reserves address space far beyond what it uses
        limits.append((resource.RLIMIT_DATA, spawn.memory_bytes, spawn.memory_bytes))
        detail = f"{spawn.memory_bytes >> 20} MiB of data for each process, and resident for all together"
    for which, soft, hard in limits:
        ceiling = resource.getrlimit(which)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(which, (soft, hard))
    protections.set("memory", True, detail)
    protections.set("cpu", True, f"{spawn.cpu_seconds} s for each process")


def _restrict_files(cell: Cell, protections: Protections) -> None:
    rules = [(path, landlock.DEVICE) for path in cell.tree.devices]
    if protections.active("files"):
        rules += [("/", landlock.READ), ("/tmp", landlock.WRITE)]
    else:
        rules += [(path, landlock.READ) for path in (*cell.tree.readable, "/proc")]
        rules += [(cell.scratch, landlock.WRITE)]
    # CUDA writes the names of its threads to /proc/self, and shared memory objects are files.
    rules += [("/dev/shm", landlock.WRITE), ("/proc", landlock.READ | landlock.WRITE_FILE)]
    try:
        protections.set("landlock", True, f"version {landlock.restrict(rules, tcp=cell.loopback)}")
    except OSError as error:
        protections.refused("landlock", error)


def _filter_calls(cell: Cell, protections: Protections) -> None:
    try:
        if not _watches(cell):
            seccomp.install(gpu=cell.spawn.device == "cuda", loopback=cell.loopback)
        protections.set("seccomp", True, "filter of system calls")
    except OSError as error:
        protections.refused("seccomp", error)


def _watches(cell: Cell) -> bool:
    """Whether there is a filter whose calls are answered; not where another program answers those of this one already."""
    if not (cell.watched and cell.loopback):
        return False
    try:
        _hand_over(seccomp.install_watched())
        return True
    except OSError:
        return False


def _hand_over(listener: int) -> None:
    """Sends away the descriptor by which calls are answered: who has it must not be who makes them."""
    control = socket.socket(fileno=CONTROL_FD)
    try:
        socket.send_fds(control, [b"w"], [listener])
    finally:
        control.detach()
        os.close(listener)


def _serve(cell: Cell, executor: Executor | None) -> int:
    """Runs the bench; the exit code of the runner as Python itself would choose it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Socket objects of the zygote are closed by number; forget them without closing what now has their numbers.
    cell.control.detach()
    control = socket.socket(fileno=CONTROL_FD)
    data = None
    if cell.data is not None:
        cell.data.detach()
        data = socket.socket(fileno=DATA_FD)
    else:
        os.close(DATA_FD)
    gc.enable()
    try:
        cell.serve(control, data, cell.spawn, executor)
        return 0
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL(None).fflush(None)
