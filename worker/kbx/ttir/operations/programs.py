"""Where a program stands in the grid, and what it prints, asserts and waits for."""

from __future__ import annotations

import numpy as np

from kbx.ttir.findings import ASSERTION
from kbx.ttir.lanes import Environment, Lanes, number
from kbx.ttir.lowering import Lowering, Step, lowers
from kbx.ttir.tree import Operation
from kbx.ttir.types import I32


@lowers("tt.get_program_id")
def _program_id(operation: Operation, _: Lowering) -> Step:
    axis, result = "xyz".index(operation.words[0][1]), operation.results[0]

    def step(environment: Environment) -> None:
        x, y, z = environment.launch.grid
        programs = environment.programs
        if (x, y, z)[axis] == 1:
            environment[result] = number(0, I32.dtype)
            return
        place = programs % x if axis == 0 else programs // x % y if axis == 1 else programs // (x * y)
        environment[result] = Lanes(place.astype(np.int32))

    return step


@lowers("tt.get_num_programs")
def _num_programs(operation: Operation, _: Lowering) -> Step:
    axis, result = "xyz".index(operation.words[0][1]), operation.results[0]

    def step(environment: Environment) -> None:
        environment[result] = number(environment.launch.grid[axis], I32.dtype)

    return step


def first_program(environment: Environment, bad: np.typing.NDArray[np.bool_]) -> int:
    """The number of the first program with a lane in ``bad``; -1 where lanes are the same for several."""
    if len(bad) != environment.size:
        return -1
    return int(environment.programs[bad.reshape(len(bad), -1).any(1)].min())


@lowers("tt.assert", "cf.assert", "llvm.intr.assume")
def _assert(operation: Operation, _: Lowering) -> Step:
    """An assumption that does not hold lets the compiler do anything; an assertion stops the kernel."""
    condition = operation.operands[0]
    text = (
        "an assumption does not hold"
        if operation.name == "llvm.intr.assume"
        else operation.text or "an assertion fails"
    )

    def step(environment: Environment) -> None:
        value = environment[condition]
        if value.undefined is not None and value.undefined.any():
            program = first_program(environment, value.undefined)
            environment.launch.report_undefined(operation, "a condition is undefined", condition, program)
        elif not value.data.all():
            bad = ~value.data
            environment.launch.report(ASSERTION, operation, text, first_program(environment, bad), None, int(bad.sum()))

    return step


@lowers("tt.print", "ttg.barrier", "ttg.local_barrier", "gpu.barrier")
def _nothing(operation: Operation, _: Lowering) -> Step:
    return lambda environment: None
