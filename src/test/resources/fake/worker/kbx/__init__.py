"""Stand-ins for the worker's processes that need no torch; they speak the protocol and say what a test tells them."""

import json
import struct
import sys

HEADER = struct.Struct(">II")


def read():
    """The next frame as ``(channel, message)``; None at end of file."""
    header = sys.stdin.buffer.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    length, channel = HEADER.unpack(header)
    return channel, json.loads(sys.stdin.buffer.read(length))


def write(payload, channel=0):
    """Sends a payload: bytes as they are, anything else as JSON."""
    if not isinstance(payload, bytes):
        payload = json.dumps(payload).encode()
    sys.stdout.buffer.write(HEADER.pack(len(payload), channel) + payload)
    sys.stdout.buffer.flush()


def hello(role, versions=None, device=None):
    """The greeting of a process of that role."""
    device = {"kind": "cpu", **(device or {})}
    write({"type": "hello", "protocol": 1, "role": role, "pid": 1, "versions": versions or {}, "device": device})
