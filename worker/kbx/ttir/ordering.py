"""What a program knows that others have done: order that atomic operations make between programs.

A program that changes an element atomically tells what it has done until then to whoever looks at that element later, by an atomic operation
whose result it uses or by a load. It passes on what it was told itself. What follows from that is exact but for this: any look at an element
counts, also one that finds a value from before the change that mattered, and relaxed operations count as others do. So too much may be
called ordered, and never too little.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from kbx.ttir.formats import Numbers

MOST_PROGRAMS = 2048
"""Programs of a launch for which this is kept: it takes four bytes for each pair of them."""
_MOST_BYTES = 64 << 20
"""For what was told at single elements, beyond which a region is one place, and for what programs have seen."""
_MOST_STEPS = 200_000
"""Times that something is told or looked at, each of which takes ten microseconds."""


class Touch(NamedTuple):
    """Lanes at ``elements`` of ``size`` bytes of the region at ``start``, in the order of their turns, and the program ``who`` of each.

    ``who`` is None where a program has several lanes. ``group`` are all programs that run the operation; ``floats`` says what the elements
    hold.
    """

    start: int
    size: int
    elements: Numbers
    who: Numbers | None
    group: Numbers
    floats: bool


class Ordering:
    """The order between ``programs`` programs of one launch. Times are those of the accesses, which ascend.

    A place is a region by its start and an element of it. Where programs are at several elements at once, and where elements are of
    different sizes or hold floats, which are no locks, all elements of a region are one place.
    """

    def __init__(self, programs: int) -> None:
        self._programs = programs
        self.exact = programs <= MOST_PROGRAMS
        """Whether ``before`` can be asked; no more once there was too much to follow."""
        self._known = np.zeros((programs, programs) if self.exact else (0, 0), np.int32)
        """For each program, until when it knows what each of the others did."""
        self._informed = np.zeros(len(self._known), np.bool_)
        self._told: dict[tuple[int, int], Numbers] = {}
        """What was told at an element. Arrays are never changed but replaced, as programs hold on to what they saw."""
        self._told_at_all: dict[int, Numbers] = {}
        """What was told at all elements of a region at once."""
        self._told_anywhere: dict[int, Numbers] = {}
        """What was told at any element of a region."""
        self._places: dict[tuple[int, int], int] = {}
        self._snapshots: list[Numbers] = []
        self._last: dict[int, tuple[Numbers, int]] = {}
        """What was seen last at a place, and its number among the snapshots."""
        self._place, self._snapshot = (np.full(len(self._known), -1, np.int32) for _ in range(2))
        """Where each program has looked last, and what it saw, if it has not yet taken that in: who waits looks at one place all the time."""
        self._sizes: dict[int, int] = {}
        self._coarse: set[int] = set()
        self._steps = 0

    def before(self, who: Numbers, other: Numbers, when: Numbers) -> Numbers:
        """Whether what programs ``other`` did at times ``when`` is ordered before what ``who`` do now; all are single programs."""
        self._take_in(who)
        ordered: Numbers = self._known[who, other] >= when
        return ordered

    def change(self, time: int, touch: Touch, changed: Numbers, looks: bool) -> None:
        """Programs update elements atomically, in the order of ``touch``.

        ``changed`` says of which elements the bits are others then, ``looks`` whether the programs use what they found.
        """
        if not self.exact:
            return
        programs = self._single(touch)
        if programs is None:
            if changed.any():
                self._tell(touch.start, -1, time, touch.group)
            if looks:
                self._look_at_all(touch)
            return
        for element in np.unique(touch.elements).tolist():
            here = touch.elements == element
            who, turned = programs[here], changed[here]
            if not looks:
                if turned.any():
                    self._tell(touch.start, element, time, who[turned])
                continue
            for program in who[turned, None]:
                self._look(touch.start, element, program)
                self._tell(touch.start, element, time, program)
            self._look(touch.start, element, who[~turned])

    def look(self, touch: Touch) -> None:
        """Programs load elements that were updated atomically."""
        if not self.exact:
            return
        programs = self._single(touch)
        if programs is None:
            self._look_at_all(touch)
            return
        for element in np.unique(touch.elements).tolist():
            self._look(touch.start, element, programs[touch.elements == element])

    def _single(self, touch: Touch) -> Numbers | None:
        """The program of each lane, where elements of the region are places of their own; else None."""
        start, who = touch.start, touch.who
        if start in self._coarse:
            return None
        if (
            touch.floats
            or self._sizes.setdefault(start, touch.size) != touch.size
            or len(self._told) * self._programs * 4 > _MOST_BYTES
        ):
            self._coarse.add(start)
            return None
        return who if who is not None and len(np.unique(who)) == len(who) else None

    def _tell(self, start: int, element: int, time: int, who: Numbers) -> None:
        self._take_in(who)
        informed = who[self._informed[who]]
        news = self._known[informed].max(0) if len(informed) else np.zeros(self._programs, np.int32)
        news[who] = time
        _add(self._told_anywhere, start, news)
        if element < 0:
            _add(self._told_at_all, start, news)
        else:
            _add(self._told, (start, element), news)
        self._step()

    def _look_at_all(self, touch: Touch) -> None:
        told = self._told_anywhere.get(touch.start)
        if told is not None:
            self._see(touch.group, (touch.start, -1), told)

    def _look(self, start: int, element: int, who: Numbers) -> None:
        told, everywhere = self._told.get((start, element)), self._told_at_all.get(start)
        if told is None or everywhere is None:
            told = everywhere if told is None else told
        else:
            told = np.maximum(told, everywhere)
        if told is not None:
            self._see(who, (start, element), told)

    def _see(self, who: Numbers, where: tuple[int, int], told: Numbers) -> None:
        place = self._places.setdefault(where, len(self._places))
        self._take_in(who[self._place[who] != place])
        last, number = self._last.get(place, (None, -1))
        if last is not told:
            number = len(self._snapshots)
            self._snapshots.append(told)
            self._last[place] = told, number
        self._place[who], self._snapshot[who] = place, number
        self._step()

    def _take_in(self, who: Numbers) -> None:
        """What programs have seen counts as known to them from now on."""
        for program in np.unique(who[self._place[who] >= 0]).tolist():
            known = self._known[program]
            np.maximum(known, self._snapshots[self._snapshot[program]], out=known)
            self._informed[program] = True
            self._place[program] = -1

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS or len(self._snapshots) * self._programs * 4 > _MOST_BYTES:
            self.exact = False
            self._place[:] = -1
            self._snapshots.clear()
            for each in (self._told, self._told_at_all, self._told_anywhere, self._last):
                each.clear()


_Key = TypeVar("_Key")


def _add(told: dict[_Key, Numbers], place: _Key, news: Numbers) -> None:
    old = told.get(place)
    told[place] = news if old is None else np.maximum(old, news)
