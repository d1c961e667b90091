"""From the tree to steps: each operation becomes a function of an environment, made once for a kernel.

Modules of ``kbx.ttir.operations`` register what they know with ``lowers``. What nobody knows is Unsupported before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from kbx.ttir.errors import Unsupported
from kbx.ttir.lanes import Environment, Lanes
from kbx.ttir.provenance import operands
from kbx.ttir.tree import Block, Function, Module, Operation, Value

Step: TypeAlias = Callable[[Environment], None]
Lower: TypeAlias = "Callable[[Operation, Lowering], Step]"

_TABLE: dict[str, Lower] = {}


def lowers(*names: str) -> Callable[[Lower], Lower]:
    """Registers a function that lowers operations of these names."""

    def register(function: Lower) -> Lower:
        for name in names:
            _TABLE[name] = function
        return function

    return register


def computes(
    *names: str,
) -> Callable[[Callable[[Operation], Callable[..., Lanes]]], Callable[[Operation], Callable[..., Lanes]]]:
    """Registers a function that makes, of an operation with one result, a function of its operands' lanes."""

    def register(function: Callable[[Operation], Callable[..., Lanes]]) -> Callable[[Operation], Callable[..., Lanes]]:
        def lower(operation: Operation, _: Lowering) -> Step:
            compute, operands, result = function(operation), tuple(operation.operands), operation.results[0]

            def step(environment: Environment) -> None:
                environment[result] = compute(*[environment[value] for value in operands])

            return step

        lowers(*names)(lower)
        return function

    return register


class Instruction:
    """An operation's step, and the values that nobody needs after it."""

    __slots__ = ("dead", "operation", "step")

    def __init__(self, operation: Operation, step: Step, dead: tuple[Value, ...]) -> None:
        self.operation, self.step, self.dead = operation, step, dead


class Code:
    """A block ready to run: all of it but its terminator, which whoever runs it obeys."""

    def __init__(self, block: Block, instructions: list[Instruction]) -> None:
        self.arguments, self.instructions = block.arguments, instructions
        self.terminator = block.operations[-1]

    def run(self, environment: Environment) -> Operation:
        """Runs the block; returns its terminator."""
        for instruction in self.instructions:
            instruction.step(environment)
            for value in instruction.dead:
                environment.pop(value, None)
        return self.terminator

    def yielded(self, environment: Environment) -> list[Lanes]:
        """Runs the block; returns what its terminator passes on."""
        return [environment[value] for value in self.run(environment).operands]


class Lowering:
    """Lowers one module; functions when they are first called."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.wanted = {
            value
            for function in module.functions.values()
            for operation in function.walk()
            for value in operands(operation)
        }
        """Values that any operation needs."""
        self._codes: dict[int, Code] = {}
        self._bodies: dict[str, list[Code]] = {}

    def function(self, name: str, line: int = 0) -> tuple[Function, list[Code]]:
        """A function and the code of its blocks; raises Unsupported where it is unknown."""
        function = self.module.functions.get(name)
        if function is None:
            raise Unsupported(line, f"a call of {name}")
        body = self._bodies.get(name)
        if body is None:
            body = self._bodies[name] = []  # before its operations are lowered: it may call itself
            body += self.region(function.blocks)
        return function, body

    def region(self, blocks: list[Block]) -> list[Code]:
        """The code of a region's blocks."""
        return [self._block(block, _used_elsewhere(block, blocks)) for block in blocks]

    def single(self, operation: Operation, number: int = 0) -> Code:
        """The code of a region that has one block, as all but those of functions have."""
        blocks = operation.regions[number]
        if len(blocks) != 1:
            raise Unsupported(operation.line, f"{len(blocks)} blocks in {operation.name}")
        code = self._codes.get(id(blocks[0]))
        if code is None:
            code = self._codes[id(blocks[0])] = self._block(blocks[0], set())
        return code

    def _block(self, block: Block, kept: set[Value]) -> Code:
        if not block.operations:
            raise Unsupported(0, "an empty block")
        dead = _dead(block, kept)
        instructions = []
        for operation, forgotten in zip(block.operations[:-1], dead, strict=False):
            lower = _TABLE.get(operation.name)
            if lower is None:
                raise Unsupported(operation.line, f"the operation {operation.name}")
            instructions.append(Instruction(operation, lower(operation, self), forgotten))
        return Code(block, instructions)


def uses(operation: Operation) -> set[Value]:
    """Values that an operation needs, with those that operations inside it need."""
    found: set[Value] = set()
    for each in operation.walk():
        found.update(operands(each))
    return found


def _used_elsewhere(block: Block, blocks: Iterable[Block]) -> set[Value]:
    """Values that other blocks of the same region need."""
    found: set[Value] = set()
    for other in blocks:
        if other is not block:
            for operation in other.operations:
                found |= uses(operation)
    return found


def _dead(block: Block, kept: set[Value]) -> list[tuple[Value, ...]]:
    """For each operation the values of this block that nobody needs after it."""
    own = set(block.arguments)
    for operation in block.operations:
        own.update(operation.results)
    own -= kept
    needed: set[Value] = set()
    found: list[tuple[Value, ...]] = []
    for operation in reversed(block.operations):
        touched = uses(operation) | set(operation.results)
        found.append(tuple(value for value in touched if value in own and value not in needed))
        needed |= touched
    return found[::-1]
