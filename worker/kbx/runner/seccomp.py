"""A seccomp filter that denies what no kernel needs: tracing, mounting, new namespaces, the network, kernel interfaces.

A deny list, because torch, CUDA and compilers together use most of the ordinary calls. A denied call fails with EPERM,
so that an honest program which merely probes carries on.
"""

import contextlib
import ctypes
import errno
import mmap
import platform
import resource
import socket
import struct
from collections.abc import Iterable, Sequence

from kbx.runner import linux

_AUDIT_ARCH_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
_ALLOW, _KILL, _ERRNO, _NOTIFY = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_LOAD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_ARG0, _OFFSET_ARG1, _OFFSET_ARG3 = 0, 4, 16, 24, 40

_SOCKET, _CLONE, _CLONE3, _IOCTL, _MEMFD_CREATE = 41, 56, 435, 16, 319
_SCHED_SETAFFINITY = 203
_MMAP, _SETRLIMIT, _PRLIMIT64 = 9, 160, 302
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_NAMESPACES = 0x7E020000
"""Every CLONE_NEW* flag that ``clone`` takes."""
_SHARED_ANONYMOUS = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
_MODE_FILTER = 2
_CONNECT, _SECCOMP = 42, 317
_SET_FILTER, _NEW_LISTENER = 1, 8

_DENIED = {
    # another process's memory, registers or descriptors
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "pidfd_getfd": 438,
    "process_madvise": 440, "perf_event_open": 298, "userfaultfd": 323,
    # the file tree and namespaces
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "fanotify_init": 300, "quotactl": 179, "quotactl_fd": 443,
    # the kernel itself
    "bpf": 321, "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
    "kexec_file_load": 320, "reboot": 169, "syslog": 103, "acct": 163, "swapon": 167, "swapoff": 168, "iopl": 172,
    "ioperm": 173, "modify_ldt": 154, "uselib": 134, "settimeofday": 164, "clock_settime": 227, "adjtimex": 159,
    "clock_adjtime": 305, "sethostname": 170, "setdomainname": 171, "vhangup": 153,
    # rings that would carry denied calls past this filter, and keys that outlive a process
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "add_key": 248, "request_key": 249,
    "keyctl": 250,
    # memory that belongs to no process, hence to no limit
    "shmget": 29, "semget": 64, "msgget": 68, "memfd_secret": 447,
    # services of this machine that listen on sockets; a pair of sockets needs no connection
    "connect": _CONNECT,
}  # fmt: skip


def program(gpu: bool, loopback: bool = False, memory_files: bool = False) -> list[bytes]:
    """The filter for x86-64 as instructions of 8 bytes each.

    ``gpu`` allows what CUDA needs: memfd_create and shared anonymous memory, whose pages outlive their mapping and are
    then counted for nobody; and choosing processors, since a runner that is timed moves to its own before ``deny_moving``.
    ``loopback`` allows connections, Internet sockets among them: for a network namespace and a file tree in which nobody else
    listens. ``memory_files`` allows memfd_create: for an oracle, which makes arenas.
    """
    denied = {name: number for name, number in _DENIED.items() if not (loopback and name == "connect")}
    numbers = (
        sorted(denied.values())
        + ([] if gpu else [_SCHED_SETAFFINITY])
        + ([] if gpu or memory_files else [_MEMFD_CREATE])
    )
    families = [socket.AF_UNIX, *([socket.AF_INET, socket.AF_INET6] if loopback else [])]
    shared = [_op(_AND, _SHARED_ANONYMOUS), _op(_JUMP_EQUAL, _SHARED_ANONYMOUS, 0, 1)]
    return [
        _op(_LOAD, _OFFSET_ARCH),
        _op(_JUMP_EQUAL, _AUDIT_ARCH_X86_64, 1, 0),
        _op(_RETURN, _KILL),
        _op(_LOAD, _OFFSET_NUMBER),
        _op(_JUMP_AT_LEAST, _X32_BIT, 0, 1),
        _op(_RETURN, _ERRNO | errno.EPERM),
        # ENOSYS makes glibc fall back to clone, whose flags a filter can read: clone3's are behind a pointer.
        _op(_JUMP_EQUAL, _CLONE3, 0, 1),
        _op(_RETURN, _ERRNO | errno.ENOSYS),
        *_never(numbers),
        *_when(_CLONE, _OFFSET_ARG0, [_op(_JUMP_ANY_BIT, _NAMESPACES, 0, 1)]),
        *_unless(_SOCKET, _OFFSET_ARG0, families),
        *_when(_IOCTL, _OFFSET_ARG1, [_op(_JUMP_EQUAL, _TIOCSTI, 0, 1)]),
        *_when(_IOCTL, _OFFSET_ARG1, [_op(_JUMP_EQUAL, _TIOCLINUX, 0, 1)]),
        # The limit on core dumps is one that a process could lower to have them again: see sandbox.
        *_when(_SETRLIMIT, _OFFSET_ARG0, [_op(_JUMP_EQUAL, resource.RLIMIT_CORE, 0, 1)]),
        *_when(_PRLIMIT64, _OFFSET_ARG1, [_op(_JUMP_EQUAL, resource.RLIMIT_CORE, 0, 1)]),
        *([] if gpu else _when(_MMAP, _OFFSET_ARG3, shared)),
        _op(_RETURN, _ALLOW),
    ]


def install(gpu: bool, loopback: bool = False, memory_files: bool = False) -> None:
    """Filters this process and its children; the caller must have set no_new_privs. Raises OSError."""
    _install(program(gpu, loopback, memory_files))


def install_watched() -> int:
    """As ``install`` with ``loopback``, but whoever has the descriptor that it returns is asked about each denied call and each
    connection, and answers: see ``kbx.agent.watch``. Nobody having it, denied calls fail. Raises OSError."""
    denied, asked = _op(_RETURN, _ERRNO | errno.EPERM), _op(_RETURN, _NOTIFY)
    lines = [asked if line == denied else line for line in program(gpu=False, loopback=True)]
    at = lines.index(_op(_JUMP_EQUAL, _CLONE3, 0, 1))
    lines[at:at] = [_op(_JUMP_EQUAL, _CONNECT, 0, 1), asked]
    code, header = _header(lines)
    return linux.syscall(
        _SECCOMP, _SET_FILTER, _NEW_LISTENER, ctypes.c_void_p(ctypes.addressof(header)), what="seccomp"
    )


def name_of(number: int) -> str:
    """Name of a call that is denied, wholly or for some arguments; its number where there is none."""
    some = {
        "socket": _SOCKET,
        "clone": _CLONE,
        "ioctl": _IOCTL,
        "mmap": _MMAP,
        "setrlimit": _SETRLIMIT,
        "prlimit64": _PRLIMIT64,
    }
    some |= {"sched_setaffinity": _SCHED_SETAFFINITY, "memfd_create": _MEMFD_CREATE}
    return next((name for name, each in (_DENIED | some).items() if each == number), str(number))


def deny_moving() -> None:
    """Keeps this thread, and those that it starts from now on, on the processors that they have, where there are filters at all."""
    with contextlib.suppress(OSError):
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        _install([_op(_LOAD, _OFFSET_NUMBER), *_never([_SCHED_SETAFFINITY]), _op(_RETURN, _ALLOW)])


def _install(lines: list[bytes]) -> None:
    _code, header = _header(lines)
    linux.prctl(linux.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(header))


def _header(lines: list[bytes]) -> tuple[ctypes.Array[ctypes.c_char], ctypes.Array[ctypes.c_char]]:
    """The instructions, which must outlive the call, and the structure that names them."""
    if platform.machine() != "x86_64":
        raise OSError(errno.ENOSYS, f"no filter for {platform.machine()}")
    code = ctypes.create_string_buffer(b"".join(lines))
    return code, ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(lines), ctypes.addressof(code)))


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _never(numbers: Iterable[int]) -> list[bytes]:
    """Denies the calls ``numbers``."""
    return [line for number in numbers for line in (_op(_JUMP_EQUAL, number, 0, 1), _op(_RETURN, _ERRNO | errno.EPERM))]


def _when(number: int, offset: int, test: list[bytes]) -> list[bytes]:
    """Denies call ``number`` when ``test`` of its argument falls through; leaves the number loaded otherwise."""
    body = [_op(_LOAD, offset), *test, _op(_RETURN, _ERRNO | errno.EPERM), _op(_LOAD, _OFFSET_NUMBER)]
    return [_op(_JUMP_EQUAL, number, 0, len(body)), *body]


def _unless(number: int, offset: int, values: Sequence[int]) -> list[bytes]:
    """Denies call ``number`` unless its argument is one of ``values``."""
    return _when(number, offset, [_op(_JUMP_EQUAL, v, len(values) - i, 0) for i, v in enumerate(values)])
