"""The Linux calls that Python's standard library lacks, by ctypes. Each raises OSError with the kernel's errno."""

import ctypes
import fcntl
import itertools
import os
import socket
import struct
from collections.abc import Iterable
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_NOATIME, MS_NODIRATIME, MS_BIND = 32, 1024, 2048, 4096
MS_REC, MS_PRIVATE, MS_RELATIME = 1 << 14, 1 << 18, 1 << 21
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_SYS_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID = 1, 2
_CAPABILITY_VERSION_3 = 0x20080522


def check(result: int, what: str) -> int:
    """``result`` of a libc call, or OSError with its errno and ``what`` was tried."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def syscall(number: int, *args: Any, what: str) -> int:
    """A raw system call, for those that glibc does not wrap."""
    return check(_libc.syscall(ctypes.c_long(number), *args), what)


def unshare(flags: int) -> None:
    check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def prctl(option: int, value: int = 0, pointer: int = 0) -> None:
    zero = ctypes.c_ulong(0)
    check(_libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(pointer), zero, zero), f"prctl({option})")


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    def text(s: str | None) -> bytes | None:
        return None if s is None else os.fsencode(s)

    check(_libc.mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), text(data)), f"mount {target}")


def unmount(target: str) -> None:
    """Detaches the tree mounted at ``target``."""
    check(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    check(_libc.pivot_root(os.fsencode(new), os.fsencode(old)), "pivot_root")


def make_read_only(path: str) -> None:
    """Makes every mount at and below ``path`` read-only and free of set-uid (Linux 5.12)."""
    attributes = struct.pack("=QQQQ", _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID, 0, 0, 0)
    syscall(
        _SYS_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), _AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes)),
        what=f"mount_setattr {path}",
    )  # fmt: skip


def raise_loopback() -> None:
    """Brings up the loopback interface of this process's network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))


def drop_capabilities() -> None:
    """Empties the effective, permitted and inheritable sets; with no_new_privs no exec brings one back."""
    check(_libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), bytes(24)), "capset")


def close_all_but(kept: Iterable[int]) -> None:
    """Closes every descriptor of this process but these and those that is printed to."""
    for first, last in itertools.pairwise(sorted({2, *kept, os.sysconf("SC_OPEN_MAX")})):
        os.closerange(first + 1, last)
