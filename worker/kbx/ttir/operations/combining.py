"""Reductions, scans and maps, whose region says how to combine elements, and histograms.

A reduction halves its axis, neighbours first, so that its region runs log2(n) times on whole slices. The order in which a GPU adds up
is another one anyway. Sums of the formats that are narrower than float32 are rounded after each addition.
"""

from __future__ import annotations

import math

import numpy as np

from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers
from kbx.ttir.lanes import Environment, Lanes, full
from kbx.ttir.lowering import Code, Lowering, Step, lowers, uses
from kbx.ttir.operations import arith
from kbx.ttir.operations.control import run_blocks
from kbx.ttir.tree import Block, Operation, Value

_WHOLE: dict[str, np.ufunc] = {
    "arith.addf": np.add, "arith.addi": np.add, "arith.mulf": np.multiply, "arith.muli": np.multiply,
    "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum,
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
}  # fmt: skip
"""Combinations of which numpy reduces a whole axis at once."""


def _whole(operation: Operation) -> np.ufunc | None:
    """numpy's function for a region of one operation, where its result is the same; of narrow sums and of booleans it is not."""
    block, element = operation.regions[0][0], operation.operands[0].type.element
    if len(operation.operands) != 1 or len(block.operations) != 2:
        return None
    only, returned = block.operations
    if set(only.operands) != set(block.arguments) or returned.operands != only.results:
        return None
    sums = only.name.rpartition(".")[2] in ("addf", "mulf", "addi", "muli")
    return None if sums and (element.narrow or element.bits == 1) else _WHOLE.get(only.name)


def _along(environment: Environment, operands: list[Value], axis: int) -> list[Lanes]:
    """Operands with the combined axis first, all for as many programs."""
    lanes = [environment[value] for value in operands]
    programs = max(len(each.data) for each in lanes)

    def moved(data: Numbers, shape: tuple[int, ...]) -> Numbers:
        return np.moveaxis(np.broadcast_to(data, (programs, *shape)), axis + 1, 0)

    return [
        Lanes(moved(each.data, v.type.shape), None if each.undefined is None else moved(each.undefined, v.type.shape))
        for each, v in zip(lanes, operands, strict=True)
    ]


def _cut(lanes: list[Lanes], part: slice) -> list[Lanes]:
    return [Lanes(each.data[part], None if each.undefined is None else each.undefined[part]) for each in lanes]


def _combined(code: Code, environment: Environment, left: list[Lanes], right: list[Lanes]) -> list[Lanes]:
    """The region on two lists of lanes; its values broadcast to the shape of those."""
    inner = environment.inside()
    inner.update(zip(code.arguments, left + right, strict=True))
    shape = left[0].data.shape
    return [
        Lanes(
            np.broadcast_to(each.data, shape),
            None if each.undefined is None else np.broadcast_to(each.undefined, shape),
        )
        for each in code.yielded(inner)
    ]


def _joined(a: list[Lanes], b: list[Lanes]) -> list[Lanes]:
    """Two lists of lanes, one behind the other along the combined axis."""
    found = []
    for x, y in zip(a, b, strict=True):
        undefined = None
        if x.undefined is not None or y.undefined is not None:
            undefined = np.concatenate(
                [np.zeros(e.data.shape, np.bool_) if e.undefined is None else e.undefined for e in (x, y)]
            )
        found.append(Lanes(np.concatenate([x.data, y.data]), undefined))
    return found


@lowers("tt.reduce")
def _reduce(operation: Operation, lowering: Lowering) -> Step:
    axis, operands, results = operation.integer("axis"), operation.operands, operation.results
    code, whole = lowering.single(operation), _whole(operation)

    def quick(environment: Environment, function: np.ufunc) -> None:
        lanes, shape = environment[operands[0]], operands[0].type.shape
        data = full(lanes.data, shape)
        dtype = data.dtype if function in (np.add, np.multiply) else None
        undefined = None if lanes.undefined is None else np.asarray(full(lanes.undefined, shape).any(axis + 1))
        reduced = (
            function.reduce(data, axis=axis + 1) if dtype is None else function.reduce(data, axis=axis + 1, dtype=dtype)
        )
        environment[results[0]] = Lanes(reduced, undefined)

    def step(environment: Environment) -> None:
        if whole is not None:
            quick(environment, whole)
            return
        lanes = _along(environment, operands, axis)
        while (size := len(lanes[0].data)) > 1:
            even = size - size % 2
            halves = _combined(code, environment, _cut(lanes, slice(0, even, 2)), _cut(lanes, slice(1, even, 2)))
            lanes = halves if even == size else _joined(halves, _cut(lanes, slice(even, size)))
        for result, each in zip(results, lanes, strict=True):
            environment[result] = Lanes(each.data[0], None if each.undefined is None else each.undefined[0])

    return step


@lowers("tt.scan")
def _scan(operation: Operation, lowering: Lowering) -> Step:
    """Inclusive, in log2(n) steps: each element takes in the one ``step`` places before it. Sums go one after another."""
    axis, reverse = operation.integer("axis"), operation.attributes.get("reverse") is True
    operands, results, code = operation.operands, operation.results, lowering.single(operation)
    adds = _whole(operation) is np.add

    def step(environment: Environment) -> None:
        lanes = _along(environment, operands, axis)
        if reverse:
            lanes = _cut(lanes, slice(None, None, -1))
        if adds:
            (each,) = lanes
            undefined = None if each.undefined is None else np.logical_or.accumulate(each.undefined, 0)
            lanes = [Lanes(np.cumsum(each.data, axis=0, dtype=each.data.dtype), undefined)]
        else:
            distance = 1
            while distance < len(lanes[0].data):
                moved = _combined(
                    code, environment, _cut(lanes, slice(None, -distance)), _cut(lanes, slice(distance, None))
                )
                lanes = _joined(_cut(lanes, slice(None, distance)), moved)
                distance *= 2
        for result, each in zip(results, lanes, strict=True):
            environment[result] = _put_back(each, axis, reverse)

    return step


def _put_back(lanes: Lanes, axis: int, reverse: bool) -> Lanes:
    def back(data: Numbers) -> Numbers:
        return np.moveaxis(data[::-1] if reverse else data, 0, axis + 1)

    return Lanes(back(lanes.data), None if lanes.undefined is None else back(lanes.undefined))


@lowers("tt.map_elementwise")
def _map(operation: Operation, lowering: Lowering) -> Step:
    """Any scalar code on groups of ``pack`` elements: each group is a program of its own here, so that their control flow may diverge."""
    blocks, operands, results = operation.regions[0], operation.operands, operation.results
    pack, shape = operation.integer("pack", 1), results[0].type.shape
    bodies = lowering.region(blocks)
    outer = [value for value in uses(operation) if value not in operands and value not in _defined(blocks)]
    count = math.prod(shape) // pack

    def grouped(data: Numbers, programs: int) -> Numbers:
        return np.broadcast_to(data, (programs, *shape)).reshape(programs * count, pack)

    def step(environment: Environment) -> None:
        lanes = [environment[value] for value in operands]
        programs = max(len(each.data) for each in lanes)
        numbers = environment.programs if programs == environment.size else environment.programs[:1]
        inner = Environment(environment.launch, np.repeat(numbers, count))
        for value in outer:
            seen = environment[value]
            inner[value] = seen.of(np.repeat(np.arange(programs), count)) if programs == environment.size else seen
        arguments = []
        for each in lanes:
            data = grouped(each.data, programs)
            undefined = None if each.undefined is None else grouped(each.undefined, programs)
            arguments += [Lanes(data[:, i], None if undefined is None else undefined[:, i]) for i in range(pack)]
        found = run_blocks(bodies, arguments, inner)
        for i, result in enumerate(results):
            environment[result] = _ungrouped(found[i * pack : (i + 1) * pack], programs, count, shape)

    return step


def _ungrouped(parts: list[Lanes], programs: int, count: int, shape: tuple[int, ...]) -> Lanes:
    def together(arrays: list[Numbers]) -> Numbers:
        stacked = np.stack([np.broadcast_to(each, programs * count) for each in arrays], -1)
        return stacked.reshape(programs, *shape)

    undefined = None
    if any(each.undefined is not None for each in parts):
        undefined = together([np.zeros(1, np.bool_) if each.undefined is None else each.undefined for each in parts])
    return Lanes(together([each.data for each in parts]), undefined)


def _defined(blocks: list[Block]) -> set[Value]:
    found: set[Value] = set()
    for block in blocks:
        found.update(block.arguments)
        for outer in block.operations:
            for operation in outer.walk():
                found.update(operation.results)
                for region in operation.regions:
                    for inner in region:
                        found.update(inner.arguments)
    return found


@lowers("tt.histogram")
def _histogram(operation: Operation, _: Lowering) -> Step:
    """Counts of values below the number of bins; others, and those under a mask, count nowhere."""
    source, mask = [*operation.operands, None][:2]
    assert source is not None
    result = operation.results[0]
    if len(result.type.shape) != 1:
        raise Unsupported(operation.line, f"a histogram of type {result.type}")
    bins, shape = result.type.shape[0], source.type.shape

    def step(environment: Environment) -> None:
        lanes = environment[source]
        data, undefined = full(lanes.data, shape), lanes.undefined
        keep = (arith.unsigned(data) < bins) if data.dtype.kind == "i" else np.ones(data.shape, np.bool_)
        if mask is not None:
            allowed = environment[mask]
            keep = keep & allowed.data
            undefined = None if undefined is None else undefined & allowed.data
        programs = len(keep)
        row = np.arange(programs).reshape(-1, *(1,) * (data.ndim - 1)) * bins
        at = np.broadcast_to(data + row, keep.shape)[keep]
        counts = np.bincount(at, minlength=programs * bins).reshape(programs, bins)
        doubt = None if undefined is None or not undefined.any() else np.ones((1, 1), np.bool_)
        environment[result] = Lanes(counts.astype(result.type.element.dtype), doubt)

    return step
