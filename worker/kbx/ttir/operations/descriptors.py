"""Tensor descriptors: blocks of a tensor, clipped to it in hardware. What lies outside reads as zero or NaN and is not written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kbx.ttir import formats
from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers
from kbx.ttir.lanes import Descriptor, Environment, Lanes
from kbx.ttir.lowering import Lowering, Step, lowers
from kbx.ttir.operations.accesses import Site
from kbx.ttir.operations.atomics import Atomic
from kbx.ttir.tree import Operation, Value
from kbx.ttir.types import F32, Element, Type


@lowers("tt.make_tensor_descriptor")
def _make(operation: Operation, _: Lowering) -> Step:
    result = operation.results[0]
    block = _block(result, operation)
    rank = len(block.shape)
    base, *sizes = operation.operands
    if len(sizes) != 2 * rank:
        raise Unsupported(operation.line, f"a descriptor with {len(sizes)} sizes and strides for {rank} axes")
    nan = operation.attributes.get("padding") in (2, "nan")

    def step(environment: Environment) -> None:
        given = [environment[value] for value in sizes]
        environment[result] = Descriptor(environment[base], given[:rank], given[rank:], block.shape, nan)

    return step


def _block(value: Value, operation: Operation) -> Type:
    block = value.type.element.block
    if block is None:
        raise Unsupported(operation.line, f"{operation.name} of {value.type}")
    return block


def _wide(lanes: Lanes, rank: int) -> Numbers:
    return lanes.data.astype(np.int64).reshape(-1, *(1,) * rank)


class _Window:
    """Pointers to a block of a descriptor, and the lanes of it that lie inside the tensor."""

    def __init__(self, element: Element, shape: tuple[int, ...]) -> None:
        self._size, self.shape = element.bytes, shape

    def at(self, descriptor: Descriptor, coordinates: Sequence[Lanes]) -> tuple[Lanes, Lanes]:
        """``coordinates`` of the first element; a first one that is a tensor lists rows."""
        rank = len(self.shape)
        inside: Numbers = np.ones((1,) * (rank + 1), np.bool_)
        address = _wide(descriptor, rank)
        for axis, size in enumerate(self.shape):
            where = coordinates[axis].data.astype(np.int64)
            if where.ndim > 1:
                places = where.reshape(len(where), -1, *(1,) * (rank - 1))
            else:
                along = np.arange(size).reshape(1, *(size if other == axis else 1 for other in range(rank)))
                places = where.reshape(-1, *(1,) * rank) + along
            inside = inside & (places >= 0) & (places < _wide(descriptor.shape[axis], rank))
            address = address + places * _wide(descriptor.strides[axis], rank) * self._size
        return Lanes(address, descriptor.undefined, descriptor.base), Lanes(inside)


def _descriptor(environment: Environment, value: Value) -> Descriptor:
    found = environment[value]
    assert isinstance(found, Descriptor)
    return found


@lowers("tt.descriptor_load", "tt.descriptor_gather")
def _load(operation: Operation, _: Lowering) -> Step:
    source, *coordinates = operation.operands
    result, element = operation.results[0], _block(source, operation).element
    gathers = operation.name == "tt.descriptor_gather"
    shape = result.type.shape if gathers else _block(source, operation).shape
    site, window, whole = Site(operation, element, shape), _Window(element, shape), result.type.shape
    zero, nan = (Lanes(np.array(value).astype(element.dtype).reshape((1,) * (len(shape) + 1))) for value in (0, 0))
    if element.kind == "float":
        nan = Lanes(np.full((1,) * (len(shape) + 1), np.nan, element.dtype))

    def step(environment: Environment) -> None:
        descriptor = _descriptor(environment, source)
        pointer, inside = window.at(descriptor, [environment[value] for value in coordinates])
        loaded = site.load(environment, pointer, inside, nan if descriptor.nan else zero)
        values = formats.tf32_even(loaded.data) if descriptor.tf32 and element == F32 else loaded.data
        data = np.broadcast_to(values, (len(values), *shape)).reshape(-1, *whole)
        environment[result] = Lanes(data, None if loaded.undefined is None else np.ones((1,) * data.ndim, np.bool_))

    return step


def _written(value: Lanes, shape: tuple[int, ...], given: tuple[int, ...]) -> Lanes:
    """A value in the shape of a descriptor's block."""

    def shaped(data: Numbers) -> Numbers:
        return np.broadcast_to(data, (len(data), *given)).reshape(-1, *shape)

    return Lanes(shaped(value.data), None if value.undefined is None else shaped(value.undefined))


@lowers("tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce")
def _store(operation: Operation, _: Lowering) -> Step:
    target, *coordinates, value = operation.operands
    element, given = _block(target, operation).element, value.type.shape
    shape = given if operation.name == "tt.descriptor_scatter" else _block(target, operation).shape
    window = _Window(element, shape)
    site = Site(operation, element, shape)
    atomic = None
    if operation.name == "tt.descriptor_reduce":
        kind = operation.words[0][1]
        atomic = Atomic(operation, element, shape, "fadd" if element.kind == "float" and kind == "add" else kind, False)

    def step(environment: Environment) -> None:
        descriptor = _descriptor(environment, target)
        pointer, inside = window.at(descriptor, [environment[each] for each in coordinates])
        written = _written(environment[value], shape, given)
        if atomic is not None:
            atomic.run(environment, pointer, [written], inside)
        else:
            site.store(environment, pointer, written, inside)

    return step
