"""Workers that judge nothing: every candidate is right at once, so that what a run takes is the referee's own time.

Stand-ins for `kbx.oracle` and `kbx.runner.zygote` that speak the protocol of docs/protocol.md and need neither torch nor Triton.
"""

import json
import struct
import sys
from collections.abc import Iterator

HEADER = struct.Struct(">II")


def frames() -> Iterator[tuple[int, dict]]:
    """Channel and message of every frame until the referee closes the pipe."""
    stdin = sys.stdin.buffer
    while len(header := stdin.read(HEADER.size)) == HEADER.size:
        length, channel = HEADER.unpack(header)
        yield channel, json.loads(stdin.read(length))


def write(message: dict, channel: int = 0) -> None:
    """Sends one frame."""
    payload = json.dumps(message).encode()
    sys.stdout.buffer.write(HEADER.pack(len(payload), channel) + payload)
    sys.stdout.buffer.flush()


def greet(role: str) -> None:
    """Sends the first frame of a process of that role."""
    versions = {"python": sys.version.split()[0]}
    device = {"kind": "cpu", "name": "simulated"}
    write({"type": "hello", "protocol": 9, "role": role, "pid": 1, "versions": versions, "device": device})
