"""Conversions between types, and bits read as another type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbx.ttir import formats
from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers
from kbx.ttir.lanes import Environment, Lanes
from kbx.ttir.lowering import Lowering, Step, computes, lowers
from kbx.ttir.operations.arith import unsigned
from kbx.ttir.tree import Operation
from kbx.ttir.types import Element

Cast = Callable[[Numbers, Element, Element], Numbers]


def _sign_extended(data: Numbers, source: Element, target: Element) -> Numbers:
    return -data.astype(target.dtype) if source.bits == 1 else data.astype(target.dtype)


def _zero_extended(data: Numbers, source: Element, target: Element) -> Numbers:
    return unsigned(data).astype(target.dtype)


def _truncated(data: Numbers, source: Element, target: Element) -> Numbers:
    return data & 1 != 0 if target.bits == 1 else data.astype(target.dtype)


def _rounded(data: Numbers, source: Element, target: Element) -> Numbers:
    return formats.rounded(data, target)


def _bits(data: Numbers, source: Element, target: Element) -> Numbers:
    return formats.decoded(formats.encoded(data, source), target)


def _towards_zero(data: Numbers, source: Element, target: Element) -> Numbers:
    return formats.towards_zero(data, target)


CASTS: dict[str, Cast] = {
    "arith.extsi": _sign_extended, "arith.extui": _zero_extended, "arith.trunci": _truncated,
    "arith.index_cast": _sign_extended, "arith.index_castui": _zero_extended,
    "arith.extf": _rounded, "arith.truncf": _rounded,
    "arith.sitofp": lambda d, s, t: formats.from_integers(d, t, True),
    "arith.uitofp": lambda d, s, t: formats.from_integers(d, t, False),
    "arith.fptosi": lambda d, s, t: formats.to_integers(d, t, True, s),
    "arith.fptoui": lambda d, s, t: formats.to_integers(d, t, False, s),
    "tt.fp_to_fp": _rounded, "arith.bitcast": _bits,
}  # fmt: skip

_ROUNDINGS: dict[str, Cast] = {
    "rtne": _rounded, "to_nearest_even": _rounded, "rtz": _towards_zero, "toward_zero": _towards_zero, "": _rounded,
}  # fmt: skip


@computes(*CASTS)
def _cast(operation: Operation) -> Callable[..., Lanes]:
    source, target = operation.operands[0].type.element, operation.results[0].type.element
    cast = CASTS[operation.name]
    if operation.name == "tt.fp_to_fp" or (operation.name == "arith.truncf" and operation.words):
        rounding = operation.words[0][1] if operation.words else operation.keyword("rounding")
        if rounding not in _ROUNDINGS:
            raise Unsupported(operation.line, f"the rounding {rounding}")
        cast = _ROUNDINGS[rounding]
    return lambda value: Lanes(cast(value.data, source, target), value.undefined)


@lowers("tt.bitcast")
def _bitcast(operation: Operation, _: Lowering) -> Step:
    """Of pointers the address stays. One to larger elements may no longer be a multiple of their size."""
    source, target = operation.operands[0], operation.results[0]
    old, new = source.type.element, target.type.element
    if (old.kind == "pointer") != (new.kind == "pointer"):
        raise Unsupported(operation.line, f"a bitcast of {old.name} to {new.name}")

    def pointers(environment: Environment) -> None:
        if (new.pointee or new).bytes > (old.pointee or old).bytes:
            environment.launch.aligned = False
        environment[target] = environment[source]

    def values(environment: Environment) -> None:
        value = environment[source]
        environment[target] = Lanes(_bits(value.data, old, new), value.undefined)

    return pointers if new.kind == "pointer" else values


@lowers("tt.ptr_to_int", "tt.int_to_ptr")
def _address(operation: Operation, _: Lowering) -> Step:
    """A number keeps no memory that it points to; a pointer that is made of one finds it by its address."""
    (source,), (target,) = operation.operands, operation.results

    def step(environment: Environment) -> None:
        value = environment[source]
        environment.launch.aligned = False
        environment[target] = Lanes(value.data.astype(np.int64, copy=False), value.undefined)

    return step
