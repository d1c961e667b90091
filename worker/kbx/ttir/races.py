"""Races: two programs that touch one element, one of them writing other bits, with nothing atomic that could order them.

All programs of a launch run together, so the order in which the executor happens to do their accesses says nothing. What is kept of
each element is who read it, who wrote it and when. An atomic operation of a program is a point at which it may have waited for others
or told them something: accesses with such points between them count as ordered. So a lock or a counter excuses more than it orders; nobody
is accused wrongly.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from kbx.ttir.findings import RACE
from kbx.ttir.formats import Numbers
from kbx.ttir.memory import Region
from kbx.ttir.tree import Operation

Where: TypeAlias = "slice | Numbers"

NOBODY, SEVERAL = -1, -2


class Access(NamedTuple):
    """An access of one operation: elements of ``size`` bytes, and the program of each (one for all, or SEVERAL).

    ``once`` says that no element is in it twice.
    """

    operation: Operation
    region: Region
    size: int
    where: Where
    programs: Numbers
    once: bool


class Reporter(Protocol):
    """Takes findings."""

    def report(
        self, kind: str, operation: Operation, text: str, program: int, argument: str | None, lanes: int
    ) -> None: ...

    def coordinates(self, program: int) -> tuple[int, int, int] | None: ...


class Observer(Protocol):
    """What is told of the accesses to regions that the kernel may write."""

    def read(self, access: Access) -> None: ...

    def write(self, access: Access, old: Numbers, new: Numbers) -> None:
        """Before a store of the bits ``new``, which are ``old`` now."""

    def lost(self, access: Access, lanes: Numbers) -> None:
        """After a store whose ``lanes`` (places in the access) other lanes of the same operation overwrote with other bits."""

    def update(self, access: Access) -> None:
        """Before an atomic operation."""


class _Footprint:
    """What is known of a region's units of ``size`` bytes; the times only where a kernel does anything atomically."""

    def __init__(self, bytes: int, size: int, timed: bool) -> None:
        count = bytes // size
        self.size = size
        self.writer, self.reader = (np.full(count, NOBODY, np.int32) for _ in range(2))
        self.changed = np.zeros(count, np.bool_)
        self.atomic = np.zeros(count if timed else 0, np.bool_)
        self.written_at, self.read_at = (np.zeros(count if timed else 0, np.int32) for _ in range(2))

    def finer(self, bytes: int, size: int) -> _Footprint:
        """The same for smaller units."""
        fine, times = _Footprint(bytes, size, len(self.atomic) > 0), self.size // size
        for name in ("writer", "reader", "changed", "atomic", "written_at", "read_at"):
            known = np.repeat(getattr(self, name), times)
            getattr(fine, name)[: len(known)] = known
        return fine


class RaceDetector:
    """An ``Observer`` of one launch of ``programs`` programs. ``atomics`` says whether its kernel has operations that order others."""

    def __init__(self, reporter: Reporter, programs: int, atomics: bool) -> None:
        self._reporter, self._atomics = reporter, atomics
        self._footprints: dict[int, _Footprint] = {}
        self._time = 0
        self._last_atomic = np.full(programs if atomics else 1, -1, np.int64)

    def read(self, access: Access) -> None:
        self._time += 1
        seen, at, who = self._footprint(access)
        writer = seen.writer[at]
        # Of several that wrote equal bits, this program may be one.
        bad = (writer >= 0) & (writer != who)
        if bad.any():
            bad &= seen.changed[at]
            if self._atomics:
                bad = self._unordered(bad & ~seen.atomic[at], who, writer, seen.written_at[at])
            if bad.any():
                self._accuse(access, at, bad, who, writer, "reads {}, which {} writes")
        self._note_reader(seen, at, who, access.once)

    def _note_reader(self, seen: _Footprint, at: Where, who: Numbers, once: bool) -> None:
        reader = seen.reader[at]
        alone = (reader == NOBODY) | (reader == who)
        if not alone.all() and self._atomics:
            # A read that is ordered before this one is also before what this program writes.
            alone |= ~self._unordered(~alone, who, reader, seen.read_at[at])
        self._set(seen.reader, at, np.where(alone, who, SEVERAL), once)
        if self._atomics:
            seen.read_at[at] = self._time

    @staticmethod
    def _set(kept: Numbers, at: Where, who: Numbers, once: bool) -> None:
        """Notes programs; of an element that is there for several of them, that it is."""
        kept[at] = who
        if not once and not isinstance(at, slice):
            again = kept[at] != who
            if again.any():
                kept[at[again]] = SEVERAL

    def write(self, access: Access, old: Numbers, new: Numbers) -> None:
        self._time += 1
        seen, at, who = self._footprint(access)
        differs = old != new
        if len(differs) != (at.stop - at.start if isinstance(at, slice) else len(at)):
            differs = np.repeat(differs, access.size // seen.size)
        writer, reader = seen.writer[at], seen.reader[at]
        written, read = (writer != NOBODY) & (writer != who), (reader != NOBODY) & (reader != who)
        if written.any():
            bad = differs & written
            if self._atomics:
                bad = self._unordered(bad, who, writer, seen.written_at[at])
            if bad.any():
                self._accuse(access, at, bad, who, writer, "writes other bits to {} than {}")
        if read.any():
            bad = differs & read
            if self._atomics:
                bad = self._unordered(bad, who, reader, seen.read_at[at])
            if bad.any():
                self._accuse(access, at, bad, who, reader, "writes {}, which {} reads")
        self._set(seen.writer, at, who, access.once)
        if differs.all():
            seen.changed[at] = True
        else:
            seen.changed[at] |= differs
        if self._atomics:
            seen.written_at[at] = self._time
            seen.atomic[at] = False

    def lost(self, access: Access, lanes: Numbers) -> None:
        element = access.where[lanes[0]] if not isinstance(access.where, slice) else access.where.start + lanes[0]
        who = access.programs[lanes[0] if len(access.programs) > 1 else 0]
        text = f"{len(lanes)} lanes write other bits to one element at once, first {access.region.name}[{element}]"
        self._reporter.report(RACE, access.operation, text, int(who), access.region.name, len(lanes))

    def update(self, access: Access) -> None:
        self._time += 1
        seen, at, who = self._footprint(access)
        writer = seen.writer[at]
        bad = (writer != NOBODY) & (writer != who)
        if bad.any():
            bad = self._unordered(bad & seen.changed[at] & ~seen.atomic[at], who, writer, seen.written_at[at])
            if bad.any():
                self._accuse(access, at, bad, who, writer, "updates {} atomically, which {} writes without")
        seen.atomic[at] = True
        known = who[who >= 0]
        self._last_atomic[known] = self._time
        if len(known) < len(who):
            self._last_atomic[:] = self._time

    # ------------------------------------------------ what is kept

    def _footprint(self, access: Access) -> tuple[_Footprint, Where, Numbers]:
        """The footprint of a region, in units that are no larger than the access, the units, and the program of each."""
        region, size = access.region, access.size
        seen = self._footprints.get(region.start)
        if seen is None:
            seen = self._footprints[region.start] = _Footprint(region.bytes, size, self._atomics)
        elif size < seen.size:
            seen = self._footprints[region.start] = seen.finer(region.bytes, size)
        times = size // seen.size
        where, who = access.where, access.programs
        if times == 1:
            return seen, where, who
        if isinstance(where, slice):
            where = slice(where.start * times, where.stop * times)
        else:
            where = (where[:, None] * times + np.arange(times)).reshape(-1)
        return seen, where, who if len(who) == 1 else np.repeat(who, times)

    def _unordered(self, suspects: Numbers, who: Numbers, other: Numbers, when: Numbers) -> Numbers:
        """Those of ``suspects`` that no atomic operation can have ordered after what the other program did ``when``."""
        if not suspects.any() or self._last_atomic.max() < 0:
            return suspects
        who = np.broadcast_to(who, other.shape)
        last = self._last_atomic
        mine = np.where(who >= 0, last[np.maximum(who, 0)], last.max())
        theirs = np.where(other >= 0, last[np.maximum(other, 0)], last.max())
        unordered: Numbers = suspects & ~((theirs >= when) & (mine >= when))
        return unordered

    def _accuse(self, access: Access, at: Where, bad: Numbers, who: Numbers, other: Numbers, text: str) -> None:
        lane = int(np.flatnonzero(bad)[0])
        unit = at.start + lane if isinstance(at, slice) else int(at[lane])
        element = unit // (access.size // self._footprints[access.region.start].size)
        program = int(np.broadcast_to(who, bad.shape)[lane])
        where = self._reporter.coordinates(int(other[lane]))
        whom = f"program {where}" if where is not None else "another program"
        name = access.region.name
        self._reporter.report(
            RACE, access.operation, text.format(f"{name}[{element}]", whom), program, name, int(bad.sum())
        )
