"""What Gluon adds as far as values go: layouts, which change none, and shared memory, which every program has of its own.

Races between threads of one program are not seen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import decoded
from kbx.ttir.lanes import Environment, Lanes, Shared, full
from kbx.ttir.lowering import Lowering, Step, computes, lowers
from kbx.ttir.tree import Operation, Value
from kbx.ttir.types import Type


@computes("ttg.convert_layout")
def _convert(operation: Operation) -> Callable[..., Lanes]:
    return lambda lanes: lanes


def _block(value: Value, operation: Operation) -> Type:
    block = value.type.element.block
    if value.type.element.kind != "shared" or block is None:
        raise Unsupported(operation.line, f"{operation.name} of {value.type}")
    return block


def _shared(environment: Environment, value: Value) -> Shared:
    found = environment[value]
    assert isinstance(found, Shared)
    return found


@lowers("ttg.local_alloc")
def _alloc(operation: Operation, _: Lowering) -> Step:
    result, begins = operation.results[0], operation.operands
    block = _block(result, operation)

    def step(environment: Environment) -> None:
        size = (environment.size, *block.shape)
        unknown = decoded(environment.launch.garbage(block.element), block.element)
        made = Shared(
            np.arange(environment.size), np.full(size, unknown[0], block.element.dtype), np.ones(size, np.bool_)
        )
        environment[result] = made
        for value in begins:
            _put(made, environment[value], block.shape)

    return step


def _put(memory: Shared, lanes: Lanes, shape: tuple[int, ...]) -> None:
    memory.memory[memory.data] = full(lanes.data, shape)
    memory.unset[memory.data] = False if lanes.undefined is None else full(lanes.undefined, shape)


@lowers("ttg.local_store")
def _store(operation: Operation, _: Lowering) -> Step:
    source, target = operation.operands
    shape = _block(target, operation).shape

    def step(environment: Environment) -> None:
        _put(_shared(environment, target), environment[source], shape)

    return step


@lowers("ttg.local_load")
def _load(operation: Operation, _: Lowering) -> Step:
    source, result = operation.operands[0], operation.results[0]
    _block(source, operation)

    def step(environment: Environment) -> None:
        memory = _shared(environment, source)
        unset = memory.unset[memory.data]
        environment[result] = Lanes(memory.memory[memory.data], unset if unset.any() else None)

    return step


@lowers("ttg.local_dealloc")
def _free(operation: Operation, _: Lowering) -> Step:
    return lambda environment: None
