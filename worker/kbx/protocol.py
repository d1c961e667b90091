"""Frames and messages between the referee (JVM), the oracle, the zygote and the runners.

A frame is ``u32 length, u32 channel, payload`` (big endian, length counts the payload only); the payload is one UTF-8
JSON object whose ``type`` names a message. Channel 0 is the process itself; channel *n* is runner *n* behind a zygote.
Nothing is ever unpickled. ``docs/protocol.md`` lists who sends what, and the Java records mirror these dataclasses.
"""

import dataclasses
import json
import struct
from collections.abc import Iterable
from typing import BinaryIO, TypeVar

from kbx.messages import Message

_Kind = TypeVar("_Kind", bound=Message)

HEADER = struct.Struct(">II")
MAX_TRUSTED_FRAME = 64 << 20
"""Longest payload accepted from a trusted process, in bytes."""
MAX_RUNNER_FRAME = 12 << 20
"""Longest payload accepted from a runner, in bytes; a longer claim ends the runner."""


class ProtocolError(Exception):
    """The peer broke the framing or named an unknown message."""


def read_exactly(stream: BinaryIO, n: int) -> bytes | None:
    """Reads ``n`` bytes from a binary stream; returns None at a clean end of file, raises ProtocolError in the middle."""
    parts, left = [], n
    while left:
        part = stream.read(left)
        if not part:
            if left == n:
                return None
            raise ProtocolError(f"stream ended {left} bytes short")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_frame(stream: BinaryIO, limit: int = MAX_TRUSTED_FRAME) -> tuple[int, bytes] | None:
    """Returns ``(channel, payload bytes)``, or None at end of file."""
    header = read_exactly(stream, HEADER.size)
    if header is None:
        return None
    length, channel = HEADER.unpack(header)
    if length > limit:
        raise ProtocolError(f"frame of {length} bytes, limit {limit}")
    payload = read_exactly(stream, length) if length else b""
    if payload is None:
        raise ProtocolError("stream ended after a header")
    return channel, payload


def write_frame(stream: BinaryIO, payload: bytes, channel: int = 0) -> None:
    """Writes one frame in one call and flushes."""
    stream.write(HEADER.pack(len(payload), channel) + payload)
    stream.flush()


def encode(message: Message) -> bytes:
    """A message dataclass as payload bytes; fields that are None are left out (absent means unknown)."""
    body = {name: value for name, value in vars(message).items() if value is not None}
    body["type"] = message.TYPE
    return json.dumps(body, allow_nan=False, separators=(",", ":"), default=dataclasses.asdict).encode()


def decode(payload: bytes, kinds: Iterable[type[_Kind]]) -> _Kind:
    """Payload bytes as an instance of one of the dataclasses in ``kinds``; unknown types and fields are errors."""
    try:
        body = json.loads(payload)
        kind = {k.TYPE: k for k in kinds}[body.pop("type")]
        return kind(**body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProtocolError(f"unreadable message: {error!r}") from error
