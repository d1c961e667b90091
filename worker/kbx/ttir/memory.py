"""Memory that a launch may touch: which tensor an address belongs to, and what lies outside all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from kbx.ttir.formats import Numbers
from kbx.ttir.types import RAW

_NEAR = 1 << 16
"""Bytes from a tensor within which an address from elsewhere seems to mean that tensor."""


ALL_ONES = 0xFF
"""A byte that, repeated, is NaN in every floating dtype, but -1 in integers, as often written."""


def _repeated(byte: int, size: int) -> int:
    return int.from_bytes(bytes([byte] * size), "little", signed=True)


class Region:
    """One storage: ``memory`` are its bytes, ``start`` is the address by which the kernel knows it.

    ``name`` is the first kernel parameter that points into it, which the launch fills in where it is empty. ``written``, ``updated``,
    ``fetched`` and ``accessed`` say what this kernel may do with it, see ``provenance.Reached``: what only is read needs no footprint. ``filler`` is the
    byte that all of it held before anybody wrote to it, None where that is not known; of a tensor that is ``lent`` to the candidate, the
    byte that lies between its elements.
    """

    def __init__(
        self, start: int, memory: Numbers, name: str = "", filler: int | None = None, lent: bool = False
    ) -> None:
        if memory.dtype != np.uint8 or memory.ndim != 1:
            raise ValueError("a region's memory must be an array of bytes")
        self.name, self.start, self.memory = name, start, memory
        self.written = self.updated = self.fetched = self.accessed = True
        self.bytes = len(memory)
        self._views: dict[int, Numbers] = {}
        self._filler, self.lent = filler, lent
        self._searched = False

    def distance(self, address: int) -> int:
        """Bytes from an address to the region; at most 0 within."""
        return max(self.start - address, address - self.start - self.bytes)

    def filling(self, size: int, floats: bool) -> int | None:
        """The bits of an element of ``size`` bytes that nobody has written; None where there may be none such, or others look the same."""
        if self._filler is None or size < (2 if floats else 4) or (self._filler == ALL_ONES and not floats):
            return None
        if not self._searched:
            self._searched, unit = True, min(size, 4)
            if not (self.view(unit) == _repeated(self._filler, unit)).any():
                self._filler = None
                return None
        return _repeated(self._filler, size)

    def view(self, size: int) -> Numbers:
        """The memory as signed integers of ``size`` bytes; a rest at the end is left out."""
        found = self._views.get(size)
        if found is None:
            found = self._views[size] = self.memory[: self.bytes // size * size].view(RAW[size])
        return found

    def get(self, size: int, elements: Numbers, live: Numbers | None) -> Numbers:
        """The bits of elements of ``size`` bytes, those of lanes that are not ``live`` included."""
        del live
        return self.view(size)[elements]

    def put(self, size: int, where: slice | Numbers, bits: Numbers) -> None:
        """Writes elements of ``size`` bytes."""
        self.view(size)[where] = bits


class Touched(NamedTuple):
    """Lanes of an access that lie in one region: their elements, and a mask that is None where all lanes do and may."""

    region: Region
    elements: Numbers
    live: Numbers | None


class Outside(NamedTuple):
    """Lanes of an access that lie in no region. ``offset`` is relative to the start, in bytes, of the one that it comes from, or that it is
    nearest to, if any: then lanes that are nearer to others are left out."""

    region: Region | None
    offset: Numbers
    lanes: Numbers


Finder = Callable[[], Iterable[Region]]


class Memory:
    """The regions of a launch. ``more`` is asked once for others, when an address belongs to none: pointers may lie in memory."""

    def __init__(self, regions: Sequence[Region], more: Finder | None = None) -> None:
        self.regions, self._more = list(regions), more
        self._given = {region.start for region in regions}
        self.reached: set[int] = set()
        """Where regions start that were not given, and that an access has led to."""

    def at(self, address: int) -> Region | None:
        """The region that an address lies in, its end included; one that begins there before one that ends there."""
        inside = [r for r in self.regions if r.start <= address <= r.start + r.bytes]
        return max(inside, key=lambda r: r.start, default=None)

    def locate(
        self, addresses: Numbers, base: Region | None, mask: Numbers | None, size: int
    ) -> tuple[list[Touched], Outside | None]:
        """Where accesses of ``size`` bytes lead, for lanes that ``mask`` lets (None for all)."""
        if base is not None:
            return self._within(addresses, base, mask, size)
        left = np.ones(addresses.shape, np.bool_)
        if mask is not None:
            left = np.broadcast_to(mask, np.broadcast_shapes(addresses.shape, mask.shape)).copy()
        addresses = np.broadcast_to(addresses, left.shape)
        found = self._among(self.regions, addresses, left, size)
        if left.any() and self._more is not None:
            more = [r for r in self._more() if all(r.start != known.start for known in self.regions)]
            self._more = None
            for each in more:
                each.name = each.name or "another tensor"
            self.regions += more
            found += self._among(more, addresses, left, size)
        if not left.any():
            return found, None
        first = int(addresses[left][0])
        nearest = min(self.regions, key=lambda r: r.distance(first), default=None)
        if nearest is None or nearest.distance(first) > _NEAR:
            return found, Outside(None, addresses, left)
        far = np.array([np.maximum(r.start - addresses, addresses - r.start - r.bytes) for r in self.regions])
        return found, Outside(
            nearest, addresses - nearest.start, left & (far[self.regions.index(nearest)] == far.min(0))
        )

    @staticmethod
    def _within(
        addresses: Numbers, base: Region, mask: Numbers | None, size: int
    ) -> tuple[list[Touched], Outside | None]:
        offset = addresses - base.start
        if mask is not None:
            offset = np.where(mask, offset, 0)
        live, outside, last = mask, None, base.bytes - size
        if offset.size and (offset.min() < 0 or offset.max() > last):
            bad = (offset < 0) | (offset > last)
            if mask is not None:
                bad &= mask
            if bad.any():
                outside = Outside(base, offset, bad)
                live = ~bad if mask is None else mask & ~bad
                offset = np.where(bad, 0, offset)
        if last < 0:
            return [], outside
        return [Touched(base, offset >> size.bit_length() - 1, live)], outside

    def _among(self, regions: Iterable[Region], addresses: Numbers, left: Numbers, size: int) -> list[Touched]:
        """Takes the lanes that lie in a region out of ``left``."""
        found = []
        for region in regions:
            inside = left & (addresses >= region.start) & (addresses <= region.start + region.bytes - size)
            if inside.any():
                if region.start not in self._given:
                    self.reached.add(region.start)
                found.append(
                    Touched(region, np.where(inside, addresses - region.start, 0) >> size.bit_length() - 1, inside)
                )
                left &= ~inside
        return found
