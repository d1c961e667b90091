"""Programs that wait for each other: loops that end when another program has written something, as locks and barriers do.

Programs that run together would wait for ever in such a loop, if those that have what they waited for also waited until all
have it. So a group is split there for good: the programs that leave the loop go on first, to their end or to the next wait, and those that
stay look again when memory has changed. A lock costs a turn for each of its holders, not for each program.

A group's place in the kernel is a stack of activations, one for each region around it that holds such a loop, which is copied when the
group is split. Everything else runs as always.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from kbx.ttir.errors import Stuck, Unsupported
from kbx.ttir.formats import Numbers
from kbx.ttir.lanes import Environment, Lanes
from kbx.ttir.lowering import Code, Lowering
from kbx.ttir.operations.control import loop_bounds, truth
from kbx.ttir.tree import Module, Operation, Successor

_LOOPS = ("scf.if", "scf.for", "scf.while")
PATIENCE = 10_000
"""Times that groups look again although nothing has changed: a loop may count its turns and give up."""


def _is_wait(operation: Operation) -> bool:
    """Whether a loop may wait: it looks at memory atomically or past the caches, or carries nothing and looks at memory at all."""
    if operation.name != "scf.while":
        return False
    if not operation.operands and any(o.name == "tt.load" for o in operation.regions[0][0].operations):
        return True
    return any(
        inner.name in ("tt.atomic_cas", "tt.atomic_rmw") or (inner.name == "tt.load" and inner.is_volatile)
        for inner in operation.walk()
    )


def waits(module: Module) -> bool:
    """Whether programs of a kernel may wait for each other."""
    return any(_is_wait(operation) for function in module.functions.values() for operation in function.walk())


def loops_on_loads(module: Module) -> bool:
    """Whether a loop without a count loads anything: it may be a wait that is not one for ``waits``, by a load like others."""
    loops = (o for function in module.functions.values() for o in function.walk() if o.name == "scf.while")
    return any(inner.name == "tt.load" for loop in loops for inner in loop.walk())


def run(lowering: Lowering, bodies: list[Code], parts: Iterable[tuple[Environment, list[Lanes]]]) -> None:
    """Runs groups of programs with their arguments until all have ended; raises Stuck where none can go on."""
    fresh = []
    for environment, arguments in parts:
        environment.update(zip(bodies[0].arguments, arguments, strict=True))
        fresh.append(_Group(environment, [_Activation(bodies[0], bodies)]))
    _Machine(lowering, deque(fresh)).run()


@dataclass
class _Activation:
    """A block that is being run, and its next instruction.

    ``bodies`` are the blocks of its function, None inside a region. ``owner`` is the operation whose region it is or that called the function,
    None for the kernel itself; ``number`` is the region's, ``turn`` counts those of a loop.
    """

    code: Code
    bodies: list[Code] | None = None
    owner: Operation | None = None
    number: int = 0
    at: int = 0
    turn: int = 0


@dataclass
class _Group:
    """Programs at the same place. ``seen``: how much had happened when it last looked for what it waits for."""

    environment: Environment
    stack: list[_Activation]
    seen: int = -1

    def part(self, places: Numbers) -> _Group:
        """Some of the programs, by their places, at the same place."""
        few = Environment(self.environment.launch, self.environment.programs[places])
        several = self.environment.size > 1
        few.update((value, lanes.of(places) if several else lanes) for value, lanes in self.environment.items())
        return _Group(few, [replace(each) for each in self.stack])

    def parts(self, chosen: Numbers) -> tuple[_Group | None, _Group | None]:
        """The programs for which something holds, and the others; None for nobody."""
        if chosen.all():
            return self, None
        if not chosen.any():
            return None, self
        return self.part(np.flatnonzero(chosen)), self.part(np.flatnonzero(~chosen))

    def done(self) -> None:
        """Goes on to the next instruction."""
        top = self.stack[-1]
        for value in top.code.instructions[top.at].dead:
            self.environment.pop(value, None)
        top.at += 1

    def leave(self, operation: Operation, values: list[Lanes]) -> None:
        """Ends an operation that has regions, with its results."""
        self.stack.pop()
        self.environment.update(zip(operation.results, values, strict=True))
        self.done()

    def pass_on(self, code: Code, values: list[Lanes], skip: int = 0) -> None:
        """Gives a block its arguments, but for the first ones."""
        self.environment.update(zip(code.arguments[skip:], values, strict=True))


class _Machine:
    def __init__(self, lowering: Lowering, fresh: deque[_Group]) -> None:
        self._lowering, self._fresh = lowering, fresh
        self._ready: deque[_Group] = deque()
        self._waiting: deque[_Group] = deque()
        self._holds: dict[int, bool] = {}
        self._left = 0
        """How often programs ended or got what they waited for."""

    def run(self) -> None:
        idle, last = 0, -1
        while self._ready or self._waiting or self._fresh:
            group = self._next()
            if group is None:
                if self._happened(self._waiting[0]) != last:
                    idle, last = 0, self._happened(self._waiting[0])
                idle += 1
                if idle > PATIENCE * len(self._waiting):
                    raise Stuck(_place(self._waiting[0]))
                group = self._waiting.popleft()
            self._go(group)

    def _next(self) -> _Group | None:
        """A group that can go on, or for which something may have changed; None where all wait."""
        if self._ready:
            return self._ready.popleft()
        for group in self._waiting:
            if group.seen != self._happened(group):
                self._waiting.remove(group)
                return group
        return self._fresh.popleft() if self._fresh else None

    def _happened(self, group: _Group) -> int:
        return self._left + group.environment.launch.changes

    def _go(self, group: _Group | None) -> None:
        """Runs a group to its end or to a wait; parts that are split off are put where they belong."""
        while group is not None:
            top = group.stack[-1]
            if top.at == len(top.code.instructions):
                group = self._end(group, top)
                continue
            operation = top.code.instructions[top.at].operation
            if operation.name in _LOOPS and self._may_split(operation):
                group = self._enter(group, operation)
            elif operation.name == "tt.call" and self._may_split(operation):
                self._call(group, operation)
            else:
                top.code.instructions[top.at].step(group.environment)
                group.done()

    def _may_split(self, operation: Operation) -> bool:
        """Whether a wait is inside an operation."""
        found = self._holds.get(id(operation))
        if found is None:
            called = [o.text for o in operation.walk() if o.name == "tt.call"]
            functions = [self._lowering.module.functions[name] for name in called]
            found = any(map(_is_wait, operation.walk())) or any(_is_wait(o) for f in functions for o in f.walk())
            self._holds[id(operation)] = found
        return found

    def _one_of(self, first: _Group | None, second: _Group | None) -> _Group:
        """The group that goes on; the other one, if there is, follows."""
        if first is not None and second is not None:
            self._ready.appendleft(second)
        found = first if first is not None else second
        assert found is not None
        return found

    # ------------------------------------------------ regions

    def _enter(self, group: _Group, operation: Operation) -> _Group:
        environment = group.environment
        if operation.name == "scf.while":
            before = self._lowering.single(operation, 0)
            group.pass_on(before, [environment[value] for value in operation.operands])
            group.stack.append(_Activation(before, None, operation))
            return group
        if operation.name == "scf.for":
            group.stack.append(_Activation(self._lowering.single(operation), None, operation))
            return self._turn(group, operation, [environment[value] for value in operation.operands[3:]])
        chosen = np.broadcast_to(truth(operation, environment, operation.operands[0]), environment.size)
        sides = group.parts(chosen)
        for number, side in enumerate(sides):
            if side is not None and number < len(operation.regions):
                side.stack.append(_Activation(self._lowering.single(operation, number), None, operation, number))
            elif side is not None:
                side.done()
        return self._one_of(*sides)

    def _turn(self, group: _Group, operation: Operation, values: list[Lanes]) -> _Group:
        """The next turn of a counted loop, for the programs that have one left."""
        top, environment = group.stack[-1], group.environment
        first, by, turns = loop_bounds(operation, environment)
        index = top.code.arguments[0]
        group.pass_on(top.code, values, 1)
        environment[index] = Lanes((first + top.turn * by).astype(index.type.element.dtype))
        on, off = group.parts(np.broadcast_to(turns > top.turn, environment.size))
        if off is not None:
            off.leave(operation, [off.environment[value] for value in top.code.arguments[1:]])
        if on is not None:
            on.stack[-1].at = 0
            on.stack[-1].turn += 1
        return self._one_of(on, off)

    def _end(self, group: _Group, top: _Activation) -> _Group | None:
        """What comes after the last instruction of a block; None where the group has ended or waits."""
        environment, last, owner = group.environment, top.code.terminator, top.owner
        if top.bodies is not None and last.name in ("cf.br", "cf.cond_br"):
            return self._branch(group, top.bodies, last)
        values = [environment[value] for value in last.operands]
        if owner is None:
            self._left += 1
            return None
        if owner.name in ("tt.call", "scf.if"):
            group.leave(owner, values)
            return group
        if owner.name == "scf.for":
            return self._turn(group, owner, values)
        if top.number == 0:
            return self._decide(group, owner, last)
        before = self._lowering.single(owner, 0)
        group.pass_on(before, values)
        group.stack[-1] = _Activation(before, None, owner)
        if not _is_wait(owner):
            return group
        group.seen = self._happened(group)
        self._waiting.append(group)
        return None

    def _decide(self, group: _Group, owner: Operation, last: Operation) -> _Group:
        """After the condition of a loop: programs that leave it go on, those that stay look again later."""
        environment = group.environment
        on, off = group.parts(np.broadcast_to(truth(last, environment, last.operands[0]), environment.size))
        if on is not None:
            after = self._lowering.single(owner, 1)
            on.pass_on(after, [on.environment[value] for value in last.operands[1:]])
            on.stack[-1] = _Activation(after, None, owner, 1)
        if off is not None:
            self._left += 1
            off.leave(owner, [off.environment[value] for value in last.operands[1:]])
            if on is not None:
                on.seen = self._happened(on)
                self._waiting.append(on)
            return off
        assert on is not None
        return on

    # ------------------------------------------------ functions

    def _call(self, group: _Group, operation: Operation) -> None:
        _, bodies = self._lowering.function(operation.text, operation.line)
        group.pass_on(bodies[0], [group.environment[value] for value in operation.operands])
        group.stack.append(_Activation(bodies[0], bodies, operation))

    def _branch(self, group: _Group, bodies: list[Code], last: Operation) -> _Group:
        def goes(part: _Group | None, successor: Successor) -> _Group | None:
            if part is not None:
                if successor.block is None:
                    raise Unsupported(last.line, f"a branch to {successor.label}")
                code = bodies[successor.block.number]
                part.pass_on(code, [part.environment[value] for value in successor.arguments])
                part.stack[-1] = replace(part.stack[-1], code=code, at=0)
            return part

        if last.name == "cf.br":
            return self._one_of(goes(group, last.successors[0]), None)
        chosen = np.broadcast_to(truth(last, group.environment, last.operands[0]), group.environment.size)
        yes, no = group.parts(chosen)
        return self._one_of(goes(yes, last.successors[0]), goes(no, last.successors[1]))


def _place(group: _Group) -> str:
    owner = group.stack[-1].owner
    frame = owner.location.user() if owner is not None else None
    return f"{frame.file}:{frame.line}" if frame is not None else "an unknown place"
