"""The tree of a parsed module. Nothing here knows how to run it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from kbx.ttir.types import Array, Type

Attribute: TypeAlias = "bool | int | float | str | Type | list[Attribute] | dict[str, Attribute] | Dense | None"
"""A value in braces or behind an equals sign; keywords are text, as are strings; a name without a value is None."""


@dataclass(frozen=True, eq=False)
class Dense:
    """The elements of a constant in its type's own numpy form; a single one stands for all."""

    values: Array
    type: Type


@dataclass(frozen=True)
class Frame:
    """A place in a source file."""

    file: str
    line: int


class Location:
    """Where an operation comes from: the innermost place first, then what called it. Read when somebody asks."""

    __slots__ = ("_frames",)

    def __init__(self, frames: Callable[[], tuple[Frame, ...]] = tuple) -> None:
        self._frames = frames

    @property
    def frames(self) -> tuple[Frame, ...]:
        return self._frames()

    def user(self) -> Frame | None:
        """The innermost place outside Triton's own library; the innermost of all where there is no such."""
        frames = self.frames
        own = (f for f in frames if "/triton/language/" not in f.file)
        return next(own, frames[0] if frames else None)


@dataclass(eq=False)
class Value:
    """What an operation or a block defines, once. Compared by identity."""

    name: str
    type: Type

    __slots__ = ("name", "type")

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(eq=False)
class Successor:
    """Where a branch leads, and what it passes on."""

    label: str
    arguments: list[Value]
    block: Block | None = None


@dataclass(eq=False)
class Operation:
    """One operation. ``words`` are its keywords with the number of operands before each; ``line`` is that of the IR's text."""

    name: str
    operands: list[Value]
    results: list[Value]
    attributes: dict[str, Attribute]
    words: list[tuple[int, str]]
    regions: list[list[Block]]
    successors: list[Successor]
    location: Location
    line: int
    text: str = ""
    """A leading string: assembly, the text of a print, the message of an assertion, a callee."""

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer attribute; raises KeyError where it is missing and there is no default."""
        value = self.attributes.get(name, default)
        if not isinstance(value, int):
            raise KeyError(f"{self.name} has no integer {name}")
        return value

    def integers(self, name: str) -> list[int]:
        value = self.attributes[name]
        assert isinstance(value, list)
        return [n for n in value if isinstance(n, int)]

    def keyword(self, name: str, default: str = "") -> str:
        value = self.attributes.get(name, default)
        return value if isinstance(value, str) else str(value)

    @property
    def is_volatile(self) -> bool:
        """Whether a load looks at memory past the caches, as one for what others write does."""
        policy = self.keyword("cachePolicy")  # Triton 3.9 has the modifier in it
        past = self.keyword("cacheModifier") == "cv" or "cache_modifier = cv" in policy
        return past or self.attributes.get("isVolatile") is True

    def walk(self) -> Iterator[Operation]:
        """This operation and all inside it."""
        yield self
        for region in self.regions:
            for block in region:
                for operation in block.operations:
                    yield from operation.walk()


@dataclass(eq=False)
class Block:
    """Operations that run one after another; the last one says what comes then. ``number`` is its place in its region."""

    label: str
    arguments: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    number: int = 0


@dataclass(eq=False)
class Function:
    """A function; ``blocks[0]`` takes its arguments. ``public`` marks the kernel itself."""

    name: str
    public: bool
    arguments: list[Value]
    results: list[Type]
    blocks: list[Block]
    line: int

    def walk(self) -> Iterator[Operation]:
        for block in self.blocks:
            for operation in block.operations:
                yield from operation.walk()


@dataclass(eq=False)
class Module:
    functions: dict[str, Function]

    @property
    def kernel(self) -> Function:
        """The function that a launch runs."""
        return next(f for f in self.functions.values() if f.public)
