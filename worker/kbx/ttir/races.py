"""Races: two programs that touch one element, one of them writing other bits, with nothing atomic that could order them.

All programs of a launch run together, so the order in which the executor happens to do their accesses says nothing. What is kept of
each element is who read it, who wrote it and when. What atomic operations order is asked of ``kbx.ttir.ordering``; where it cannot say, as of
elements that several have read or in launches of very many programs, any atomic operation is a point at which a program may have waited for
others or told them something, and accesses with such points between them count as ordered. So a lock or a counter may excuse more than it
orders; nobody is accused wrongly.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from kbx.ttir.findings import RACE
from kbx.ttir.formats import Numbers
from kbx.ttir.memory import Region
from kbx.ttir.ordering import Ordering, Touch
from kbx.ttir.tree import Operation

Where: TypeAlias = "slice | Numbers"

NOBODY, SEVERAL = -1, -2


class Access(NamedTuple):
    """An access of one operation: elements of ``size`` bytes, and the program of each (one for all, or SEVERAL).

    ``once`` says that no element is in it twice; ``group`` are all programs that run the operation; ``floats`` says what the elements are.
    """

    operation: Operation
    region: Region
    size: int
    where: Where
    programs: Numbers
    once: bool
    group: Numbers
    floats: bool

    def touch(self, lanes: Numbers | None = None) -> Touch:
        """The same for ``Ordering``, or some of the lanes."""
        where, who, group = self.where, self.programs, self.group
        elements: Numbers = np.arange(where.start, where.stop) if isinstance(where, slice) else where
        if lanes is not None:
            elements, who = elements[lanes], who[lanes] if len(who) == len(lanes) else who
        alone: Numbers | None = None
        if len(elements) == 1 and len(who) == 1 and who[0] < 0:
            elements, alone = np.repeat(elements, len(group)), group
        elif len(elements) <= len(group) and len(who) == len(elements):
            alone = who
        return Touch(self.region.start, self.size, elements, alone, group, self.floats)


class Reporter(Protocol):
    """Takes findings."""

    def report(
        self, kind: str, operation: Operation, text: str, program: int, argument: str | None, lanes: int
    ) -> None: ...

    def coordinates(self, program: int) -> tuple[int, int, int] | None: ...

    def compares(self, operation: Operation) -> bool: ...


class Observer(Protocol):
    """What is told of the accesses to regions that the kernel may write."""

    def read(self, access: Access) -> None: ...

    def write(self, access: Access, old: Numbers, new: Numbers) -> None:
        """Before a store of the bits ``new``, which are ``old`` now."""

    def update(self, access: Access) -> None:
        """Before an atomic operation."""

    def updated(self, access: Access, changed: Numbers, looks: bool) -> None:
        """After it: which of its lanes have changed bits, and whether the programs use what they found."""


class _Footprint:
    """What is known of a region's units of ``size`` bytes; the times only where a kernel does anything atomically.

    ``last_reader`` is one of several, known with the times. ``updater`` is who has last changed a unit atomically, ``earlier`` another one who has done so before; known only of ``mixed``
    regions, which are loaded or stored as well.
    """

    _OF_ALL = ("writer", "reader", "changed")
    _TIMED = ("atomic", "written_at", "read_at", "last_reader")
    _MIXED = ("updater", "updated_at", "earlier", "earlier_at")

    def __init__(self, bytes: int, size: int, timed: bool, mixed: bool) -> None:
        count = bytes // size
        self.size, timed_count, mixed_count = size, count if timed else 0, count if mixed else 0
        self.reads: dict[int, Operation] = {}
        self.writes: dict[int, Operation] = {}
        self.updates: dict[int, Operation] = {}
        self.writer, self.reader = (np.full(count, NOBODY, np.int32) for _ in range(2))
        self.changed = np.zeros(count, np.bool_)
        self.atomic = np.zeros(timed_count, np.bool_)
        self.written_at, self.read_at = (np.zeros(timed_count, np.int32) for _ in range(2))
        self.last_reader = np.full(timed_count, NOBODY, np.int32)
        self.updated_at, self.earlier_at = (np.zeros(mixed_count, np.int32) for _ in range(2))
        self.updater, self.earlier = (np.full(mixed_count, NOBODY, np.int32) for _ in range(2))

    def finer(self, bytes: int, size: int) -> _Footprint:
        """The same for smaller units."""
        fine, times = _Footprint(bytes, size, len(self.atomic) > 0, len(self.updater) > 0), self.size // size
        fine.reads, fine.writes, fine.updates = self.reads, self.writes, self.updates
        for name in (*self._OF_ALL, *self._TIMED, *self._MIXED):
            known = np.repeat(getattr(self, name), times)
            getattr(fine, name)[: len(known)] = known
        return fine


class RaceDetector:
    """An ``Observer`` of one launch of ``programs`` programs. ``atomics`` says whether its kernel has operations that order others."""

    def __init__(self, reporter: Reporter, programs: int, atomics: bool) -> None:
        self._reporter, self._atomics = reporter, atomics
        self._footprints: dict[int, _Footprint] = {}
        self._time = 0
        self._ordering = Ordering(programs if atomics else 0)
        self._told, self._heard = (np.full(programs if atomics else 1, -1, np.int64) for _ in range(2))
        """When a program has last done something atomically, and when it has done so or looked at what others did so."""

    def read(self, access: Access) -> None:
        self._time += 1
        seen, at, who = self._footprint(access)
        writer = seen.writer[at]
        # Of several that wrote equal bits, this program may be one.
        bad = (writer >= 0) & (writer != who)
        if bad.any():
            bad &= seen.changed[at]
            if self._atomics:
                bad = self._unordered(access, bad & ~seen.atomic[at], who, writer, seen.written_at[at])
            if bad.any():
                self._accuse(access, at, bad, who, writer, "reads {}, which {} writes", seen.writes)
        if self._atomics and _is_mixed(access.region):
            self._look(access, seen, at, who)
        self._note_reader(access, seen, at, who)

    def _look(self, access: Access, seen: _Footprint, at: Where, who: Numbers) -> None:
        """A read of what was updated atomically: of sums and the like it is a race, of flags and counters it orders."""
        atomic = seen.atomic[at]
        if not atomic.any():
            return
        if access.floats and not access.operation.is_volatile:
            self._check_updaters(access, seen, at, who, atomic, "reads {}, which {} updates atomically")
        self._ordering.look(access.touch(_lanes(atomic, access.size // seen.size)))
        self._heard[access.group] = self._time

    def _check_updaters(
        self, access: Access, seen: _Footprint, at: Where, who: Numbers, suspects: Numbers, text: str
    ) -> None:
        """Accuses an access to what another program has updated atomically, where it is known that nothing orders the two."""
        if not self._ordering.exact:
            return
        updater = seen.updater[at]
        another = updater == (who if who[0] >= 0 else access.group[0])
        other = np.where(another, seen.earlier[at], updater)
        when = np.where(another, seen.earlier_at[at], seen.updated_at[at])
        bad = suspects & (other >= 0)
        if bad.any():
            bad = self._unordered(access, bad, who, other, when)
            # A number that is compared may be a counter.
            if bad.any() and not self._reporter.compares(access.operation):
                self._accuse(access, at, bad, who, other, text, seen.updates)

    def _note_reader(self, access: Access, seen: _Footprint, at: Where, who: Numbers) -> None:
        seen.reads[id(access.operation)] = access.operation
        reader = seen.reader[at]
        alone = (reader == NOBODY) | (reader == who)
        if not alone.all() and self._atomics:
            # A read that is ordered before this one is also before what this program writes.
            alone |= ~self._unordered(access, ~alone, who, reader, seen.read_at[at])
        self._set(seen.reader, at, np.where(alone, who, SEVERAL), access.once)
        if self._atomics:
            seen.read_at[at] = self._time
            seen.last_reader[at] = who if who[0] >= 0 else access.group[-1]

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
                bad = self._unordered(access, bad, who, writer, seen.written_at[at])
            if bad.any():
                self._accuse(access, at, bad, who, writer, "writes other bits to {} than {}", seen.writes)
        if read.any():
            bad = differs & read
            if self._atomics:
                if self._ordering.exact:
                    last = seen.last_reader[at]
                    reader = np.where((reader == SEVERAL) & (last != who), last, reader)
                bad = self._unordered(access, bad, who, reader, seen.read_at[at])
            if bad.any():
                self._accuse(access, at, bad, who, reader, "writes {}, which {} reads", seen.reads)
        if self._atomics and _is_mixed(access.region):
            self._store_on_atomic(access, seen, at, who, differs)
        seen.writes[id(access.operation)] = access.operation
        self._set(seen.writer, at, who, access.once)
        if differs.all():
            seen.changed[at] = True
        else:
            seen.changed[at] |= differs
        if self._atomics:
            seen.written_at[at] = self._time

    def _store_on_atomic(self, access: Access, seen: _Footprint, at: Where, who: Numbers, differs: Numbers) -> None:
        """A store to what was updated atomically: by who has done so last it gives a lock back, else it is one like others."""
        atomic = seen.atomic[at]
        if not atomic.any():
            return
        releases = atomic & (seen.updater[at] == who)
        bad = atomic & differs & ~releases
        if bad.any():
            self._check_updaters(access, seen, at, who, bad, "writes {}, which {} updates atomically")
        if releases.any():
            touch = access.touch(_lanes(releases, access.size // seen.size))
            self._ordering.change(self._time, touch, np.ones(len(touch.elements), np.bool_), False)
            self._told[access.group] = self._heard[access.group] = self._time
        seen.atomic[at] = releases

    def update(self, access: Access) -> None:
        self._time += 1
        seen, at, who = self._footprint(access)
        writer = seen.writer[at]
        bad = (writer != NOBODY) & (writer != who)
        if bad.any():
            bad = self._unordered(access, bad & seen.changed[at] & ~seen.atomic[at], who, writer, seen.written_at[at])
            if bad.any():
                self._accuse(
                    access, at, bad, who, writer, "updates {} atomically, which {} writes without", seen.writes
                )
        seen.updates[id(access.operation)] = access.operation
        seen.atomic[at] = True
        self._told[access.group] = self._heard[access.group] = self._time

    def updated(self, access: Access, changed: Numbers, looks: bool) -> None:
        if access.region.fetched or access.region.accessed:
            self._ordering.change(self._time, access.touch(), changed, looks)
        if _is_mixed(access.region) and changed.any():
            seen, at, who = self._footprint(access)
            assert not isinstance(at, slice)  # but for loads and stores
            if not changed.all():
                times = access.size // seen.size
                lanes = changed if times == 1 else np.repeat(changed, times)
                at, who = at[lanes], who[lanes] if len(who) > 1 else who
            self._note_updater(seen, at, np.broadcast_to(who, at.shape))

    def _note_updater(self, seen: _Footprint, at: Numbers, who: Numbers) -> None:
        old, old_at = seen.updater[at], seen.updated_at[at]
        seen.updater[at] = who
        last = seen.updater[at]
        # Of those that do so at once, and before: any that is not the last one.
        before = old != last
        seen.earlier[at[before]], seen.earlier_at[at[before]] = old[before], old_at[before]
        again = who != last
        seen.earlier[at[again]], seen.earlier_at[at[again]] = who[again], self._time
        seen.updated_at[at] = self._time

    # ------------------------------------------------ what is kept

    def _footprint(self, access: Access) -> tuple[_Footprint, Where, Numbers]:
        """The footprint of a region, in units that are no larger than the access, the units, and the program of each."""
        region, size = access.region, access.size
        seen = self._footprints.get(region.start)
        if seen is None:
            seen = self._footprints[region.start] = _Footprint(
                region.bytes, size, self._atomics, self._atomics and _is_mixed(region)
            )
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

    def _unordered(self, access: Access, suspects: Numbers, who: Numbers, other: Numbers, when: Numbers) -> Numbers:
        """Those of ``suspects`` that no atomic operation can have ordered after what the other program did ``when``."""
        if not suspects.any() or self._told.max() < 0:
            return suspects
        who = np.broadcast_to(who, other.shape)
        mine = np.where(who >= 0, self._heard[np.maximum(who, 0)], self._heard.max())
        theirs = np.where(other >= 0, self._told[np.maximum(other, 0)], self._told.max())
        unordered: Numbers = suspects & ~((theirs >= when) & (mine >= when))
        if self._ordering.exact:
            asked = np.flatnonzero(suspects & ~unordered & (other >= 0))
            if len(asked):
                # Of a group that does the same, one program stands for all: another one than that which it is compared with.
                first, last = access.group[0], access.group[-1]
                one = np.where(other[asked] != first, first, last)
                mine = np.where(who[asked] >= 0, who[asked], one)
                unordered[asked] = ~self._ordering.before(mine, other[asked], when[asked])
        return unordered

    def _accuse(
        self, access: Access, at: Where, bad: Numbers, who: Numbers, other: Numbers, text: str, by: dict[int, Operation]
    ) -> None:
        """Reports a race of one of the lanes in ``bad`` with the program ``other``, which did so ``by`` one of these operations."""
        lane = int(np.flatnonzero(bad)[0])
        unit = at.start + lane if isinstance(at, slice) else int(at[lane])
        times = access.size // self._footprints[access.region.start].size
        element, lanes = unit // times, int(_lanes(bad, times).sum())
        program = int(np.broadcast_to(who, bad.shape)[lane])
        where = self._reporter.coordinates(int(other[lane]))
        whom = f"program {where}" if where is not None else "another program"
        name = access.region.name
        text = text.format(f"{name}[{element}]", whom) + _in_lines(by)
        self._reporter.report(RACE, access.operation, text, program, name, lanes)


def _in_lines(operations: dict[int, Operation]) -> str:
    """`` in line 12``, or ``12 or 15``; nothing where that is not known."""
    places = [operation.location.user() for operation in operations.values()]
    lines = sorted({place.line for place in places if place is not None})
    return f" in line {' or '.join(map(str, lines))}" if lines else ""


def _is_mixed(region: Region) -> bool:
    """Whether a kernel may update a region atomically, and load or store it as well."""
    return region.updated and region.accessed


def _lanes(units: Numbers, times: int) -> Numbers:
    """Of lanes of ``times`` units each, those of which something holds for a unit."""
    return units if times == 1 else np.asarray(units.reshape(-1, times).any(1))
