"""What is wrong with a launch: a finding names the place, the tensor and the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from kbx.ttir.tree import Operation

Program: TypeAlias = "tuple[int, int, int] | None"

OUT_OF_BOUNDS, MISALIGNED, UNDEFINED, RACE, ASSERTION = "out_of_bounds", "misaligned", "undefined", "race", "assertion"
BETWEEN = "between"
"""A read between the elements of a strided tensor: within its memory, but not of it."""


@dataclass(frozen=True)
class Finding:
    """One defect that the executor saw.

    ``file`` and ``line`` are the innermost place outside Triton's library, ``calls`` the places that called it; ``ir_line`` is the
    line of the IR. ``program`` is the first one that is concerned, by its coordinates in the grid; None where it is the same for several.
    ``argument`` is the kernel's parameter whose tensor it is about; ``lanes`` counts the elements. ``kernel`` is the name of the one that was
    launched, which whoever launches it fills in.
    """

    kind: str
    text: str
    file: str
    line: int
    ir_line: int
    program: Program = None
    argument: str | None = None
    lanes: int = 1
    kernel: str = ""
    calls: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    @property
    def rank(self) -> int:
        """How much it says: accesses to memory come first, then races, then what is undefined, and last what is another element."""
        return {RACE: 1, UNDEFINED: 2, BETWEEN: 3}.get(self.kind, 0)

    def __str__(self) -> str:
        return f"{self.kind} at {self.file}:{self.line}{in_program(self.program)}: {self.text}"


def in_program(program: Sequence[int] | None) -> str:
    """`` in program (3, 0, 0)``; nothing where it is the same for several."""
    return f" in program {tuple(program)}" if program is not None else ""


def finding(
    kind: str, operation: Operation, text: str, program: Program, argument: str | None = None, lanes: int = 1
) -> Finding:
    """A finding at the place of an operation."""
    frames = operation.location.frames
    own = operation.location.user()
    calls = tuple((f.file, f.line) for f in frames[frames.index(own) + 1 :]) if own is not None else ()
    file, line = (own.file, own.line) if own is not None else ("?", 0)
    return Finding(kind, text, file, line, operation.line, program, argument, lanes, calls=calls)
