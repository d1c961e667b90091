"""Values at run time: for many programs at once, and for all lanes of each.

The first axis of an array is the program, the others are the tensor's. Each has its full size or 1: what is the same for all programs,
or along an axis, is kept once, so that a splat or a broadcast costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kbx.ttir.formats import Numbers
from kbx.ttir.tree import Value

if TYPE_CHECKING:
    from kbx.ttir.launch import Launch
    from kbx.ttir.memory import Region


class Lanes:
    """The values of one ``Value``.

    ``undefined`` marks lanes that no program may rely on, or is None where there are none; it broadcasts with ``data``. ``base`` is the
    memory that a pointer was made from, or None where that is not known.
    """

    __slots__ = ("base", "data", "undefined")

    def __init__(self, data: Numbers, undefined: Numbers | None = None, base: Region | None = None) -> None:
        self.data, self.undefined, self.base = data, undefined, base

    def of(self, programs: Numbers) -> Lanes:
        """The values of some of the programs, by their places on the first axis."""
        data = self.data if self.data.shape[0] == 1 else self.data[programs]
        undefined = self.undefined
        if undefined is not None and undefined.shape[0] != 1:
            undefined = undefined[programs]
        return Lanes(data, undefined, self.base)


class Descriptor(Lanes):
    """A tensor descriptor: where a tensor lies, and the block that is loaded from it. ``data`` are addresses.

    Outside the tensor a load gives NaN where ``nan`` says so; it rounds to TF32 where ``tf32`` does.
    """

    __slots__ = ("block", "nan", "shape", "strides", "tf32")

    def __init__(
        self,
        base: Lanes,
        shape: Sequence[Lanes],
        strides: Sequence[Lanes],
        block: tuple[int, ...],
        nan: bool = False,
        tf32: bool = False,
    ) -> None:
        super().__init__(base.data, base.undefined, base.base)
        self.shape, self.strides, self.block, self.nan = list(shape), list(strides), block, nan
        self.tf32 = tf32

    def of(self, programs: Numbers) -> Descriptor:
        shape, strides = ([lanes.of(programs) for lanes in each] for each in (self.shape, self.strides))
        return Descriptor(super().of(programs), shape, strides, self.block, self.nan, self.tf32)


class Shared(Lanes):
    """Memory of the program's own. ``data`` are the places of programs in ``memory``, whose groups keep one memory when they part."""

    __slots__ = ("memory", "unset")

    def __init__(self, rows: Numbers, memory: Numbers, unset: Numbers) -> None:
        super().__init__(rows)
        self.memory, self.unset = memory, unset

    def of(self, programs: Numbers) -> Shared:
        return Shared(self.data[programs] if len(self.data) > 1 else self.data, self.memory, self.unset)


class Environment(dict[Value, Lanes]):
    """What the programs of a group have computed. ``programs`` are their numbers in the grid.

    A group that is part of another one has that as its ``parent``, and ``places`` says where its programs stand there: it sees
    what the parent had computed.
    """

    __slots__ = ("launch", "parent", "places", "programs", "size")

    def __init__(
        self, launch: Launch, programs: Numbers, parent: Environment | None = None, places: Numbers | None = None
    ) -> None:
        super().__init__()
        self.launch, self.programs, self.size = launch, programs, len(programs)
        self.parent, self.places = parent, places

    def __missing__(self, value: Value) -> Lanes:
        if self.parent is None:
            raise KeyError(value)
        seen = self.parent[value]
        if self.places is not None and self.parent.size > 1:
            seen = seen.of(self.places)
        self[value] = seen
        return seen

    def part(self, places: Numbers) -> Environment:
        """The environment of some of the programs, by their places."""
        return Environment(self.launch, self.programs[places], self, places)

    def inside(self) -> Environment:
        """An environment of the same programs, for what is to be forgotten afterwards."""
        return Environment(self.launch, self.programs, self)


def merged(parts: Sequence[tuple[Numbers, Lanes]], size: int) -> Lanes:
    """One value of ``size`` programs from those of groups and their places, which are all places together and ascend in each."""
    parts = [(places, lanes) for places, lanes in parts if len(places)]
    first = parts[0][1]
    if len(parts) == 1 or all(lanes is first for _, lanes in parts):
        return first
    if any(isinstance(lanes, Descriptor) for _, lanes in parts):
        return _merged_descriptors(parts, size)
    shape = np.broadcast_shapes(*(lanes.data.shape[1:] for _, lanes in parts))
    data = np.empty((size, *shape), first.data.dtype)
    for places, lanes in parts:
        data[places] = lanes.data
    undefined = None
    if any(lanes.undefined is not None for _, lanes in parts):
        undefined = np.zeros((size, *shape), np.bool_)
        for places, lanes in parts:
            if lanes.undefined is not None:
                undefined[places] = lanes.undefined
    if isinstance(first, Shared):
        return Shared(data, first.memory, first.unset)
    base = first.base if all(lanes.base is first.base for _, lanes in parts) else None
    return Lanes(data, undefined, base)


def _merged_descriptors(parts: Sequence[tuple[Numbers, Lanes]], size: int) -> Descriptor:
    each = [(places, lanes) for places, lanes in parts if isinstance(lanes, Descriptor)]
    first = each[0][1]

    def along(name: str) -> list[Lanes]:
        return [merged([(p, getattr(d, name)[i]) for p, d in each], size) for i in range(len(first.block))]

    base = merged([(p, Lanes(d.data, d.undefined, d.base)) for p, d in each], size)
    return Descriptor(base, along("shape"), along("strides"), first.block, first.nan, first.tf32)


def full(data: Numbers, shape: tuple[int, ...]) -> Numbers:
    """``data`` with every axis of the tensor in full size; the programs' may stay 1."""
    return data if data.shape[1:] == shape else np.broadcast_to(data, (data.shape[0], *shape))


def either(*undefined: Numbers | None) -> Numbers | None:
    """Lanes that are undefined in any."""
    found = None
    for each in undefined:
        if each is not None:
            found = each if found is None else found | each
    return found


def number(value: int | float, dtype: np.dtype[np.generic]) -> Lanes:
    """A scalar that is the same for all programs."""
    return Lanes(np.array([value]).astype(dtype))
