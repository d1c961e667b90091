"""Control flow. Programs that agree stay together; those that differ go on as groups, and come together where the regions end."""

from __future__ import annotations

import numpy as np

from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers
from kbx.ttir.lanes import Environment, Lanes, merged
from kbx.ttir.lowering import Code, Lowering, Step, lowers
from kbx.ttir.operations.programs import first_program
from kbx.ttir.tree import Operation, Successor, Value


def truth(operation: Operation, environment: Environment, condition: Value) -> Numbers:
    """A condition for each program, or one for all; reports an undefined one."""
    lanes = environment[condition]
    if lanes.undefined is not None and lanes.undefined.any():
        program = first_program(environment, lanes.undefined)
        environment.launch.report_undefined(operation, "branches on a value that is undefined", condition, program)
    return lanes.data.reshape(-1).astype(np.bool_)


# ---------------------------------------------------------------- structured


@lowers("scf.if")
def _if(operation: Operation, lowering: Lowering) -> Step:
    condition, results = operation.operands[0], operation.results
    sides = [lowering.single(operation, number) for number in range(len(operation.regions))]

    def step(environment: Environment) -> None:
        chosen = truth(operation, environment, condition)
        if len(chosen) == 1 or chosen.all() or not chosen.any():
            side = 0 if chosen[0] else 1
            found = sides[side].yielded(environment) if side < len(sides) else []
        else:
            parts = []
            for side, places in enumerate((np.flatnonzero(chosen), np.flatnonzero(~chosen))):
                if side < len(sides):
                    parts.append((places, sides[side].yielded(environment.part(places))))
            found = [merged([(p, values[i]) for p, values in parts], environment.size) for i in range(len(results))]
        environment.update(zip(results, found, strict=True))

    return step


class Carried:
    """Values that a loop carries, while programs leave it one after another."""

    def __init__(self, environment: Environment, values: list[Lanes]) -> None:
        self.environment, self.values = environment, values
        self.inner = environment
        self.active = np.arange(environment.size)
        self._left: list[tuple[Numbers, list[Lanes]]] = []

    def leave(self, going: Numbers, values: list[Lanes]) -> None:
        """Takes programs out of the loop, with what they leave it with; ``going`` is a truth for each active one."""
        leaving, staying = np.flatnonzero(going), np.flatnonzero(~going)
        if len(leaving) == len(self.active):
            self._left.append((self.active, values))
            self.active = self.active[:0]
            return
        self._left.append((self.active[leaving], [each.of(leaving) for each in values]))
        self.values = [each.of(staying) for each in values]
        self.active = self.active[staying]
        self.inner = self.environment.part(self.active)

    def result(self) -> list[Lanes]:
        count = len(self._left[0][1]) if self._left else 0
        return [merged([(p, values[i]) for p, values in self._left], self.environment.size) for i in range(count)]


def loop_bounds(operation: Operation, environment: Environment) -> tuple[Numbers, Numbers, Numbers]:
    """First value, step and number of turns for each program, or for all; reports undefined bounds."""
    low, high, step = (environment[value] for value in operation.operands[:3])
    for value in operation.operands[:3]:
        doubt = environment[value].undefined
        if doubt is not None and doubt.any():
            program = first_program(environment, doubt)
            environment.launch.report_undefined(operation, "loops to a bound that is undefined", value, program)
    unsigned = bool(operation.words)
    first, last, by = (each.data.astype(np.int64) for each in (low, high, step))
    if unsigned:
        mask = (1 << min(63, operation.operands[0].type.element.bits)) - 1
        first, last, by = first & mask, last & mask, by & mask
    by = np.where(by == 0, 1, by)
    turns = np.maximum(-((first - last) // by), 0)
    return first, by, np.where(by < 0, 0, turns)


@lowers("scf.for")
def _for(operation: Operation, lowering: Lowering) -> Step:
    code, results = lowering.single(operation), operation.results
    index, *arguments = code.arguments
    dtype, begins = index.type.element.dtype, operation.operands[3:]

    def together(environment: Environment, first: int, by: int, turns: int) -> list[Lanes]:
        values = [environment[value] for value in begins]
        for turn in range(turns):
            environment[index] = Lanes(np.array([first + turn * by]).astype(dtype))
            environment.update(zip(arguments, values, strict=True))
            values = code.yielded(environment)
        return values

    def apart(environment: Environment, first: Numbers, by: Numbers, turns: Numbers) -> list[Lanes]:
        first, by, turns = (np.broadcast_to(each, environment.size) for each in (first, by, turns))
        loop = Carried(environment, [environment[value] for value in begins])
        for turn in range(int(turns.max(initial=0)) + 1):
            done = turns[loop.active] <= turn
            if done.any():
                loop.leave(done, loop.values)
                if not len(loop.active):
                    break
            inner = loop.inner if loop.inner is not environment else environment.inside()
            inner[index] = Lanes((first[loop.active] + turn * by[loop.active]).astype(dtype))
            inner.update(zip(arguments, loop.values, strict=True))
            loop.values = code.yielded(inner)
        return loop.result()

    def step(environment: Environment) -> None:
        first, by, turns = loop_bounds(operation, environment)
        if len(first) == len(by) == 1 and (len(turns) == 1 or (turns == turns[0]).all()):
            found = together(environment, int(first[0]), int(by[0]), int(turns[0]))
        else:
            found = apart(environment, first, by, turns)
        environment.update(zip(results, found, strict=True))

    return step


@lowers("scf.while")
def _while(operation: Operation, lowering: Lowering) -> Step:
    before, after = lowering.single(operation, 0), lowering.single(operation, 1)
    begins, results = operation.operands, operation.results

    def step(environment: Environment) -> None:
        loop = Carried(environment, [environment[value] for value in begins])
        while True:
            inner = loop.inner
            inner.update(zip(before.arguments, loop.values, strict=True))
            condition = before.run(inner)
            goes_on = np.broadcast_to(truth(condition, inner, condition.operands[0]), len(loop.active))
            values = [inner[value] for value in condition.operands[1:]]
            if not goes_on.all():
                loop.leave(~goes_on, values)
                if not len(loop.active):
                    break
            else:
                loop.values = values
            inner = loop.inner
            inner.update(zip(after.arguments, loop.values, strict=True))
            loop.values = after.yielded(inner)
        environment.update(zip(results, loop.result(), strict=True))

    return step


# ---------------------------------------------------------------- functions and their blocks


@lowers("tt.call")
def _call(operation: Operation, lowering: Lowering) -> Step:
    name = operation.text
    lowering.function(name, operation.line)

    def step(environment: Environment) -> None:
        _, bodies = lowering.function(name, operation.line)
        inner = Environment(environment.launch, environment.programs)
        arguments = [environment[value] for value in operation.operands]
        environment.update(zip(operation.results, run_blocks(bodies, arguments, inner), strict=True))

    return step


class _Group:
    """Programs that are to run the same block next. ``places`` are those of the function's own environment."""

    def __init__(self, environment: Environment, places: Numbers) -> None:
        self.environment, self.places = environment, places


def run_blocks(bodies: list[Code], arguments: list[Lanes], environment: Environment) -> list[Lanes]:
    """Runs the blocks of a function; returns what it returns.

    Groups wait at the block that they go to. The earliest block runs next, with all that wait for it: where paths meet, programs
    are together again.
    """
    environment.update(zip(bodies[0].arguments, arguments, strict=True))
    if len(bodies) == 1:
        return bodies[0].yielded(environment)
    waiting: dict[int, list[_Group]] = {0: [_Group(environment, np.arange(environment.size))]}
    returned: list[tuple[Numbers, list[Lanes]]] = []
    while waiting:
        number = min(waiting)
        group = _together(waiting.pop(number), environment)
        last = bodies[number].run(group.environment)
        if last.name == "cf.br":
            _go(last.successors[0], group, waiting)
        elif last.name == "cf.cond_br":
            _branch(last, group, waiting)
        elif last.name.endswith("return"):
            returned.append((group.places, [group.environment[value] for value in last.operands]))
        else:
            raise Unsupported(last.line, f"{last.name} at the end of a block")
    count = len(returned[0][1])
    return [merged([(p, values[i]) for p, values in returned], environment.size) for i in range(count)]


def _branch(last: Operation, group: _Group, waiting: dict[int, list[_Group]]) -> None:
    chosen = truth(last, group.environment, last.operands[0])
    yes, no = last.successors
    if chosen.all() or not chosen.any():
        _go(yes if chosen[0] else no, group, waiting)
        return
    for successor, places in ((yes, np.flatnonzero(chosen)), (no, np.flatnonzero(~chosen))):
        _go(successor, _Group(group.environment.part(places), group.places[places]), waiting)


def _go(successor: Successor, group: _Group, waiting: dict[int, list[_Group]]) -> None:
    block, environment = successor.block, group.environment
    assert block is not None
    values = [environment[value] for value in successor.arguments]
    environment.update(zip(block.arguments, values, strict=True))
    waiting.setdefault(block.number, []).append(group)


def _together(groups: list[_Group], environment: Environment) -> _Group:
    """One group of several. What only some of them know cannot be needed where all come together."""
    if len(groups) == 1:
        return groups[0]
    places = np.sort(np.concatenate([group.places for group in groups]))
    joined = environment.part(places)
    at = [np.searchsorted(places, group.places) for group in groups]
    for value in set().union(*(_known(group.environment, environment) for group in groups)):
        try:
            seen = [group.environment[value] for group in groups]
        except KeyError:
            continue
        joined[value] = merged(list(zip(at, seen, strict=True)), len(places))
    return _Group(joined, places)


def _known(environment: Environment, root: Environment) -> set[Value]:
    """Values that were computed between the function's own environment and this one."""
    found: set[Value] = set()
    each: Environment | None = environment
    while each is not None and each is not root:
        found |= each.keys()
        each = each.parent
    return found
