"""A call on tensors of more than 2^31 elements, of which a few MiB are there: arguments that are the same rows again and again, and results in
which only the programs that run write.

All of these lie in the second half of the heap, where the runner has addresses and touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kbx.executor.channel import HEAP_BYTES, MARKS, SPARSE
from kbx.executor.mappings import Mappings
from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers
from kbx.ttir.memory import Memory, Region
from kbx.ttir.partial import Other, PartialLaunch, Repeated, Tracked, Written


class Large:
    """Memory of one such call. ``repeated``: address and bytes of each argument that is repeated, and the address of what it repeats."""

    def __init__(self, memory: Mappings, heap: int, repeated: Iterable[tuple[int, int, int]]) -> None:
        self._memory, self._heap = memory, heap
        self._repeated = {start: (length, like) for start, length, like in repeated}
        self._written: dict[int, Written] = {}
        self._launches = 0
        """Of which not all programs ran."""
        self.left = False
        """Whether a kernel has left its tensors, which decides: what is read from then on need not be final."""

    def region(self, start: int, length: int) -> Region | None:
        """As ``Mappings.region``."""
        if start in self._repeated:
            length, like = self._repeated[start]
            once = self._memory.region(like, 0, None)
            return None if once is None else Repeated(start, once.memory, length)
        offset = start - self._heap
        region = self._memory.region(start, length, None)
        if region is None or self.left or not 0 <= offset < HEAP_BYTES:
            return region
        return Tracked(region, self._of(start, length))

    def launch(self, grid: tuple[int, int, int], memory: Memory, seed: int, elements: int) -> PartialLaunch:
        """The next launch, of a kernel whose largest tensor has so many ``elements``."""
        made = PartialLaunch(grid, memory, seed, elements, self._launches)
        self._launches += made.some
        return made

    def others(self, claimed: Iterable[tuple[int, int]]) -> list[Region]:
        """All tensors, by address and bytes, where a kernel has an address that it was not given."""
        repeated = ((start, length) for start, (length, _) in self._repeated.items())
        return [Other(start, length) for start, length in (*claimed, *repeated)]

    def _of(self, start: int, length: int) -> Written:
        if (start - self._heap) % SPARSE + length > MARKS:
            raise Unsupported(0, "more memory than there are addresses for")
        if start not in self._written:
            marks = self._memory.region(start + MARKS, length, None)
            assert marks is not None
            self._written[start] = Written(marks.memory)
        return self._written[start]

    def final(self, start: int, length: int, offset: int, count: int) -> Numbers:
        """``count`` bytes of a tensor of ``length`` bytes, from this ``offset`` on; raises Unsupported unless they are final, or a kernel has
        left its tensors."""
        region = self.region(start, length)
        if region is None or offset < 0 or count < 0 or offset + count > region.bytes:
            raise Unsupported(0, "a result that is in no memory of the device")
        if isinstance(region, Tracked):
            region.end()
        return region.get(1, np.arange(offset, offset + count), None)
