"""Mathematical functions: the math dialect and libdevice, which Triton calls by symbol.

Functions of float32 that numpy has are computed in float32, those of libdevice in float64 and rounded once: closer to the true value
than the one or two last bits by which the hardware's differ. Those that take subnormal numbers for zero do here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import torch

from kbx import libdevice
from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers, tensor_of
from kbx.ttir.lanes import Lanes
from kbx.ttir.lowering import computes
from kbx.ttir.operations import arith
from kbx.ttir.operations.arith import unsigned
from kbx.ttir.operations.elementwise import Function, on_lanes
from kbx.ttir.tree import Operation


def _exact(function: Callable[[torch.Tensor], torch.Tensor]) -> Function:
    """A function of torch in float64: its float32 one errs by a few of the last bits."""

    def run(x: Numbers) -> Numbers:
        found: Numbers = function(tensor_of(x.astype(np.float64))).numpy()
        return found.astype(x.dtype)

    return run


_LOG2_E = np.float32(1.4426950408889634)


def _exponential(x: Numbers) -> Numbers:
    """In float32 by the power of two, as Triton compiles it: the product's rounding makes results far from 1 less exact."""
    return np.exp2(x * _LOG2_E) if x.dtype == np.float32 else np.exp(x)


def _flushing(function: Function) -> Function:
    """A function that takes subnormal float32 numbers for zero, and gives none."""

    def run(x: Numbers) -> Numbers:
        return libdevice.flushed(function(libdevice.flushed(x))) if x.dtype == np.float32 else function(x)

    return run


def _counted(x: Numbers, from_top: bool) -> Numbers:
    """Zero bits above the highest one, or below the lowest one."""
    width = x.dtype.itemsize * 8
    bits = np.unpackbits(np.ascontiguousarray(x).view(np.uint8).reshape(*x.shape, -1), axis=-1, bitorder="little")
    bits = bits[..., ::-1] if from_top else bits
    return np.where(bits.any(-1), bits.argmax(-1), width).astype(x.dtype)


def _ones(x: Numbers) -> Numbers:
    return np.asarray(np.bitwise_count(x.view(f"u{x.dtype.itemsize}"))).astype(x.dtype)


MATH: dict[str, Function] = {
    "math.exp": _exponential, "math.exp2": _flushing(np.exp2), "math.expm1": np.expm1, "math.log": np.log, "math.log2": np.log2,
    "math.log10": np.log10, "math.log1p": np.log1p, "math.sqrt": _flushing(np.sqrt), "math.rsqrt": _flushing(lambda x: 1 / np.sqrt(x)),
    "math.cbrt": np.cbrt, "math.sin": _flushing(np.sin), "math.cos": np.cos, "math.tan": np.tan, "math.tanh": np.tanh,
    "math.sinh": np.sinh, "math.cosh": np.cosh, "math.asin": np.arcsin, "math.acos": np.arccos, "math.atan": np.arctan,
    "math.atan2": np.arctan2, "math.asinh": np.arcsinh, "math.acosh": np.arccosh, "math.atanh": np.arctanh,
    "math.absf": np.abs, "math.absi": np.abs, "math.floor": _flushing(np.floor), "math.ceil": _flushing(np.ceil), "math.trunc": np.trunc,
    "math.round": libdevice.round_away, "math.roundeven": np.rint, "math.erf": _flushing(_exact(torch.erf)), "math.erfc": _exact(torch.erfc),
    "math.copysign": np.copysign, "math.powf": np.power, "math.isnan": np.isnan, "math.isinf": np.isinf,
    "math.isfinite": np.isfinite, "math.ctlz": lambda x: _counted(x, True), "math.cttz": lambda x: _counted(x, False),
    "math.ctpop": _ones, "tt.precise_sqrt": np.sqrt,
}  # fmt: skip


@computes(*MATH)
def _math(operation: Operation) -> Callable[..., Lanes]:
    return on_lanes(MATH[operation.name], operation.results[0].type.element)


@computes("tt.extern_elementwise")
def _extern(operation: Operation) -> Callable[..., Lanes]:
    symbol = operation.keyword("symbol")
    function = libdevice.find(symbol)
    if function is None:
        raise Unsupported(operation.line, f"the function {symbol}")
    known = arith.fused if symbol == "__nv_fma" or symbol == "__nv_fma_rn" else function

    def run(*xs: Numbers) -> Numbers:
        if _OF_UNSIGNED.match(symbol):  # the IR's integers have no sign
            xs = tuple(unsigned(x) if x.dtype.kind == "i" else x for x in xs)
        return np.asarray(known(*xs))

    return on_lanes(run, operation.results[0].type.element)


_OF_UNSIGNED = re.compile(r"__nv_(?:umulhi|umul64hi|usad|uhadd|urhadd|uint2|ull2)")
