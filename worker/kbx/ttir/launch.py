"""One launch: the grid, the memory, what is found, and what undefined values look like this time."""

from __future__ import annotations

import random

import numpy as np

from kbx.ttir.findings import UNDEFINED, Finding, Program, finding
from kbx.ttir.formats import Numbers, encoded, rounded
from kbx.ttir.memory import Memory
from kbx.ttir.provenance import is_compared, unmasked_loads
from kbx.ttir.races import Observer, RaceDetector
from kbx.ttir.tree import Module, Operation, Value
from kbx.ttir.types import Element

ASCENDING, REVERSED, SHUFFLED = "ascending", "reversed", "shuffled"


class Launch:
    """State of a launch over ``grid``.

    ``seed`` decides what undefined lanes hold: launches with different seeds have different values there, so that a result that depends on
    one differs. ``order`` is that in which programs go first where only one can; ``checks`` looks for races.
    """

    def __init__(
        self, grid: tuple[int, int, int], memory: Memory, seed: int = 0, order: str = ASCENDING, checks: bool = True
    ) -> None:
        self.grid, self.memory, self.seed = grid, memory, seed
        self.total = grid[0] * grid[1] * grid[2]
        self.order = order
        self.findings: list[Finding] = []
        self._known: set[tuple[str, int, str | None]] = set()
        self.checks = checks
        self.module: Module | None = None
        """Of the kernel that runs, which tells where undefined values come from."""
        self.observer: Observer | None = None
        self.aligned = True
        """Whether every address is a multiple of its element's size: what is made from tensors is, until it is cast."""
        self.changes = 0
        """How often an atomic operation or a store may have changed memory; programs that wait look again when it did."""
        self._garbage: dict[str, Numbers] = {}

    def watch(self, atomics: bool) -> None:
        """Looks for races from now on, where that is wanted; ``atomics`` as in ``RaceDetector``."""
        if self.checks and self.total > 1:
            self.observer = RaceDetector(self, self.total, atomics)

    def programs(self) -> Numbers:
        """Numbers of all programs in the order of this launch."""
        numbers = np.arange(self.total, dtype=np.int64)
        if self.order == REVERSED:
            return np.array(numbers[::-1])
        if self.order == SHUFFLED:
            np.random.default_rng(self.seed).shuffle(numbers)
        return numbers

    def coordinates(self, program: int) -> Program:
        """A program's place in the grid; None for a negative number, which means several."""
        if program < 0:
            return None
        x, y, _ = self.grid
        return program % x, program // x % y, program // (x * y)

    def report(
        self, kind: str, operation: Operation, text: str, program: int, argument: str | None = None, lanes: int = 1
    ) -> None:
        """Adds a finding, unless the same operation has one of this kind about this argument."""
        key = (kind, id(operation), argument)
        if key not in self._known:
            self._known.add(key)
            self.findings.append(finding(kind, operation, text, self.coordinates(program), argument, lanes))

    def report_undefined(
        self, operation: Operation, text: str, value: Value, program: int, argument: str | None = None, lanes: int = 1
    ) -> None:
        """Adds a finding about ``value``, an operand, with the lines that its undefined lanes may come from."""
        if (UNDEFINED, id(operation), argument) in self._known:
            return
        sources = unmasked_loads(self.module, value) if self.module is not None else []
        places = [load.location.user() for load in sources]
        lines = sorted({place.line for place in places if place is not None})
        if lines:
            loads = f"line {lines[0]} loads" if len(lines) == 1 else f"lines {', '.join(map(str, lines))} load"
            text += f"; {loads} under a mask without `other`"
        self.report(UNDEFINED, operation, text, program, argument, lanes)

    def compares(self, operation: Operation) -> bool:
        """Whether the kernel compares the result of an operation, or what it makes of it, with anything."""
        return self.module is None or any(is_compared(self.module, value) for value in operation.results)

    def garbage(self, element: Element) -> Numbers:
        """The bits, one element, of a value that nobody may rely on: another one for each seed."""
        found = self._garbage.get(element.name)
        if found is None:
            found = self._garbage[element.name] = self._make_garbage(element)
        return found

    def _make_garbage(self, element: Element) -> Numbers:
        draw = random.Random(f"{self.seed} {element.name}")
        if element.kind == "float":
            large = draw.uniform(1e3, 4e4) if element.bits > 8 else draw.uniform(20, 200)
            value = (large, np.nan, -large)[self.seed % 3]  # NaN alone would be dropped by a maximum
            return encoded(rounded(np.array([value]), element), element)
        bits = element.bits
        if bits == 1:
            return np.array([draw.getrandbits(1)], np.int8)
        large = draw.randrange(1 << bits - 2, 1 << bits - 1)
        whole = (large, 0, -large)[
            self.seed % 3
        ]  # a minimum drops the first, a maximum the last, and all are true but for 0
        return np.array([whole]).astype(element.raw)
