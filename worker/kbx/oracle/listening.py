"""The socket at which the zygote fetches the arenas of runners."""

from __future__ import annotations

import secrets
import socket


def anywhere() -> socket.socket:
    """A socket that listens at an abstract address of its own, which belongs to the network namespace that it is made in."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("\0kbx-" + secrets.token_hex(16))
    listener.listen(64)
    return listener
