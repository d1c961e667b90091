"""The process that makes calls of candidates again on this oracle's GPU: see ``kbx.executor.replayer``."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Any

import torch

from kbx.executor.channel import Broken, Channel
from kbx.oracle.arenas import SharedArena
from kbx.oracle.starting import Starter
from kbx.tensors import DTYPES


class Replayer:
    """The oracle's end of its replayer, which is started for the first candidate, and again after a fault."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self._channel: Channel | None = None
        self._arenas: Sequence[SharedArena] = ()
        self._is_open = False
        """Whether the replayer has mapped the arenas."""

    def open(self, arenas: Sequence[SharedArena]) -> None:
        """A candidate begins, who has these arenas."""
        self._arenas, self._is_open = arenas, False
        if self._channel is None:
            with contextlib.suppress(OSError):
                self._channel = self._starter.start()

    def replay(self, message: dict[str, Any], blobs: Sequence[bytearray]) -> dict[str, Any]:
        """What ``kbx.executor.replayer`` answers. Raises Broken where it has ended, or does not end: then it is ended."""
        if self._channel is None:
            raise Broken("it could not be started")
        torch.cuda.synchronize()  # arguments lie in the arena
        try:
            if not self._is_open:
                self._channel.send({"open": [arena.describe() for arena in self._arenas]})
                self._is_open = True
            self._channel.send(message, [memoryview(blob) for blob in blobs])
            return self._channel.receive()[0]
        except Broken:
            self._end()
            raise

    def result(self, dtype: str, shape: Sequence[int], offset: int) -> torch.Tensor:
        """A tensor of the result of a replay, as told there; until the next."""
        count = math.prod(shape)
        return self._arenas[1].typed(offset, max(1, count), DTYPES[dtype])[:count].reshape(tuple(shape))

    def close(self) -> None:
        """The candidate is gone. Arenas may be freed once the replayer has unmapped them."""
        if self._channel is not None and self._is_open:
            try:
                self._channel.send({"close": True})
                self._channel.receive()
            except Broken:
                self._end()
        self._arenas, self._is_open = (), False

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel = None
        self._starter.stop()
