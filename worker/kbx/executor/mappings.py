"""Memory that runner, executor and oracle share, by the addresses that the runner knows it by."""

from __future__ import annotations

import mmap
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbx.ttir.memory import Region


class Tensor(NamedTuple):
    """The memory of a tensor that is lent: how many bytes, and what lies between its elements, None where nothing does."""

    bytes: int
    filler: int | None


class _Mapping(NamedTuple):
    base: int
    memory: npt.NDArray[np.uint8]
    whole: dict[int, Tensor] | None
    """Each tensor by its offset, where that is known; None where the runner says how many bytes it has."""


class Mappings:
    """All of it. What the runner says of where tensors lie counts only within what is shared, and within tensors that are known."""

    def __init__(self) -> None:
        self._mapped: list[_Mapping] = []

    def add(self, base: int, descriptor: int, length: int, whole: dict[int, Tensor] | None = None) -> None:
        """Maps ``length`` bytes of a descriptor, which the runner has at address ``base``; ``whole`` may be filled in later."""
        shared = mmap.mmap(descriptor, length)
        self._mapped.append(_Mapping(base, np.frombuffer(shared, np.uint8), whole))

    def shared(self) -> list[tuple[int, int]]:
        """The addresses that are shared: where they begin, and how many."""
        return [(each.base, len(each.memory)) for each in self._mapped]

    def region(self, start: int, length: int, filler: int | None) -> Region | None:
        """The tensor's memory that begins at ``start``; None for what is not shared, or no tensor's. ``filler`` is what new memory of the
        runner's own holds."""
        for base, memory, whole in self._mapped:
            offset = start - base
            if not 0 <= offset < len(memory):
                continue
            if whole is not None:
                length, filler = whole.get(offset, Tensor(-1, None))
            if length < 0:
                return None
            return Region(start, memory[offset : offset + length], filler=filler, lent=whole is not None)
        return None

    def lent(self) -> dict[int, npt.NDArray[np.uint8]]:
        """The bytes of what is lent, by address."""
        return {
            base + offset: memory[offset : offset + each.bytes]
            for base, memory, whole in self._mapped
            for offset, each in (whole or {}).items()
        }

    def known(self) -> list[tuple[int, int]]:
        """Tensors whose place the runner need not say: address and bytes."""
        return [
            (base + offset, each.bytes) for base, _, whole in self._mapped for offset, each in (whole or {}).items()
        ]
