"""Executes compiled kernels: all programs of a grid together, in chunks that bound the memory they take.

kernel = Kernel(text)                                    # parsed and lowered once for a compiled kernel
launch = Launch(grid, Memory(regions), seed=call)
kernel.run(launch, arguments)                            # addresses, numbers and descriptors, one for each parameter
launch.findings
"""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kbx.ttir import operations as _operations  # noqa: F401  registers them
from kbx.ttir import provenance, waiting
from kbx.ttir.formats import rounded
from kbx.ttir.lanes import Descriptor, Environment, Lanes, number
from kbx.ttir.launch import ASCENDING, Launch
from kbx.ttir.lowering import Code, Lowering
from kbx.ttir.memory import Region
from kbx.ttir.operations.control import run_blocks
from kbx.ttir.parser import parse
from kbx.ttir.tree import Operation, Value
from kbx.ttir.types import I1, I64, Type

CHUNK_BYTES = 256 << 20
"""Most that the values of programs that run together take, unless one program's take more."""
CHUNK_ELEMENTS = 1 << 18
"""Elements of the largest tensor of programs that run together: measured, from 2^16 to 2^19 makes no difference, and more is slower, as caches end."""


GROUPS = 64
"""In another order than the usual one, programs that do anything atomically run in so many groups at least, one after another: what those that
run together would all see may not be there yet."""


@dataclass(frozen=True)
class TensorDescriptor:
    """A host's descriptor as an argument: the address, shape and strides (elements) of a tensor, whether outside of it is NaN, and whether
    loads round to TF32."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    nan: bool = False
    tf32: bool = False


Argument: TypeAlias = "int | float | bool | TensorDescriptor | None"


class Kernel:
    """A compiled kernel, ready to run. Raises Unsupported for text or operations that are not known."""

    def __init__(self, text: str) -> None:
        with _uncollected():
            self._prepare(text)

    def _prepare(self, text: str) -> None:
        self.module = parse(text)
        self.function = self.module.kernel
        self._lowering = Lowering(self.module)
        _, self._bodies = self._lowering.function(self.function.name)
        self._reached = provenance.reached(self.module)
        names = {operation.name for f in self.module.functions.values() for operation in f.walk()}
        self.atomic = not names.isdisjoint(provenance.ATOMICS)
        self._waits = waiting.waits(self.module)
        self._parted = self.atomic and (self._waits or not waiting.loops_on_loads(self.module))
        """Whether its programs may run in groups: in a loop that is not known to wait, one would wait for ever for those of later groups."""
        self.largest = max((size for f in self.module.functions.values() for size in _sizes(f.walk())), default=1)
        """Elements of its largest tensor."""
        needed = max(1, sum(_peak(code) for code in self._bodies))
        self._together = max(1, min(CHUNK_ELEMENTS // self.largest, CHUNK_BYTES // needed))

    def run(self, launch: Launch, arguments: Sequence[Argument], names: Sequence[str] = ()) -> None:
        """Runs all programs of a launch; findings are with it, and call the arguments by ``names``, without which those of the IR do.
        Raises Stuck where programs wait for ever."""
        launch.module = self.module
        values = self._bind(launch, arguments, names)
        launch.watch(self.atomic)
        programs = launch.programs()
        with np.errstate(all="ignore"):
            together = self._together
            if self._parted and launch.order != ASCENDING:
                together = max(1, min(together, len(programs) // GROUPS))
            parts = [programs[at : at + together] for at in range(0, len(programs), together)]
            if self._waits:
                waiting.run(self._lowering, self._bodies, [(Environment(launch, part), values) for part in parts])
                return
            for part in parts:
                run_blocks(self._bodies, values, Environment(launch, part))

    def _bind(self, launch: Launch, arguments: Sequence[Argument], names: Sequence[str]) -> list[Lanes]:
        """Lanes of the function's parameters, of which a descriptor has several."""
        parameters = deque(self.function.arguments)
        for region in launch.memory.regions:
            region.written, region.updated, region.fetched, region.accessed = (each is None for each in self._reached)
        found: list[Lanes] = []
        try:
            for argument, name in itertools.zip_longest(arguments, names[: len(arguments)]):
                name = name or parameters[0].name.removeprefix("%")
                if isinstance(argument, TensorDescriptor):
                    found += self._descriptor(launch, parameters, argument, name)
                else:
                    found.append(self._scalar(launch, parameters.popleft(), argument, name))
        except IndexError:
            raise ValueError(f"more arguments than the {len(self.function.arguments)} parameters") from None
        if parameters:
            raise ValueError(f"no argument for {parameters[0].name}")
        return found

    def _scalar(self, launch: Launch, parameter: Value, argument: int | float | bool | None, name: str = "") -> Lanes:
        element = parameter.type.element
        if element.kind == "pointer":
            size = element.pointee.bytes if element.pointee else 1
            return self._pointer(launch, parameter, int(argument or 0), size, name)
        if element.kind == "float":
            return Lanes(rounded(np.array([argument], np.float64), element))
        if element.bits == 1:
            return number(bool(argument), element.dtype)
        whole = int(argument or 0) & (1 << element.bits) - 1
        return Lanes(np.array([whole], np.uint64).astype(f"u{element.bytes}").view(element.dtype))

    def _pointer(self, launch: Launch, parameter: Value, address: int, size: int, name: str) -> Lanes:
        region = launch.memory.at(address)
        if region is None and not address:
            region = Region(0, np.zeros(0, np.uint8))  # a tensor without elements has no address
        if region is not None:
            region.name = region.name or name
            written, updated, fetched, accessed = (each is None or parameter in each for each in self._reached)
            region.written |= written
            region.updated |= updated
            region.fetched |= fetched
            region.accessed |= accessed
        if address % size:
            launch.aligned = False
        return Lanes(np.array([address], np.int64), None, region)

    def _descriptor(self, launch: Launch, parameters: deque[Value], given: TensorDescriptor, name: str) -> list[Lanes]:
        """A descriptor and the numbers that follow it: shape and strides. Where the architecture has none, a pointer stands in its place,
        followed by shape, strides, flags, and shape and strides again."""
        first = parameters.popleft()
        numbers = (*given.shape, *given.strides)
        block = first.type.element.block
        if block is not None:
            base = self._pointer(launch, first, given.address, block.element.bytes, name)
            shape, strides = ([number(n, I64.dtype) for n in each] for each in (given.shape, given.strides))
            found: list[Lanes] = [Descriptor(base, shape, strides, block.shape, given.nan, given.tf32)]
        else:
            found = [self._scalar(launch, first, given.address, name)]
            found += [self._scalar(launch, parameters.popleft(), n) for n in numbers]
            for flag in (given.nan, given.tf32):
                if parameters and parameters[0].type == Type(I1):
                    found.append(self._scalar(launch, parameters.popleft(), flag))
        return found + [self._scalar(launch, parameters.popleft(), n) for n in numbers]


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without garbage collection: a tree is many objects, of which none is garbage, and searching all for some takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _sizes(operations: Iterable[Operation]) -> Iterator[int]:
    for operation in operations:
        for value in operation.results:
            yield value.type.size


def _peak(code: Code) -> int:
    """Most bytes that the values of one program take at a time while a block runs."""
    alive: dict[Value, int] = {value: _bytes(value) for value in code.arguments}
    most = total = sum(alive.values())
    for instruction in code.instructions:
        inside = instruction.operation.walk() if instruction.operation.regions else ()
        inner = sum(_bytes(value) for operation in inside for value in operation.results)
        for value in instruction.operation.results:
            alive[value] = _bytes(value)
            total += alive[value]
        most = max(most, total + inner)
        for value in instruction.dead:
            total -= alive.pop(value, 0)
    return most


def _bytes(value: Value) -> int:
    return value.type.size * value.type.element.dtype.itemsize
