"""What processes beside a runner say to each other: JSON and bytes, on a Unix socket.

A frame is ``u32 length, u32 number of blobs`` (big endian), so many bytes of a JSON object, then each blob as ``u64 length`` and its bytes.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

EXECUTOR = 1 << 31
"""Marks an executor: with this bit, the number of its runner introduces it to the oracle."""

HEAP_BYTES = 1 << 39
"""Of the file in memory where a candidate's tensors lie. It takes what was written to it."""
SPARSE = HEAP_BYTES // 2
"""Offset in it of the tensors that are there in parts, see ``kbx.executor.large``."""
MARKS = HEAP_BYTES // 4
"""Bytes from a tensor to the marks of what was written to it: tensors take no more than a quarter of the heap in either half."""

_FRAME, _BLOB = struct.Struct(">II"), struct.Struct(">Q")
MOST_BYTES = 4 << 30
"""Of a frame, unless whoever listens allows fewer."""
_MOST_BLOBS = 4096


class Executor(NamedTuple):
    """What a runner has of its executor: a connection, and the descriptor of the memory that they share, None for none."""

    connection: socket.socket
    heap: int | None


class Broken(Exception):
    """The other side has ended, or sent what is no frame."""


class Channel:
    """One end of a connection. ``most`` bytes of a frame are read."""

    def __init__(self, connection: socket.socket, most: int = MOST_BYTES) -> None:
        self.connection, self._most = connection, most

    def send(self, message: dict[str, Any], blobs: Sequence[bytes | memoryview] = ()) -> None:
        """Sends one frame; raises Broken where nobody listens."""
        text = json.dumps(message, separators=(",", ":")).encode()
        try:
            self.connection.sendall(_FRAME.pack(len(text), len(blobs)) + text)
            for blob in blobs:
                self.connection.sendall(_BLOB.pack(len(blob)))
                self.connection.sendall(blob)
        except OSError as error:
            raise Broken(str(error)) from error

    def receive(self) -> tuple[dict[str, Any], list[bytearray]]:
        """Waits for a frame. Raises Broken at the end of file, for what is no frame, and when the socket's timeout is over."""
        length, count = _FRAME.unpack(self._read(_FRAME.size, self._most))
        if count > _MOST_BLOBS:
            raise Broken(f"a frame with {count} blobs")
        text = self._read(length, self._most)
        left = self._most - length
        blobs = []
        for _ in range(count):
            (size,) = _BLOB.unpack(self._read(_BLOB.size, self._most))
            blobs.append(self._read(size, left))
            left -= size
        try:
            message = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Broken("a frame without JSON") from error
        if not isinstance(message, dict):
            raise Broken("a frame without an object")
        return message, blobs

    def _read(self, length: int, most: int) -> bytearray:
        if length > most:
            raise Broken(f"{length} bytes, {most} allowed")
        data = bytearray(length)
        view = memoryview(data)
        while view:
            try:
                count = self.connection.recv_into(view)
            except OSError as error:
                raise Broken(str(error)) from error
            if not count:
                raise Broken("end of file")
            view = view[count:]
        return data

    def close(self) -> None:
        self.connection.close()
