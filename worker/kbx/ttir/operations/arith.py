"""The arith dialect and its kin in tt: integers wrap, shifts by the width or more give what PTX gives, a quotient by zero is all ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers, rounded
from kbx.ttir.lanes import Environment, Lanes, either
from kbx.ttir.lowering import Lowering, Step, computes, lowers
from kbx.ttir.operations.elementwise import Function, on_lanes
from kbx.ttir.tree import Dense, Operation
from kbx.ttir.types import F64, UNSIGNED

# ---------------------------------------------------------------- integers


def unsigned(data: Numbers) -> Numbers:
    """The same bits as an unsigned integer."""
    return data.astype(np.uint8) if data.dtype == np.bool_ else data.view(UNSIGNED[data.dtype])


def _unsigned(function: Function) -> Function:
    """A function of unsigned integers on the signless ones."""
    return lambda a, b: function(unsigned(a), unsigned(b))


def _or_truth(function: Function, truth: Function) -> Function:
    """``function``, for booleans ``truth``: numpy's own are no arithmetic modulo 2."""
    return lambda a, b: truth(a, b) if a.dtype == np.bool_ else function(a, b)


def _nonzero(b: Numbers) -> Numbers:
    return np.where(b == 0, np.ones((), b.dtype), b)


def truncating_quotient(a: Numbers, b: Numbers) -> Numbers:
    """``a / b`` towards zero; the least number by -1 wraps to itself."""
    divisor = _nonzero(b)
    quotient = np.floor_divide(a, divisor)
    rest = a - quotient * divisor
    quotient = quotient + ((rest != 0) & ((a < 0) != (b < 0)))
    return np.where(b == 0, _of_zero(a), quotient).astype(a.dtype)


def _of_zero(a: Numbers) -> Numbers:
    """Quotient and rest of a division by zero: all ones, 32 of them where ``a`` has no more bits."""
    if a.dtype.itemsize < 8:
        return np.array(-1, a.dtype)
    return np.where(a >> 32 == 0, 0xFFFFFFFF, -1)


def _remainder(a: Numbers, b: Numbers) -> Numbers:
    """With the sign of ``a``; by zero all ones."""
    return np.where(b == 0, _of_zero(a), np.fmod(a, np.where((b == 0) | (b == -1), 1, b).astype(b.dtype))).astype(
        a.dtype
    )


def _unsigned_quotient(a: Numbers, b: Numbers) -> Numbers:
    return np.where(b == 0, unsigned(_of_zero(a.view(f"i{a.itemsize}"))), a // _nonzero(b)).astype(a.dtype)


def _unsigned_remainder(a: Numbers, b: Numbers) -> Numbers:
    return np.where(b == 0, unsigned(_of_zero(a.view(f"i{a.itemsize}"))), a % _nonzero(b)).astype(a.dtype)


def _floor_quotient(a: Numbers, b: Numbers) -> Numbers:
    return np.where(b == 0, -1, np.floor_divide(a, _nonzero(b))).astype(a.dtype)


def _ceil_quotient(a: Numbers, b: Numbers) -> Numbers:
    divisor = _nonzero(b)
    below = np.floor_divide(a, divisor)
    return np.where(b == 0, -1, np.where(below * divisor != a, below + 1, below)).astype(a.dtype)


def _ceil_unsigned(a: Numbers, b: Numbers) -> Numbers:
    quotient = _unsigned_quotient(a, b)
    return np.where(quotient * b != a, quotient + 1, quotient).astype(a.dtype)


def _width(a: Numbers) -> int:
    return 1 if a.dtype == np.bool_ else a.dtype.itemsize * 8


def _shift(b: Numbers) -> Numbers:
    """What a GPU shifts by: 32 bits of it."""
    return b & 0xFFFFFFFF if b.dtype.itemsize == 8 else b


def _within(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """Whether a shift is less than the width, and the shift, or 0 where it is not."""
    b = _shift(b)
    inside = unsigned(b) < _width(a)
    return inside, np.where(inside, b, 0).astype(b.dtype)


def _shift_left(a: Numbers, b: Numbers) -> Numbers:
    if a.dtype == np.bool_:
        return a & ~b
    inside, by = _within(a, b)
    return np.where(inside, np.left_shift(a, by), 0).astype(a.dtype)


def _shift_right(a: Numbers, b: Numbers) -> Numbers:
    if a.dtype == np.bool_:
        return a & ~b
    inside, by = _within(a, b)
    return np.where(inside, unsigned(a) >> unsigned(by), 0).astype(unsigned(a).dtype)


def _shift_right_signed(a: Numbers, b: Numbers) -> Numbers:
    if a.dtype == np.bool_:
        return a
    most = np.array(_width(a) - 1, UNSIGNED[b.dtype])
    return np.right_shift(a, np.minimum(unsigned(_shift(b)), most).view(b.dtype))


def high_product(a: Numbers, b: Numbers, signed: bool) -> Numbers:
    """The upper half of the product of twice the width."""
    bits = _width(a)
    if bits <= 32:
        wide = np.dtype(np.int64 if signed else np.uint64)
        x, y = (a, b) if signed else (unsigned(a), unsigned(b))
        product: Numbers = x.astype(wide) * y.astype(wide)
        upper: Numbers = np.right_shift(product, wide.type(bits))
        return upper.astype(a.dtype)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x, y = a.view(np.uint64), b.view(np.uint64)
    bottom, left, right = (x & low) * (y & low), (x >> half) * (y & low), (x & low) * (y >> half)
    middle = (bottom >> half) + (left & low) + (right & low)
    high: Numbers = ((x >> half) * (y >> half) + (left >> half) + (right >> half) + (middle >> half)).view(np.int64)
    if signed:
        high = high - np.where(a < 0, b, 0) - np.where(b < 0, a, 0)
    return high


# ---------------------------------------------------------------- floats


def larger(a: Numbers, b: Numbers) -> Numbers:
    """The larger one; where one is NaN the other; of zeros the positive one, as ``max`` of PTX."""
    found = np.fmax(a, b)
    return found if found.all() else np.where((a == 0) & (b == 0), a + b, found)


def smaller(a: Numbers, b: Numbers) -> Numbers:
    """The smaller one; where one is NaN the other; of zeros the negative one."""
    found = np.fmin(a, b)
    return found if found.all() else np.where((a == 0) & (b == 0), -(-a - b), found)


def larger_or_nan(a: Numbers, b: Numbers) -> Numbers:
    found = np.maximum(a, b)
    return found if found.all() else np.where((a == 0) & (b == 0), a + b, found)


def smaller_or_nan(a: Numbers, b: Numbers) -> Numbers:
    found = np.minimum(a, b)
    return found if found.all() else np.where((a == 0) & (b == 0), -(-a - b), found)


def _rest(a: Numbers, b: Numbers) -> Numbers:
    """As the compiler expands it: the quotient is rounded before it is cut off, so that a large one leaves a wrong rest."""
    return np.where(np.isinf(b), a, fused(-np.trunc(a / b), b, a)).astype(a.dtype)


BINARY: dict[str, Function] = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.remf": _rest, "tt.precise_divf": np.divide,
    "arith.maxnumf": larger, "arith.minnumf": smaller, "arith.maximumf": larger_or_nan, "arith.minimumf": smaller_or_nan,
    "arith.addi": _or_truth(np.add, np.logical_xor), "arith.subi": _or_truth(np.subtract, np.logical_xor),
    "arith.muli": _or_truth(np.multiply, np.logical_and),
    "arith.divsi": _or_truth(truncating_quotient, lambda a, b: a), "arith.remsi": _or_truth(_remainder, lambda a, b: a & ~b),
    "arith.divui": _unsigned(_unsigned_quotient), "arith.remui": _unsigned(_unsigned_remainder),
    "arith.floordivsi": _floor_quotient, "arith.ceildivsi": _ceil_quotient, "arith.ceildivui": _unsigned(_ceil_unsigned),
    "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor,
    "arith.shli": _shift_left, "arith.shrui": _shift_right, "arith.shrsi": _shift_right_signed,
    "arith.maxsi": _or_truth(np.maximum, np.logical_and), "arith.minsi": _or_truth(np.minimum, np.logical_or),
    "arith.maxui": _unsigned(np.maximum), "arith.minui": _unsigned(np.minimum),
    "tt.mulhiui": lambda a, b: high_product(a, b, False),
}  # fmt: skip

_ABSORBING: dict[str, tuple[int, ...]] = {"arith.andi": (0,), "arith.muli": (0,), "arith.ori": (-1,)}
"""Operands that decide a result whatever the other one is: it is defined where that one is not."""


@computes(*BINARY)
def _binary(operation: Operation) -> Callable[..., Lanes]:
    element = operation.results[0].type.element
    plain = on_lanes(BINARY[operation.name], element)
    if operation.name not in _ABSORBING:
        return plain
    (decides,) = _ABSORBING[operation.name]
    absorbing = np.array(decides).astype(element.dtype)

    def run(a: Lanes, b: Lanes) -> Lanes:
        found = plain(a, b)
        if found.undefined is not None:
            decided = [(x.data == absorbing) & (True if x.undefined is None else ~x.undefined) for x in (a, b)]
            undefined = found.undefined & ~(decided[0] | decided[1])
            found.undefined = undefined if undefined.any() else None
        return found

    return run


@computes("arith.negf")
def _negative(operation: Operation) -> Callable[..., Lanes]:
    return on_lanes(np.negative, operation.results[0].type.element)


# ---------------------------------------------------------------- comparisons

_COMPARED: dict[str, Function] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def compared_integers(predicate: str) -> Function:
    if predicate in ("eq", "ne"):
        return _COMPARED[predicate]
    plain = _COMPARED[predicate[1:]]
    if predicate[0] == "u":
        return _unsigned(plain)
    # The one bit of a boolean is its sign.
    return lambda a, b: plain(b, a) if a.dtype == np.bool_ else plain(a, b)


def _unordered(a: Numbers, b: Numbers) -> Numbers:
    found: Numbers = np.isnan(a) | np.isnan(b)
    return found


def compared_floats(predicate: str) -> Function:
    """``o…`` is false where an operand is NaN, ``u…`` is true there."""
    if predicate in ("true", "false"):
        return lambda a, b: np.full(np.broadcast_shapes(a.shape, b.shape), predicate == "true")
    if predicate == "ord":
        return lambda a, b: ~_unordered(a, b)
    if predicate == "uno":
        return _unordered
    plain = _COMPARED[predicate[1:]]
    if predicate == "one":
        return lambda a, b: plain(a, b) & ~_unordered(a, b)
    if predicate[0] == "o" or predicate == "une":
        return plain
    return lambda a, b: plain(a, b) | _unordered(a, b)


@computes("arith.cmpi", "arith.cmpf")
def _comparison(operation: Operation) -> Callable[..., Lanes]:
    predicate = operation.words[0][1]
    function = compared_integers(predicate) if operation.name == "arith.cmpi" else compared_floats(predicate)
    return on_lanes(function, operation.results[0].type.element)


@computes("tt.clampf")
def _clamp(operation: Operation) -> Callable[..., Lanes]:
    propagates = operation.keyword("propagateNan") == "all"

    def clamp(x: Numbers, low: Numbers, high: Numbers) -> Numbers:
        if propagates:  # that of a limit, too
            return smaller_or_nan(larger_or_nan(x, low), high)
        return smaller(larger(x, low), high)

    return on_lanes(clamp, operation.results[0].type.element)


# ---------------------------------------------------------------- the rest


@computes("arith.select")
def _select(operation: Operation) -> Callable[..., Lanes]:
    rank = len(operation.results[0].type.shape)

    def select(condition: Lanes, a: Lanes, b: Lanes) -> Lanes:
        chosen, doubt = condition.data, condition.undefined
        if chosen.ndim == 1 and rank:
            chosen = chosen.reshape(-1, *(1,) * rank)
            doubt = None if doubt is None else doubt.reshape(-1, *(1,) * rank)
        undefined = None
        if a.undefined is not None or b.undefined is not None:
            undefined = np.where(chosen, *(False if x.undefined is None else x.undefined for x in (a, b)))
        undefined = either(undefined, doubt)
        if undefined is not None and not undefined.any():
            undefined = None
        return Lanes(np.where(chosen, a.data, b.data), undefined, a.base if a.base is b.base else None)

    return select


@lowers("arith.constant")
def _constant(operation: Operation, _: Lowering) -> Step:
    dense, result = operation.attributes["value"], operation.results[0]
    assert isinstance(dense, Dense)
    lanes = Lanes(dense.values)

    def step(environment: Environment) -> None:
        environment[result] = lanes

    return step


@lowers("ub.poison")
def _poison(operation: Operation, _: Lowering) -> Step:
    result = operation.results[0]
    shape, element = (1,) * (1 + len(result.type.shape)), result.type.element

    def step(environment: Environment) -> None:
        environment[result] = Lanes(np.zeros(shape, element.dtype), np.ones(shape, np.bool_))

    return step


@lowers("arith.mulsi_extended", "arith.mului_extended", "arith.addui_extended")
def _extended(operation: Operation, _: Lowering) -> Step:
    (low, high), (a, b), name = operation.results, operation.operands, operation.name

    def step(environment: Environment) -> None:
        x, y = environment[a], environment[b]
        undefined = either(x.undefined, y.undefined)
        if name == "arith.addui_extended":
            total = x.data + y.data
            upper: Numbers = unsigned(total) < unsigned(x.data)
        else:
            total, upper = x.data * y.data, high_product(x.data, y.data, name == "arith.mulsi_extended")
        environment[low], environment[high] = Lanes(total, undefined), Lanes(upper, undefined)

    if high.type.element.bits == 1 and name != "arith.addui_extended":
        raise Unsupported(operation.line, f"{name} of booleans")
    return step


def fused(a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    """``a * b + c`` rounded once: all but float64 exactly as a sum of doubles, whose last bit says whether more was cut off."""
    if a.dtype == np.float64:
        return _fused_doubles(a, b, c)
    return _odd_sum(a.astype(np.float64) * b, c)


def _odd_sum(product: Numbers, c: Numbers) -> Numbers:
    """A sum of doubles that is odd in its last bit wherever it is not exact."""
    total = product + c
    back = total - product
    cut = (product - (total - back)) + (c - back)
    inexact = (cut != 0) & np.isfinite(total)
    if not inexact.any():
        return total
    bits = total.view(np.int64)
    towards = (cut < 0) == (total > 0)  # the exact sum lies nearer to zero
    return np.where(inexact & (bits & 1 == 0), bits - towards | 1, bits).view(np.float64)


_SPLITTER = 2.0**27 + 1


def _halves(x: Numbers) -> tuple[Numbers, Numbers]:
    large = _SPLITTER * x
    high: Numbers = large - (large - x)
    return high, x - high


def _two_sum(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _fused_doubles(a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    """By the product's error, and a sum of errors rounded to odd, of numbers around 1; as two operations where one side is nothing beside
    the other."""
    (a_part, a_scale), (b_part, b_scale) = np.frexp(a), np.frexp(b)
    scale = a_scale + b_scale
    added = np.ldexp(c, -scale)
    product = a_part * b_part
    (x, y), (u, v) = _halves(a_part), _halves(b_part)
    low = ((x * u - product) + x * v + y * u) + y * v
    high, rest = _two_sum(added, low)
    top, more = _two_sum(product, high)
    found = np.ldexp(top + _odd_sum(rest, more), scale)
    near = np.isfinite(product) & (product != 0) & (np.abs(added) < 2.0**150) & (np.abs(added) > 2.0**-150)
    return np.where(near, found, a * b + c)


@computes("math.fma")
def _fma(operation: Operation) -> Callable[..., Lanes]:
    element = operation.results[0].type.element
    if element == F64:
        return on_lanes(fused, element)
    return on_lanes(lambda a, b, c: rounded(fused(a, b, c), element), element)
