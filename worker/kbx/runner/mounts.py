"""The file tree of a runner: a fresh, read-only root with the system, Python and the worker's untrusted half.

What is not listed is not there: no home folders, no tasks, no oracle, no results, no other runner's files. Paths keep
their names, so that what torch and Triton remember of their own location stays true.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import sys
import sysconfig
from collections.abc import Iterable

from kbx.runner import linux, toolkit

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/sys/devices/system/cpu",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf",
    "/etc/alternatives",
)  # fmt: skip
_CUDA = ("/opt", "/sys")
_DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
"""Without /dev/zero: a shared mapping of it is memory that no limit counts."""
_WORKER_FILES = (
    "__init__.py",
    "bytecode.py",
    "executor",
    "precision.py",
    "runner",
    "standins.py",
    "state.py",
    "tensors.py",
)
"""Of this package: what ``kbx.runner.profiled`` imports, the one program that is started afresh inside. Runners themselves have
loaded all they need before they are shut in."""
_LINKS = (("/dev/fd", "/proc/self/fd"), ("/dev/stdin", "fd/0"), ("/dev/stdout", "fd/1"), ("/dev/stderr", "fd/2"))
_STAGE, _OLD = "/tmp", "/.old"  # noqa: S108 - any folder that every system has: a private tmpfs covers it at once
_GPU_NODE = re.compile(r"/dev/nvidia\d+")
_SHM = "/dev/shm"
_SHM_BYTES = 256 << 20
_INODES = 1 << 16
"""Files of each scratch filesystem: an empty one takes no space of it, but a kilobyte of the kernel's."""
_PROC_FLAGS = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC


@dataclasses.dataclass(frozen=True)
class Tree:
    """What a runner sees. ``entries``: (path, kind), outer paths first; kind is ``bind``, ``hide`` or ``link``."""

    entries: tuple[tuple[str, str], ...]
    devices: tuple[str, ...]
    gpu: str | None = None
    """UUID of the one GPU in ``devices``; None where all of the machine's are."""

    @property
    def readable(self) -> list[str]:
        """Paths outside /dev that are bound, for rules that work without a mount namespace."""
        return [path for path, kind in self.entries if kind == "bind"]

    def with_gpu(self, uuid: str | None) -> Tree:
        """The same with one GPU alone, so that no candidate computes on another or disturbs who does.

        Unchanged where the driver does not tell which device node that is.
        """
        own = uuid and gpu_node(uuid)
        if own not in self.devices:
            return self
        devices = tuple(path for path in self.devices if path == own or not _GPU_NODE.fullmatch(path))
        return dataclasses.replace(self, devices=devices, gpu=uuid)


def plan(cuda: bool, hidden: Iterable[str] = (), besides: Iterable[str] = ()) -> Tree:
    """The tree for one kind of device. ``hidden``: folders that must not be seen even where a bound one holds them. ``besides``: what
    is to be seen besides.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    worker = os.path.dirname(package)
    wanted = {*_SYSTEM, *(_CUDA if cuda else ()), *_python(exclude=worker), *_toolkit()}
    wanted |= {os.path.join(package, name) for name in _WORKER_FILES} | {*besides}
    concealed = {os.path.dirname(worker), *(os.path.abspath(path) for path in hidden)}
    concealed |= {os.path.realpath(path) for path in concealed}
    kinds = {path: "hide" for path in concealed}
    kinds |= {path: "link" if os.path.islink(path) else "bind" for path in wanted if os.path.lexists(path)}
    devices = [*_DEVICES]
    if cuda:
        devices += sorted(f"/dev/{name}" for name in os.listdir("/dev") if name.startswith("nvidia"))
    return Tree(_outermost(kinds), tuple(path for path in devices if os.path.exists(path)))


def gpu_node(uuid: str, cards: str = "/proc/driver/nvidia/gpus") -> str | None:
    """Path of a GPU's device node, as the driver lists it; None where it does not."""
    for card in os.listdir(cards) if os.path.isdir(cards) else ():
        with open(os.path.join(cards, card, "information"), encoding="utf-8", errors="replace") as file:
            facts = dict(line.split(":", 1) for line in file if ":" in line)
        if facts.get("GPU UUID", "").strip() == uuid and "Device Minor" in facts:
            return f"/dev/nvidia{facts['Device Minor'].strip()}"
    return None


def _python(exclude: str) -> set[str]:
    """Folders of this interpreter and of every importable module but the worker's own."""
    paths = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, sysconfig.get_path("stdlib")}
    paths |= {os.path.abspath(path) for path in sys.path if path and os.path.exists(path)}
    paths |= {os.path.realpath(path) for path in paths}
    return {path for path in paths if path != "/" and not _inside(exclude, path)}


def _toolkit() -> set[str]:
    """The CUDA toolkit, which compiles without a GPU, too."""
    folder = toolkit.home()
    return {folder, os.path.realpath(folder)} - {"/"} if folder else set()


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _outermost(kinds: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Entries in order of depth without what an enclosing entry already shows, or already hides. A link shows what its target does."""
    kept: list[tuple[str, str]] = []
    for path in sorted(kinds, key=lambda p: p.split("/")):
        around = [kind for outer, kind in kept if path != outer and _inside(path, outer)]
        if around and around[-1] == "link":
            continue
        shown = bool(around) and around[-1] == "bind"
        if shown == (kinds[path] == "hide"):
            kept.append((path, kinds[path]))
    return tuple(kept)


def enter(tree: Tree, scratch_bytes: int, user: int) -> str | None:
    """Makes the tree the root of this process's own mount namespace, all read-only; raises OSError.

    Called by pid 1 of a pid namespace. ``user`` is the uid named in the tree's /etc/passwd. Scratch space is ``/tmp``,
    a tmpfs of ``scratch_bytes``. Returns a note on what could not be had, or None.
    """
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", _STAGE, "tmpfs", linux.MS_NOSUID, "mode=755,size=1m")
    os.mkdir(_STAGE + _OLD)
    linux.pivot_root(_STAGE, _STAGE + _OLD)
    os.chdir("/")
    flags = linux.MS_NOSUID | linux.MS_NODEV
    os.mkdir("/tmp")
    # Before the entries, some of which may lie in /tmp themselves: a checkout, a virtual environment.
    linux.mount("tmpfs", "/tmp", "tmpfs", flags, f"mode=1777,size={scratch_bytes},nr_inodes={_INODES}")
    for path, kind in tree.entries:
        _place(path, kind)
    for path in tree.devices:
        _bind(path)
    _furnish(user)
    note = _fresh_proc()
    linux.unmount(_OLD)
    os.rmdir(_OLD)
    _seal(tree)
    if note is None:  # CUDA writes the names of its threads there
        linux.mount(None, "/proc", None, linux.MS_REMOUNT | linux.MS_BIND | _PROC_FLAGS)
    linux.mount(None, "/tmp", None, linux.MS_REMOUNT | linux.MS_BIND | flags)
    linux.mount("tmpfs", _SHM, "tmpfs", flags, f"mode=1777,size={_SHM_BYTES},nr_inodes={_INODES}")
    return note


def enter_own_scratch(scratch_bytes: int) -> str:
    """Gives this process a mount namespace in which the folder that is returned is its own and empty; raises OSError. It is one that nobody
    can move away, as they could any in ``/tmp``."""
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)
    flags = linux.MS_NOSUID | linux.MS_NODEV
    linux.mount("tmpfs", _SHM, "tmpfs", flags, f"mode=1777,size={scratch_bytes},nr_inodes={_INODES}")
    return _SHM


def _place(path: str, kind: str) -> None:
    if kind == "bind":
        _bind(path)
    elif kind == "hide":
        os.makedirs(path, exist_ok=True)
        linux.mount("tmpfs", path, "tmpfs", linux.MS_NOSUID, "mode=755,size=1m")
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(os.readlink(_OLD + path), path)


def _bind(path: str) -> None:
    source = os.path.realpath(_OLD + path) if os.path.islink(_OLD + path) else _OLD + path
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, 0o644))
    linux.mount(source, path, None, linux.MS_BIND | linux.MS_REC)


def _furnish(user: int) -> None:
    """The few files and folders of the root that are no one else's."""
    for path in ("/proc", "/dev/shm", "/etc"):
        os.makedirs(path, exist_ok=True)
    for path, target in _LINKS:
        os.symlink(target, path)
    for path, text in (
        ("/etc/passwd", f"root:x:0:0::/:/bin/sh\nrunner:x:{user}:{user}::/tmp:/bin/sh\n"),
        ("/etc/group", f"root:x:0:\nrunner:x:{user}:\n"),
        ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    ):
        with open(path, "w") as file:
            file.write(text)


def _seal(tree: Tree) -> None:
    try:
        linux.make_read_only("/")
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        for path in ("/", *tree.readable):
            _seal_one(path)


def _seal_one(path: str) -> None:
    """Read-only the old way: one mount a call, naming again the flags that a user namespace may not clear."""
    present = os.statvfs(path).f_flag
    flags = present & (linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC | linux.MS_NOATIME | linux.MS_NODIRATIME)
    if present & 4096:  # ST_RELATIME, whose value as a mount flag is another
        flags |= linux.MS_RELATIME
    linux.mount(None, path, None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | linux.MS_NOSUID | flags)


def _fresh_proc() -> str | None:
    """Mounts the pid namespace's own /proc; where that is refused an empty folder stays, which shows nobody.

    An ordinary user may mount one only while the old, complete one is still in sight.
    """
    try:
        linux.mount("proc", "/proc", "proc", _PROC_FLAGS)
    except OSError as error:
        return f"/proc is empty: {error.strerror}"
    return None
