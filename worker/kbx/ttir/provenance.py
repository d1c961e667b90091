"""What values are made of, found by following them through the tree: which arguments of a kernel a store may reach, and where undefined
lanes come from.

Only memory that a kernel may write needs a footprint. What cannot be followed (pointers made of numbers, or read from memory) may reach
all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kbx.ttir.tree import Module, Operation, Value

_STORES = frozenset(("tt.store", "tt.descriptor_store", "tt.descriptor_scatter"))
_LOADS = frozenset(("tt.load", "tt.descriptor_load", "tt.descriptor_gather"))
ATOMICS = frozenset(("tt.atomic_rmw", "tt.atomic_cas", "tt.descriptor_reduce"))
"""Operations that update memory atomically."""
_COMPARISONS = frozenset(("arith.cmpf", "arith.cmpi"))
_MAKES = frozenset(("tt.int_to_ptr", "tt.load", "tt.elementwise_inline_asm", "tt.extern_elementwise"))


class Reached(NamedTuple):
    """A kernel's arguments by what it may do with their memory: write to it in any way, update it atomically, do so and use what was there,
    load or store it; None for all."""

    written: set[Value] | None
    updated: set[Value] | None
    fetched: set[Value] | None
    accessed: set[Value] | None


def reached(module: Module) -> Reached:
    """What a kernel's arguments are for."""
    arguments = [value for value in module.kernel.arguments if _points(value)]
    reaches: dict[Value, set[Value]] = {value: {value} for value in arguments}
    unknown: set[Value] = set()
    operations = [operation for function in module.functions.values() for operation in function.walk()]
    edges = [edge for operation in operations for edge in _flows(operation, module)]
    for operation in operations:
        if operation.name in _MAKES:
            unknown.update(value for value in operation.results if _points(value))
    _spread(edges, reaches, unknown)

    def of(chosen: Iterable[Operation]) -> set[Value] | None:
        found: set[Value] = set()
        for operation in chosen:
            target = operation.operands[0]
            if target in unknown or target not in reaches:
                return None
            found |= reaches[target]
        return found

    atomics = [operation for operation in operations if operation.name in ATOMICS]
    accesses = [operation for operation in operations if operation.name in _STORES | _LOADS]
    stores = [operation for operation in accesses if operation.name in _STORES]
    used = {value for operation in operations for value in operands(operation)}
    return Reached(of(stores + atomics), of(atomics), of(a for a in atomics if used & {*a.results}), of(accesses))


def is_compared(module: Module, value: Value) -> bool:
    """Whether a value, or what is made of it, is compared with anything."""
    operations = [operation for function in module.functions.values() for operation in function.walk()]
    makes: dict[Value, list[Value]] = {}
    for operation in operations:
        for source, target in _passed(operation, module):
            makes.setdefault(source, []).append(target)
    left, known = [value], {value}
    while left:
        new = [target for target in makes.get(left.pop(), []) if target not in known]
        known.update(new)
        left += new
    return any(operation.name in _COMPARISONS and known & {*operation.operands} for operation in operations)


def operands(operation: Operation) -> list[Value]:
    """Operands of an operation, with those that it passes on to blocks."""
    return operation.operands + [value for successor in operation.successors for value in successor.arguments]


def unmasked_loads(module: Module, value: Value) -> list[Operation]:
    """The loads under a mask, without a value for the other lanes, that a value may come from."""
    made_of: dict[Value, list[Value]] = {}
    loads: dict[Value, Operation] = {}
    for function in module.functions.values():
        for operation in function.walk():
            for source, target in _passed(operation, module):
                made_of.setdefault(target, []).append(source)
            if operation.name == "tt.load" and len(operation.operands) == 2:
                loads[operation.results[0]] = operation
    found, left, known = [], [value], {value}
    while left:
        each = left.pop()
        if each in loads:
            found.append(loads[each])
        new = [source for source in made_of.get(each, []) if source not in known]
        known.update(new)
        left += new
    return found


def _spread(edges: list[tuple[Value, Value]], reaches: dict[Value, set[Value]], unknown: set[Value]) -> None:
    changed = True
    while changed:
        changed = False
        for source, target in edges:
            if source in unknown and target not in unknown:
                unknown.add(target)
                changed = True
            new = reaches.get(source, set()) - reaches.get(target, set())
            if new:
                reaches.setdefault(target, set()).update(new)
                changed = True


def _points(value: Value) -> bool:
    return value.type.element.kind in ("pointer", "descriptor")


def _flows(operation: Operation, module: Module) -> Iterator[tuple[Value, Value]]:
    """Pairs of pointers, of which the second may be made of the first."""
    for source, target in _passed(operation, module):
        if _points(source) and _points(target):
            yield source, target


def _passed(operation: Operation, module: Module) -> Iterator[tuple[Value, Value]]:
    for successor in operation.successors:
        if successor.block is not None:
            yield from zip(successor.arguments, successor.block.arguments, strict=False)
    if operation.name == "tt.call":
        callee = module.functions.get(operation.text)
        if callee is not None:
            yield from zip(operation.operands, callee.arguments, strict=False)
            for inner in callee.walk():
                if inner.name == "tt.return":
                    yield from zip(inner.operands, operation.results, strict=False)
    elif operation.name == "scf.for":
        arguments, yields = operation.regions[0][0].arguments[1:], operation.regions[0][0].operations[-1].operands
        for sources in (operation.operands[3:], yields):
            yield from zip(sources, arguments, strict=False)
            yield from zip(sources, operation.results, strict=False)
    elif operation.name == "scf.while":
        before, after = (region[0] for region in operation.regions)
        passed = before.operations[-1].operands[1:]
        yield from zip(operation.operands, before.arguments, strict=False)
        yield from zip(after.operations[-1].operands, before.arguments, strict=False)
        yield from zip(passed, after.arguments, strict=False)
        yield from zip(passed, operation.results, strict=False)
    elif operation.name == "scf.if":
        for region in operation.regions:
            yield from zip(region[0].operations[-1].operands, operation.results, strict=False)
    else:
        for source in operation.operands:
            for target in operation.results:
                yield source, target
