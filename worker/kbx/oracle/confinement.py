"""The sandbox of an oracle whose task files are somebody else's.

Made of what shuts runners in, with two differences: the oracle may make memory files, which become the arenas of runners, and nothing
is optional, because without its namespaces such a task file would run as whoever called kbx.

Three processes as for a runner. The *monitor* waits for the end of the oracle, or of the referee. *Init*, pid 1 of the pid namespace,
reaps orphans; when it ends the kernel ends every process of the namespace. The *oracle* has given up every privilege.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys
from typing import NoReturn

from kbx.runner import landlock, linux, mounts, sandbox, seccomp

_SCRATCH_BYTES = 1 << 30
_PROCESSES = 4096
_SKIPPED_PIDS = 64
"""More than a runner's namespace has when it imports memory."""
_GRACE_SECONDS = 5
"""For the oracle to notice that the referee has gone."""
_HIDDEN = (".kbx", ".local/state/kbx")
"""Folders of kbx's secrets, in its own folder and in a home."""
_REFUSED = 3
"""Exit code of a machine that cannot confine an oracle."""


def enter(suite: str, uid: int | None, cuda: bool) -> None:
    """Shuts this process in, to be called before it has threads: it then sees the system, Python, kbx and the folder ``suite``, and
    reaches no network and no other process. Returns only in the oracle; ends the process where the machine refuses a part of it.

    ``uid``: the user to become, when started as root.
    """
    uid = uid if os.geteuid() == 0 else os.geteuid()
    if uid is None:
        _refuse("it is started as root and is not told which user to become")
    tree = _tree(suite, cuda)
    protections = sandbox.Protections()
    sandbox.enter_namespaces(protections)
    missing = [name for name in ("files", "processes", "network", "ipc") if not protections.active(name)]
    if missing:
        _refuse(f"it has no namespace of its own for {', '.join(missing)}")
    init = os.fork()
    if init:
        _monitor(init)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    try:
        mounts.enter(tree, _SCRATCH_BYTES, uid)
    except OSError as error:
        _refuse(str(error))
    if cuda:
        _skip_pids()
    oracle = os.fork()
    if oracle:
        _init(oracle)
    try:
        _drop_rights(tree, uid, cuda)
    except OSError as error:
        _refuse(str(error))


def _skip_pids() -> None:
    """CUDA takes memory of a process with the importer's pid for its own, which it refuses to import: a runner is pid 2 of its
    namespace, and so would this one be."""
    for _ in range(_SKIPPED_PIDS):
        passing = os.fork()
        if not passing:
            os._exit(0)
        os.waitpid(passing, 0)


def _refuse(why: str) -> NoReturn:
    print(
        f"oracle: this machine refuses the sandbox for a suite that is not kbx's own: {why}",
        file=sys.stderr,
        flush=True,
    )
    os._exit(_REFUSED)


def _tree(suite: str, cuda: bool) -> mounts.Tree:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    home = os.path.dirname(os.path.dirname(package))
    states = [os.path.join(home, _HIDDEN[0]), os.path.join(os.environ.get("HOME", home), _HIDDEN[1])]
    return mounts.plan(
        cuda,
        hidden=[path for path in states if os.path.isdir(path)],
        besides=(package, os.path.join(home, "tasks"), suite),
    )


# ---------------------------------------------------------------- monitor and init


def _monitor(init: int) -> NoReturn:
    """Ends with init's exit code; ends init where the referee has gone and the oracle does not end by itself."""
    done = os.pidfd_open(init)
    events = select.poll()
    events.register(done, select.POLLIN)
    events.register(0, 0)  # the end of the referee is always told
    if not any(fd == done for fd, _ in events.poll()):
        events.unregister(0)
        if not events.poll(_GRACE_SECONDS * 1000):
            os.kill(init, signal.SIGKILL)
    os._exit(_exit_code(os.waitpid(init, 0)[1]))


def _init(oracle: int) -> NoReturn:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(null, fd)
    while True:
        pid, status = os.wait()
        if pid == oracle:
            os._exit(_exit_code(status))


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


# ---------------------------------------------------------------- oracle


def _drop_rights(tree: mounts.Tree, uid: int, cuda: bool) -> None:
    sandbox.be_first_to_go()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    for which, limit in ((resource.RLIMIT_CORE, 1), (resource.RLIMIT_NPROC, _PROCESSES)):
        ceiling = resource.getrlimit(which)[1]
        limit = limit if ceiling == resource.RLIM_INFINITY else min(limit, ceiling)
        resource.setrlimit(which, (limit, limit))
    os.chdir("/tmp")
    os.environ.update(
        HOME="/tmp", TMPDIR="/tmp", TRITON_CACHE_DIR="/tmp/triton", TORCHINDUCTOR_CACHE_DIR="/tmp/inductor"
    )
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.drop_capabilities()
    rules = [(path, landlock.DEVICE) for path in tree.devices]
    rules += [("/", landlock.READ), ("/tmp", landlock.WRITE), ("/dev/shm", landlock.WRITE)]
    rules += [("/proc", landlock.READ | landlock.WRITE_FILE)]
    with contextlib.suppress(OSError):  # a second line behind the mount namespace, which not every kernel has
        landlock.restrict(rules)
    seccomp.install(gpu=cuda, memory_files=True)
