"""Inline assembly: PTX that computes registers from registers. What touches memory, threads or clocks is Unsupported, as is all else.

A register holds the bits of one value for each lane, in an unsigned array of its width; a predicate holds truths.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kbx.libdevice import flushed
from kbx.ttir import formats
from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers, decoded, encoded, rounded
from kbx.ttir.operations import arith
from kbx.ttir.types import BF16, ELEMENTS, F16, F32, F64, Element

_PAIRS = {"f16x2": F16, "bf16x2": BF16, "e4m3x2": ELEMENTS["f8E4M3FN"], "e5m2x2": ELEMENTS["f8E5M2"]}
_FLOATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64, "tf32": F32}
_TYPES = frozenset(("pred", *_PAIRS, *_FLOATS, *(kind + width for kind in "bus" for width in ("8", "16", "32", "64"))))
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INSTRUCTION = re.compile(r"(?:@(!?)([\w$%]+)\s+)?([a-z][a-z0-9]*)((?:\.\w+)*)\s*(.*)\Z", re.DOTALL)
_DECLARED = re.compile(r"([A-Za-z_$%][\w$]*)(?:<(\d+)>)?\Z")
_OPERAND = re.compile(r"\{[^}]*\}|[^,|\s]+")
_HINTS = frozenset(("ftz", "approx", "full", "volatile"))


def _width(type: str) -> int:
    if type in _PAIRS:
        return 2 * _PAIRS[type].bits
    return _FLOATS[type].bits if type in _FLOATS else int(type[1:])


def _raw(width: int) -> np.dtype[np.generic]:
    return np.dtype(f"u{width // 8}")


@dataclass
class _Step:
    """One instruction: destinations, sources, and its modifiers without types."""

    guard: tuple[str, bool] | None
    name: str
    types: list[str]
    modifiers: list[str]
    operands: list[str]
    flushes: bool


class Program:
    """Assembly, ready to run; raises Unsupported."""

    def __init__(self, text: str, line: int) -> None:
        self._line = line
        self._steps: list[_Step] = []
        self._declared: set[str] = set()
        for statement in _statements(_COMMENT.sub(" ", text)):
            if statement.startswith(".reg"):
                self._declare(statement)
            else:
                self._steps.append(self._read(statement))

    def run(self, inputs: dict[str, Numbers]) -> dict[str, Numbers]:
        """All registers after a run that begins with ``inputs``, by name."""
        registers = dict(inputs)
        for step in self._steps:
            self._execute(step, registers)
        return registers

    # ------------------------------------------------ reading

    def _declare(self, statement: str) -> None:
        for name in statement.split(None, 2)[2].split(","):
            found = _DECLARED.match(name.strip())
            if found is None:
                raise Unsupported(self._line, f"the declaration {statement!r}")
            self._declared |= {f"{found[1]}{i}" for i in range(int(found[2]))} if found[2] else {found[1]}

    def _read(self, statement: str) -> _Step:
        found = _INSTRUCTION.match(statement)
        if found is None:
            raise Unsupported(self._line, f"the instruction {statement!r}")
        parts = found[4].split(".")[1:]
        types, modifiers = [p for p in parts if p in _TYPES], [p for p in parts if p not in _TYPES and p not in _HINTS]
        operands = [operand.strip() for operand in _OPERAND.findall(found[5])]
        guard = (found[2], found[1] == "!") if found[2] else None
        step = _Step(guard, found[3], types, modifiers, operands, "ftz" in parts)
        if step.name not in _EXECUTED or not types:
            raise Unsupported(self._line, f"the instruction {statement!r}")
        for operand in re.findall(r"%[A-Za-z]\w*", found[5]):
            if operand not in self._declared:
                raise Unsupported(self._line, f"the special register {operand}")
        return step

    # ------------------------------------------------ running

    def _execute(self, step: _Step, registers: dict[str, Numbers]) -> None:
        before = dict(registers)
        try:
            _EXECUTED[step.name](_Run(step, registers, self._line))
        except (KeyError, ValueError, IndexError) as error:
            raise Unsupported(
                self._line, f"the instruction {step.name} of {', '.join(step.operands)}: {error}"
            ) from None
        if step.guard is not None:
            name, negated = step.guard
            holds = before[name] ^ negated
            for register, new in registers.items():
                old = before.get(register)
                if old is not new:
                    registers[register] = np.where(holds, new, np.zeros((), new.dtype) if old is None else old)


def _statements(text: str) -> list[str]:
    """Statements without the braces of scopes: a brace that opens a vector follows a comma, a space after an opcode, or nothing else."""
    found = []
    for piece in text.split(";"):
        statement = piece.strip()
        while statement[:1] in ("{", "}"):
            statement = statement[1:].strip()
        if statement:
            found.append(statement)
    return found


class _Run:
    """One instruction while it runs: its operands as values of its types."""

    def __init__(self, step: _Step, registers: dict[str, Numbers], line: int) -> None:
        self.step, self.registers, self.line = step, registers, line
        self.type = step.types[-1]

    def check(self, *allowed: str) -> None:
        """Raises Unsupported for a modifier that is none of ``allowed``."""
        for modifier in self.step.modifiers:
            if modifier not in allowed:
                raise Unsupported(self.line, f"the modifier .{modifier} of {self.step.name}")

    def bits(self, operand: str, width: int) -> Numbers:
        """An operand as unsigned bits of a width."""
        if operand.startswith("{"):
            parts = [self.bits(name.strip(), width // 2) for name in operand[1:-1].split(",")]
            if len(parts) != 2:
                raise Unsupported(self.line, f"a vector of {len(parts)}")
            low, high = (part.astype(_raw(width)) for part in parts)
            upper: Numbers = high << _raw(width).type(width // 2)
            return low | upper
        found = self.registers.get(operand)
        if found is None:
            found = np.array([_immediate(operand, self.type) & (1 << width) - 1], _raw(width))
        return found.astype(_raw(width), copy=False)

    def truth(self, operand: str) -> Numbers:
        negated = operand.startswith("!")
        return self.registers[operand.lstrip("!")] ^ negated

    def get(self, number: int, type: str | None = None) -> Numbers:
        """A source as values; pairs have an axis of their own at the end. ``number`` counts operands, the destination is 0."""
        type, operand = type or self.type, self.step.operands[number]
        if type == "pred":
            return self.truth(operand)
        return self._flushed(_values(self.bits(operand, _width(type)), type), type)

    def _flushed(self, values: Numbers, type: str) -> Numbers:
        """Subnormal float32 numbers are zero to an instruction with .ftz."""
        return flushed(values) if self.step.flushes and type == "f32" else values

    def put(self, values: Numbers, type: str | None = None, number: int = 0) -> None:
        """Values as the new contents of a destination."""
        type, operand = type or self.type, self.step.operands[number]
        if type == "pred":
            self.registers[operand] = values
            return
        bits = _bits(self._flushed(values, type), type)
        if operand.startswith("{"):
            names, half = [name.strip() for name in operand[1:-1].split(",")], _width(type) // 2
            for i, name in enumerate(names):
                self.registers[name] = (bits >> bits.dtype.type(half * i)).astype(_raw(half))
        else:
            self.registers[operand] = bits


def _immediate(text: str, type: str) -> int:
    if text[:2] in ("0f", "0F"):
        return int(text[2:], 16)
    if text[:2] in ("0d", "0D"):
        return int(text[2:], 16)
    if re.fullmatch(r"-?\d+\.\d*(?:[eE][+-]?\d+)?", text):
        number = float(text)
        return int.from_bytes(struct.pack("<d" if type == "f64" else "<f", number), "little")
    return int(text.rstrip("U"), 0)


def _values(bits: Numbers, type: str) -> Numbers:
    if type in _PAIRS:
        element = _PAIRS[type]
        parts = np.ascontiguousarray(bits).view(_raw(element.bits)).reshape(*bits.shape, 2)
        return decoded(parts.view(element.raw), element)
    if type in _FLOATS:
        element = _FLOATS[type]
        return decoded(bits.view(element.raw), element)
    return bits.view(f"i{bits.dtype.itemsize}") if type[0] == "s" else bits


def _bits(values: Numbers, type: str) -> Numbers:
    if type in _PAIRS or type in _FLOATS:
        element = _PAIRS.get(type) or _FLOATS[type]
        raw = encoded(rounded(values, element), element).view(_raw(element.bits))
        if type in _PAIRS:
            raw = np.ascontiguousarray(raw).reshape(*values.shape[:-1], 2).view(_raw(2 * element.bits))[..., 0]
        return raw
    return (
        values.astype(_raw(_width(type)), copy=False)
        if values.dtype.kind != "i"
        else values.astype(f"i{_width(type) // 8}").view(_raw(_width(type)))
    )


# ---------------------------------------------------------------- instructions

_EXECUTED: dict[str, Callable[[_Run], None]] = {}


def _executes(*names: str) -> Callable[[Callable[[_Run], None]], Callable[[_Run], None]]:
    def register(function: Callable[[_Run], None]) -> Callable[[_Run], None]:
        _EXECUTED.update(dict.fromkeys(names, function))
        return function

    return register


def _is_float(type: str) -> bool:
    return type in _FLOATS or type in _PAIRS


_SIMPLE: dict[str, tuple[int, Callable[..., Numbers]]] = {
    "add": (2, np.add), "sub": (2, np.subtract), "and": (2, np.bitwise_and), "or": (2, np.bitwise_or),
    "xor": (2, np.bitwise_xor), "not": (1, np.invert), "neg": (1, np.negative), "abs": (1, np.abs),
    "ex2": (1, np.exp2), "lg2": (1, np.log2), "sin": (1, np.sin), "cos": (1, np.cos), "tanh": (1, np.tanh),
    "rcp": (1, np.reciprocal), "rsqrt": (1, lambda x: 1 / np.sqrt(x)), "sqrt": (1, np.sqrt),
    "copysign": (2, lambda sign, size: np.copysign(size, sign)),
    "popc": (1, lambda x: np.asarray(np.bitwise_count(x)).astype(np.uint32)),
}  # fmt: skip


@_executes(*_SIMPLE)
def _simple(run: _Run) -> None:
    run.check("rn", *(("sat",) if _is_float(run.type) else ()))
    count, function = _SIMPLE[run.step.name]
    if run.type == "pred":
        function = {"not": np.logical_not}.get(run.step.name, function)
    found = function(*(run.get(1 + i) for i in range(count)))
    if "sat" in run.step.modifiers:
        found = np.where(np.isnan(found), 0, np.clip(found, 0, 1))
    run.put(found, "u32" if run.step.name == "popc" else None)


@_executes("mov")
def _move(run: _Run) -> None:
    run.check()
    run.put(run.get(1))


@_executes("mul", "mad", "fma")
def _multiply(run: _Run) -> None:
    a, b, modifiers = run.get(1), run.get(2), run.step.modifiers
    if _is_float(run.type):
        run.check("rn")
        run.put(a * b if run.step.name == "mul" else arith.fused(a, b, run.get(3)))
        return
    run.check("lo", "hi", "wide")
    width = _width(run.type)
    if "wide" in modifiers:
        wide = f"{run.type[0]}{2 * width}"
        dtype = f"{'i' if run.type[0] == 's' else 'u'}{width // 4}"
        product = a.astype(dtype) * b.astype(dtype)
        run.put(product if run.step.name == "mul" else product + run.get(3, wide), wide)
        return
    if "hi" in modifiers:
        signed = run.type[0] == "s"
        upper = arith.high_product(a.view(f"i{width // 8}"), b.view(f"i{width // 8}"), signed)
        product = upper if signed else upper.view(_raw(width))
    else:
        product = a * b
    run.put(product if run.step.name == "mul" else product + run.get(3))


@_executes("div", "rem")
def _divide(run: _Run) -> None:
    run.check("rn")
    a, b = run.get(1), run.get(2)
    if _is_float(run.type):
        run.put(a / b)
        return
    name = ("arith.div" if run.step.name == "div" else "arith.rem") + ("si" if run.type[0] == "s" else "ui")
    signed = (x.view(f"i{x.dtype.itemsize}") for x in (a, b))
    run.put(arith.BINARY[name](*signed))


@_executes("min", "max")
def _extreme(run: _Run) -> None:
    run.check("NaN")
    largest = run.step.name == "max"
    if not _is_float(run.type):
        function: Callable[..., Numbers] = np.maximum if largest else np.minimum
    elif "NaN" in run.step.modifiers:
        function = arith.larger_or_nan if largest else arith.smaller_or_nan
    else:
        function = arith.larger if largest else arith.smaller
    run.put(function(run.get(1), run.get(2)))


@_executes("shl", "shr")
def _shift(run: _Run) -> None:
    run.check()
    a, by = run.get(1), run.get(2, "u32")
    width = _width(run.type)
    most = np.minimum(by, width - 1).astype(a.dtype)
    found = np.left_shift(a, most) if run.step.name == "shl" else np.right_shift(a, most)
    run.put(found if run.type[0] == "s" and run.step.name == "shr" else np.where(by < width, found, 0).astype(a.dtype))


@_executes("lop3")
def _logic(run: _Run) -> None:
    """Any function of three bits: the table's bit ``4a + 2b + c`` is the result."""
    run.check()
    a, b, c = (run.get(i) for i in (1, 2, 3))
    table, found = int(run.step.operands[4], 0), np.zeros((), a.dtype)
    for row in range(8):
        if table >> row & 1:
            found = found | ((a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c))
    run.put(found)


@_executes("prmt")
def _permute(run: _Run) -> None:
    """Each byte of the result is one of eight bytes; the fourth bit of its selector takes the sign instead."""
    run.check()
    both = run.get(1).astype(np.uint64) | run.get(2).astype(np.uint64) << np.uint64(32)
    selector, found = run.get(3), np.zeros((), np.uint32)
    for i in range(4):
        which = selector >> np.uint32(4 * i) & np.uint32(15)
        byte = (both >> (which & np.uint32(7)).astype(np.uint64) * np.uint64(8)).astype(np.uint32) & np.uint32(0xFF)
        byte = np.where(which & 8 != 0, np.where(byte & 0x80 != 0, 0xFF, 0), byte).astype(np.uint32)
        found = found | byte << np.uint32(8 * i)
    run.put(found)


@_executes("bfe")
def _extract(run: _Run) -> None:
    run.check()
    width = _width(run.type)
    a = run.bits(run.step.operands[1], width)
    at, count = (np.minimum(run.get(i, "u32") & np.uint32(0xFF), width) for i in (2, 3))
    shifted = np.where(at < width, a >> np.minimum(at, width - 1).astype(a.dtype), 0).astype(a.dtype)
    mask = np.where(
        count < width,
        (np.ones((), a.dtype) << np.minimum(count, width - 1).astype(a.dtype)) - 1,
        ~np.zeros((), a.dtype),
    ).astype(a.dtype)
    found = shifted & mask
    if run.type[0] == "s":
        last = np.minimum(at + np.maximum(count, 1) - 1, width - 1).astype(a.dtype)
        negative = (a >> last & a.dtype.type(1) != 0) & (count > 0)
        found = np.where(negative, found | ~mask, found)
    run.put(found)


@_executes("bfi")
def _insert(run: _Run) -> None:
    run.check()
    width = _width(run.type)
    a, b = run.get(1), run.get(2)
    at, count = (np.minimum(run.get(i, "u32") & np.uint32(0xFF), width).astype(np.uint64) for i in (3, 4))
    mask = np.where(count < 64, (np.uint64(1) << np.minimum(count, np.uint64(63))) - np.uint64(1), ~np.uint64(0))
    mask = np.where(at < 64, mask << np.minimum(at, np.uint64(63)), np.uint64(0)).astype(a.dtype)
    moved = (a.astype(np.uint64) << np.minimum(at, np.uint64(63))).astype(a.dtype)
    run.put((b & ~mask) | (moved & mask))


@_executes("setp")
def _set(run: _Run) -> None:
    predicate = run.step.modifiers[0]
    a, b = run.get(1 if run.type not in _PAIRS else 2), run.get(2 if run.type not in _PAIRS else 3)
    if _is_float(run.type):
        names = {
            "num": "ord",
            "nan": "uno",
            "equ": "ueq",
            "neu": "une",
            "ltu": "ult",
            "leu": "ule",
            "gtu": "ugt",
            "geu": "uge",
        }
        function = arith.compared_floats(names.get(predicate) or "o" + predicate)
    else:
        names = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
        plain = names.get(predicate, predicate)
        a, b = (x.view(f"i{x.dtype.itemsize}") for x in (a, b))
        signed = run.type[0] == "s" and predicate not in names
        function = arith.compared_integers(plain if plain in ("eq", "ne") else ("s" if signed else "u") + plain)
    found = function(a, b)
    if run.type in _PAIRS:
        run.put(found[..., 0], "pred", 0)
        run.put(found[..., 1], "pred", 1)
    else:
        run.put(found, "pred")


@_executes("selp")
def _select(run: _Run) -> None:
    run.check()
    width = _width(run.type)
    a, b = (run.bits(run.step.operands[i], width) for i in (1, 2))
    run.put(np.where(run.truth(run.step.operands[3]), a, b), f"b{width}")


_WHOLE: dict[str, Callable[[Numbers], Numbers]] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


@_executes("cvt")
def _convert(run: _Run) -> None:
    run.check("rn", "rz", "rna", "sat", "satfinite", "relu", *_WHOLE)
    if len(run.step.types) != 2:
        raise Unsupported(run.line, "a conversion without two types")
    target, source = run.step.types
    if target in _PAIRS and source not in _PAIRS:
        values = np.stack(np.broadcast_arrays(run.get(2, source), run.get(1, source)), -1)
    else:
        values = run.get(1, source)
    if "relu" in run.step.modifiers:
        values = np.where(np.isnan(values), values, np.maximum(values, 0))
    run.put(_converted(run, values, target, source), target)


def _converted(run: _Run, values: Numbers, target: str, source: str) -> Numbers:
    modifiers = run.step.modifiers
    if not _is_float(target):
        if not _is_float(source):
            return values
        rounding = next((_WHOLE[m] for m in modifiers if m in _WHOLE), np.trunc)
        element = ELEMENTS[f"i{max(8, _width(target))}"]
        return formats.to_integers(rounding(values), element, target[0] == "s", _FLOATS[source], least=1)
    element = _PAIRS.get(target) or _FLOATS[target]
    if not _is_float(source):
        signed = source[0] == "s"
        return formats.from_integers(values.view(f"i{values.dtype.itemsize}"), element, signed)
    whole = next((_WHOLE[m] for m in modifiers if m in _WHOLE), None)
    if whole is not None:
        values = whole(values)
    if target == "tf32":
        return formats.tf32(values)
    found = formats.towards_zero(values, element) if "rz" in modifiers else rounded(values, element)
    return np.where(np.isnan(found), 0, np.clip(found, 0, 1)) if "sat" in modifiers else found


def registers_of(element: Element, pack: int) -> tuple[int, int]:
    """How many registers hold ``pack`` elements, and the width of each: narrow elements share one of 32 bits."""
    bits = max(8, element.bits)
    if bits >= 32 or bits * pack <= 32:
        return (pack, bits) if bits >= 32 else (1, bits * pack)
    return bits * pack // 32, 32


def packed(data: Numbers, element: Element, pack: int) -> list[Numbers]:
    """Lanes (groups, pack) of an element type as the registers that hold them."""
    raw = encoded(data, element).view(_raw(max(8, element.bits)))
    count, width = registers_of(element, pack)
    together = np.ascontiguousarray(raw).view(_raw(width))
    return [together[:, i] for i in range(count)]


def unpacked(registers: Sequence[Numbers], element: Element, pack: int, groups: int) -> Numbers:
    """The inverse of ``packed``."""
    _, width = registers_of(element, pack)
    stacked = np.stack([np.broadcast_to(r.astype(_raw(width)), groups) for r in registers], -1)
    return decoded(np.ascontiguousarray(stacked).view(element.raw), element)
