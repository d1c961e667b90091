"""Counts what a program tried in vain: calls that the filter denies, and connections that lead nowhere."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import ipaddress
import os
import socket
import struct

from kbx.runner import seccomp

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
"""SECCOMP_IOCTL_NOTIF_RECV and SECCOMP_IOCTL_NOTIF_SEND of Linux's seccomp.h."""
_NOTIFICATION, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_CONTINUE = 1
_CONNECT = 42
_NAMES = 53
"""The port of DNS: who finds no name server in its files asks one on this machine."""
_LONGEST_ADDRESS = 128
_MOST_KINDS = 100


class Watch:
    """The other end of a filter. It denies all that it is asked about but connections, which the network itself refuses."""

    def __init__(self, listener: int) -> None:
        self._listener = listener
        self.refused: dict[str, int] = {}

    def answer(self) -> None:
        """Answers until the program and all its children are gone."""
        while True:
            asked = bytearray(_NOTIFICATION.size)
            try:
                fcntl.ioctl(self._listener, _RECEIVE, asked)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT):  # who asked has been ended meanwhile
                    continue
                return
            number, pid, _, call, _, _, *arguments = _NOTIFICATION.unpack(asked)
            with contextlib.suppress(OSError):
                fcntl.ioctl(self._listener, _SEND, bytearray(self._answer(number, pid, call, arguments)))

    def _answer(self, number: int, pid: int, call: int, arguments: list[int]) -> bytes:
        if call != _CONNECT:
            self._count(f"system call: {seccomp.name_of(call)}")
            return _ANSWER.pack(number, 0, -errno.EPERM, 0)
        address = _address(pid, arguments[1], arguments[2])
        if address:
            self._count(f"network: {address}")
        return _ANSWER.pack(number, 0, 0, _CONTINUE)

    def _count(self, what: str) -> None:
        known = what in self.refused or len(self.refused) < _MOST_KINDS
        key = what if known else "others"
        self.refused[key] = self.refused.get(key, 0) + 1


def _address(pid: int, place: int, length: int) -> str | None:
    """The Internet address in a program's memory; None where it is the program's own or another kind. It decides nothing."""
    try:
        fd = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            data = os.pread(fd, min(length, _LONGEST_ADDRESS), place)
        finally:
            os.close(fd)
        family = struct.unpack_from("=H", data)[0]
        if family not in (socket.AF_INET, socket.AF_INET6):
            return None
        port = struct.unpack_from("!H", data, 2)[0]
        host = ipaddress.ip_address(data[4:8] if family == socket.AF_INET else data[8:24])
    except (OSError, OverflowError, ValueError, struct.error):
        return None
    if host.is_loopback:
        return "a name" if port == _NAMES else None
    return f"{host} port {port}"
