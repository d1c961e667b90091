"""Inline assembly on packs of elements. Which elements share a pack is not specified; here it is neighbours."""

from __future__ import annotations

import math

import numpy as np

from kbx.ttir import ptx
from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers
from kbx.ttir.lanes import Environment, Lanes, either, full
from kbx.ttir.lowering import Lowering, Step, lowers
from kbx.ttir.tree import Operation


def _constraints(operation: Operation) -> tuple[int, int]:
    """Numbers of output and input registers; raises Unsupported for one that is tied to another."""
    listed = [c.strip() for c in operation.keyword("constraints").split(",") if c.strip()]
    for constraint in listed:
        if constraint.lstrip("=&") not in ("r", "l", "h", "f", "d", "c"):
            raise Unsupported(operation.line, f"the constraint {constraint!r} of assembly")
    outputs = sum(c.startswith("=") for c in listed)
    return outputs, len(listed) - outputs


@lowers("tt.elementwise_inline_asm")
def _assembly(operation: Operation, _: Lowering) -> Step:
    program, pack = ptx.Program(operation.text, operation.line), operation.integer("packed_element", 1)
    operands, results = operation.operands, operation.results
    shape = results[0].type.shape
    groups = max(1, math.prod(shape) // pack)
    counts = [ptx.registers_of(value.type.element, pack)[0] for value in (*results, *operands)]
    outputs = sum(counts[: len(results)])
    if _constraints(operation) != (outputs, sum(counts) - outputs):
        raise Unsupported(operation.line, f"the constraints {operation.keyword('constraints')!r} of assembly")

    def grouped(data: Numbers, programs: int) -> Numbers:
        return np.broadcast_to(full(data, shape), (programs, *shape)).reshape(programs * groups, pack)

    def step(environment: Environment) -> None:
        lanes = [environment[value] for value in operands]
        programs = max((len(each.data) for each in lanes), default=1)
        inputs: dict[str, Numbers] = {}
        for each, value in zip(lanes, operands, strict=True):
            for register in ptx.packed(grouped(each.data, programs), value.type.element, pack):
                inputs[f"${outputs + len(inputs)}"] = register
        registers, at = program.run(inputs), 0
        undefined = either(*(each.undefined for each in lanes))
        if undefined is not None and pack > 1:
            doubt = np.broadcast_to(grouped(undefined, programs).any(1, keepdims=True), (programs * groups, pack))
            undefined = doubt.reshape(programs, *shape)
        for result, count in zip(results, counts, strict=False):
            names = [f"${at + i}" for i in range(count)]
            if any(name not in registers for name in names):
                raise Unsupported(operation.line, "assembly that leaves an output unset")
            data = ptx.unpacked([registers[name] for name in names], result.type.element, pack, programs * groups)
            environment[result] = Lanes(data.reshape(programs, *shape), undefined)
            at += count

    return step
