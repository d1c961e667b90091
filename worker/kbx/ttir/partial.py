"""Launches of which some programs run: those on tensors with more than 2^31 elements, of which all would take minutes and gigabytes.

What the others would have written is missing. So nothing that they may have written is read, by a program that runs or as a result, but
what can be told to be final: see ``Written``. Where that cannot be told, ``Unsupported`` is raised, and nothing is known of the kernel.
"""

from __future__ import annotations

import math

import numpy as np

from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers
from kbx.ttir.launch import Launch
from kbx.ttir.memory import Memory, Region
from kbx.ttir.types import RAW

LEAST, ELEMENTS = 256, 1 << 20
"""So many programs run at least, and so many that their largest tensors together have so many elements: several rows of most kernels."""
_FEWER, _FEWEST = 3, 8
"""The second launch of a call takes a factor of 2^3 less, and each further one half of it, but so many programs: it reads what the programs of those
before it have written, and may take more rows for each of its own."""
MOST_BYTES = 1 << 29
"""That are written to a tensor: a few programs that deal with all of it, as those of persistent kernels, would fill the machine's memory."""
_MOST_LAUNCHES = 255
"""Of a call: their numbers are bytes."""


def chosen(grid: tuple[int, int, int], elements: int, earlier: int = 0) -> Numbers:
    """The numbers of the programs of a grid that run, where the largest tensor of one has so many ``elements``, after so many ``earlier`` launches of
    which some ran: the last ones along each axis, all of the shortest axis if possible, then of the next. Most kernels deal with the last rows
    there, which are those beyond 2^31 elements."""
    fewer = _FEWER + earlier - 1 if earlier else 0
    left, counts = max(_FEWEST, max(LEAST, ELEMENTS // elements) >> fewer), [0, 0, 0]
    for axis in sorted(range(3), key=lambda axis: grid[axis]):
        counts[axis] = min(grid[axis], max(1, left))
        left //= max(1, counts[axis])
    x, y, z = (np.arange(size - count, size, dtype=np.int64) for size, count in zip(grid, counts, strict=True))
    found: Numbers = (z[:, None, None] * grid[1] + y[:, None]) * grid[0] + x
    return found.reshape(-1)


class PartialLaunch(Launch):
    """A launch of which the ``chosen`` programs run. Races are not looked for. Atomic operations, by which other programs would take part, are
    not supported."""

    def __init__(self, grid: tuple[int, int, int], memory: Memory, seed: int, elements: int, earlier: int = 0) -> None:
        super().__init__(grid, memory, seed, checks=False)
        self._chosen = chosen(grid, elements, earlier)
        self.some = len(self._chosen) < math.prod(grid)
        """Whether not all programs run."""

    def programs(self) -> Numbers:
        return self._chosen

    def watch(self, atomics: bool) -> None:
        if atomics:
            raise Unsupported(0, "atomic operations of some programs of a launch")
        for region in self.memory.regions:
            if isinstance(region, Tracked):
                region.begin(self.some)
            elif region.lent and region.written and self.some:
                raise Unsupported(0, "stores of some programs of a launch to an argument")


class Written:
    """Which bytes of a tensor are final after launches of which some programs ran: what the last such launch that may write to the tensor has
    written itself. What was there before may have been overwritten by a program that did not run. ``marks`` holds for each byte the number of the launch that
    has written it, at first 0."""

    def __init__(self, marks: Numbers) -> None:
        self.marks = marks
        self.last = self.now = 0
        """The number of the last launch that is over, and of the one that runs; equal where this one writes nothing, or all."""
        self._bytes = 0

    def begin(self, some: bool) -> None:
        """A launch begins that may write to the tensor; ``some``: not all of its programs run."""
        self.last = self.now
        self.now += some
        if self.now > _MOST_LAUNCHES:
            raise Unsupported(0, "more launches than are told apart")

    def end(self) -> None:
        """The launch is over."""
        self.last = self.now

    def note(self, size: int, where: slice | Numbers, count: int) -> None:
        """The launch has written ``count`` elements of ``size`` bytes."""
        self._bytes += count * size
        if self._bytes > MOST_BYTES:
            raise Unsupported(0, f"programs that write more than {MOST_BYTES >> 20} MiB of a large tensor")
        if self.now:
            self._view(size)[where] = self._repeated(self.now, size)

    def check(self, size: int, elements: Numbers, live: Numbers | None) -> None:
        """Raises Unsupported unless the elements are final, or what the launch that runs has written itself."""
        if not self.now:
            return
        marks = self._view(size)[elements]
        known = (marks == self._repeated(self.now, size)) | (marks == self._repeated(self.last, size))
        if not (known if live is None else known | ~live).all():
            raise Unsupported(0, "what programs of a launch that were not run may have written")

    def _view(self, size: int) -> Numbers:
        return self.marks[: len(self.marks) // size * size].view(RAW[size])

    @staticmethod
    def _repeated(number: int, size: int) -> int:
        return int.from_bytes(bytes([number] * size), "little", signed=True)


class Tracked(Region):
    """A region of which it is known what is final, and which holds nothing that is lent."""

    def __init__(self, region: Region, of: Written) -> None:
        super().__init__(region.start, region.memory)
        self._of = of

    def begin(self, some: bool) -> None:
        """A launch begins, which may write to the region if ``written`` says so."""
        if self.written:
            self._of.begin(some)
        else:
            self.end()

    def end(self) -> None:
        """The launches so far are over."""
        self._of.end()

    def get(self, size: int, elements: Numbers, live: Numbers | None) -> Numbers:
        self._of.check(size, elements, live)
        return super().get(size, elements, live)

    def put(self, size: int, where: slice | Numbers, bits: Numbers) -> None:
        super().put(size, where, bits)
        self._of.note(size, where, len(bits))


class Repeated(Region):
    """A region of ``length`` bytes, which are those of ``memory`` again and again, and stay as they are."""

    def __init__(self, start: int, memory: Numbers, length: int) -> None:
        super().__init__(start, memory)
        self.bytes = length

    def get(self, size: int, elements: Numbers, live: Numbers | None) -> Numbers:
        period, rest = divmod(len(self.memory), size)
        if rest:
            raise Unsupported(0, "elements of another size than the tensor's")
        return super().get(size, elements % period, live)

    def put(self, size: int, where: slice | Numbers, bits: Numbers) -> None:
        raise Unsupported(0, "a store to an argument")


class Other(Region):
    """A region that no argument of a launch points into. What programs that do not run may do with it is not known, so it is not touched."""

    def __init__(self, start: int, length: int) -> None:
        super().__init__(start, np.zeros(0, np.uint8))
        self.bytes = length

    def get(self, size: int, elements: Numbers, live: Numbers | None) -> Numbers:
        raise Unsupported(0, "an address that is no argument, in a launch of which some programs run")

    def put(self, size: int, where: slice | Numbers, bits: Numbers) -> None:
        self.get(size, np.zeros(0, np.int64), None)
