"""Operations that arrange lanes: most of them copy nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbx.ttir.findings import OUT_OF_BOUNDS
from kbx.ttir.formats import Numbers
from kbx.ttir.lanes import Environment, Lanes, either, full
from kbx.ttir.lowering import Lowering, Step, computes, lowers
from kbx.ttir.operations.programs import first_program
from kbx.ttir.tree import Operation
from kbx.ttir.types import I64

Arrange = Callable[[Numbers], Numbers]


def _arranged(lanes: Lanes, arrange: Arrange) -> Lanes:
    return Lanes(arrange(lanes.data), None if lanes.undefined is None else arrange(lanes.undefined), lanes.base)


@lowers("tt.make_range")
def _make_range(operation: Operation, _: Lowering) -> Step:
    result = operation.results[0]
    lanes = Lanes(np.arange(operation.integer("start"), operation.integer("end"), dtype=np.int32)[None])

    def step(environment: Environment) -> None:
        environment[result] = lanes

    return step


@computes("tt.splat")
def _splat(operation: Operation) -> Callable[..., Lanes]:
    ones = (1,) * len(operation.results[0].type.shape)
    return lambda lanes: _arranged(lanes, lambda data: data.reshape(-1, *ones))


@computes("tt.unsplat")
def _unsplat(operation: Operation) -> Callable[..., Lanes]:
    return lambda lanes: _arranged(lanes, lambda data: data.reshape(len(data)))


@computes("tt.broadcast")
def _broadcast(operation: Operation) -> Callable[..., Lanes]:
    return lambda lanes: lanes


@computes("tt.expand_dims")
def _expand(operation: Operation) -> Callable[..., Lanes]:
    axis = operation.integer("axis") + 1
    return lambda lanes: _arranged(lanes, lambda data: np.expand_dims(data, axis))


@computes("tt.reshape")
def _reshape(operation: Operation) -> Callable[..., Lanes]:
    old, new = operation.operands[0].type.shape, operation.results[0].type.shape
    ones = (1,) * len(new)

    def arrange(data: Numbers) -> Numbers:
        if all(n == 1 for n in data.shape[1:]):
            return data.reshape(len(data), *ones)
        return full(data, old).reshape(len(data), *new)

    return lambda lanes: _arranged(lanes, arrange)


@computes("tt.trans")
def _transpose(operation: Operation) -> Callable[..., Lanes]:
    order = (0, *(n + 1 for n in operation.integers("order")))
    return lambda lanes: _arranged(lanes, lambda data: data.transpose(order))


def _both(a: Lanes, b: Lanes, combine: Callable[[Numbers, Numbers], Numbers]) -> Lanes:
    undefined = None
    if a.undefined is not None or b.undefined is not None:
        undefined = combine(
            *(np.zeros((1,) * x.data.ndim, np.bool_) if x.undefined is None else x.undefined for x in (a, b))
        )
    return Lanes(combine(a.data, b.data), undefined, a.base if a.base is b.base else None)


@computes("tt.join")
def _join(operation: Operation) -> Callable[..., Lanes]:
    return lambda a, b: _both(a, b, lambda x, y: np.stack(np.broadcast_arrays(x, y), -1))


@computes("tt.cat")
def _cat(operation: Operation) -> Callable[..., Lanes]:
    shape = operation.operands[0].type.shape

    def combine(x: Numbers, y: Numbers) -> Numbers:
        programs = max(len(x), len(y))
        return np.concatenate([np.broadcast_to(each, (programs, *shape)) for each in (x, y)], 1)

    return lambda a, b: _both(a, b, combine)


@lowers("tt.split")
def _split(operation: Operation, _: Lowering) -> Step:
    source, results = operation.operands[0], operation.results

    def half(lanes: Lanes, number: int) -> Lanes:
        return _arranged(lanes, lambda data: data[..., number if data.shape[-1] > 1 else 0])

    def step(environment: Environment) -> None:
        lanes = environment[source]
        for number, result in enumerate(results):
            environment[result] = half(lanes, number)

    return step


@computes("tt.addptr")
def _add_pointer(operation: Operation) -> Callable[..., Lanes]:
    pointee = operation.operands[0].type.element.pointee
    assert pointee is not None
    size = pointee.bytes

    def add(pointer: Lanes, offset: Lanes) -> Lanes:
        by = offset.data.astype(I64.dtype, copy=False)
        return Lanes(
            pointer.data + (by * size if size > 1 else by), either(pointer.undefined, offset.undefined), pointer.base
        )

    return add


@lowers("tt.gather")
def _gather(operation: Operation, _: Lowering) -> Step:
    (source, indices), (result,) = operation.operands, operation.results
    axis, shape = operation.integer("axis") + 1, source.type.shape
    size = shape[axis - 1]

    def step(environment: Environment) -> None:
        values, places = environment[source], environment[indices]
        programs = max(len(values.data), len(places.data))
        at = np.broadcast_to(places.data, (programs, *result.type.shape)).astype(np.int64)
        bad = (at < 0) | (at >= size)
        if bad.any():
            program = first_program(environment, bad)
            text = f"gathers element {int(at[bad][0])} of {size}"
            environment.launch.report(OUT_OF_BOUNDS, operation, text, program, None, int(bad.sum()))
            at = at.clip(0, size - 1)

        def taken(data: Numbers) -> Numbers:
            return np.take_along_axis(np.broadcast_to(data, (programs, *shape)), at, axis)

        undefined = None if values.undefined is None else taken(values.undefined)
        environment[result] = Lanes(taken(values.data), either(undefined, places.undefined))

    return step
