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
    """What makes calls again, started when it is first needed, and again after a fault."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self._channel: Channel | None = None
        self._is_open = False

    def open(self, arenas: Sequence[SharedArena]) -> None:
        """A candidate begins, who has these arenas."""
        self._is_open, self._out = True, arenas[1]
        with contextlib.suppress(OSError):
            described = {"open": [arena.describe() for arena in arenas]}
            if self._channel is not None:
                with contextlib.suppress(Broken):
                    self._channel.send(described)
                    return
            self._channel = self._starter.start()
            self._channel.send(described)

    def replay(self, message: dict[str, Any], blobs: Sequence[bytearray]) -> dict[str, Any]:
        """What ``kbx.executor.replayer`` answers. Raises Broken where it has ended, or does not end."""
        if self._channel is None:
            raise Broken("it could not be started")
        torch.cuda.synchronize()  # arguments lie in the arena
        try:
            self._channel.send(message, [memoryview(blob) for blob in blobs])
            return self._channel.receive()[0]
        except Broken:
            self._channel.close()
            self._channel = None
            raise

    def result(self, dtype: str, shape: Sequence[int], offset: int) -> torch.Tensor:
        """A tensor of the result of a replay, as told there; until the next."""
        count = math.prod(shape)
        return self._out.typed(offset, max(1, count), DTYPES[dtype])[:count].reshape(tuple(shape))

    def close(self) -> None:
        """The candidate is gone."""
        if self._channel is not None and self._is_open:
            with contextlib.suppress(Broken):
                self._channel.send({"close": True})
        self._is_open = False
