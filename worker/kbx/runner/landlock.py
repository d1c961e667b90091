"""Landlock: file, TCP and signal rules that an unprivileged process puts on itself and its children.

The second line behind the mount namespace, and the first where a mount namespace is refused.
"""

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from kbx.runner import linux

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _RULE_PATH_BENEATH = 1, 1

_EXECUTE, _WRITE, _READ, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL_DEV
READ = _EXECUTE | _READ | _READ_DIR
"""Read files, list folders, run programs."""
DEVICE = _READ | _WRITE | _IOCTL_DEV
"""Use a device node."""
WRITE_FILE = _WRITE | _TRUNCATE
"""Write to files that exist."""
WRITE = ((1 << 16) - 1) & ~(_MAKE_CHAR | _MAKE_BLOCK)
"""Everything but making device nodes."""


def version() -> int:
    """Version of the kernel's Landlock interface; raises OSError where there is none."""
    return linux.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG, what="landlock")


def restrict(rules: Iterable[tuple[str, int]], tcp: bool = False) -> int:
    """Allows only what ``rules``, pairs of a path and rights, name; returns the interface's version.

    Paths that do not exist, or that this user cannot reach anyhow, are skipped. From version 4 TCP is denied altogether, unless
    ``tcp`` allows it; from version 6 so are signals to, and abstract Unix sockets of, processes outside. The caller must have set
    no_new_privs. Raises OSError.
    """
    abi = version()
    handled = (1 << 16) - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        if abi < since:
            handled &= ~right
    attributes = struct.pack("=QQQ", handled, 0 if tcp else 3, 3)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    ruleset = linux.syscall(
        _CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0, what="landlock_create_ruleset"
    )
    try:
        for path, rights in rules:
            with contextlib.suppress(FileNotFoundError, PermissionError):
                _allow(ruleset, path, rights & handled)
        linux.syscall(_RESTRICT_SELF, ruleset, 0, what="landlock_restrict_self")
    finally:
        os.close(ruleset)
    return abi


def _allow(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, fd)
        linux.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0, what=f"landlock_add_rule {path}")
    finally:
        os.close(fd)
