"""Products of matrices: operands as the tensor cores read them, sums in float32 (float64, or exactly for integers).

Tensor cores look at the upper 19 bits of a float32 operand, which cuts it off rather than rounding it. Hopper's add up products of 8-bit
floats with some 13 bits of fraction, which is not done here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from kbx.ttir import formats
from kbx.ttir.errors import Unsupported
from kbx.ttir.formats import Numbers, rounded, tensor_of
from kbx.ttir.lanes import Environment, Lanes, either, full
from kbx.ttir.lowering import Lowering, Step, computes, lowers
from kbx.ttir.tree import Operation, Value
from kbx.ttir.types import BF16, ELEMENTS, F16, F32, Element


def _product(a: Numbers, b: Numbers) -> Numbers:
    found: Numbers = torch.matmul(tensor_of(a), tensor_of(b)).numpy()
    return found


def _split(values: Numbers, parts: int, narrow: Callable[[Numbers], Numbers]) -> list[Numbers]:
    """float32 values as sums of ``parts`` values of a narrower format, the largest first."""
    found = []
    for _ in range(parts):
        found.append(narrow(values))
        values = values - np.where(np.isfinite(found[-1]), found[-1], 0)
    return found


def _in_parts(parts: int, narrow: Callable[[Numbers], Numbers]) -> Callable[[Numbers, Numbers], Numbers]:
    """A product of float32 by several of a narrower format: those whose orders add up to less than ``parts``, the smallest first."""

    def product(a: Numbers, b: Numbers) -> Numbers:
        left, right = _split(a, parts, narrow), _split(b, parts, narrow)
        pairs = sorted(((i, j) for i in range(parts) for j in range(parts - i)), key=lambda pair: -sum(pair))
        total = None
        for i, j in pairs:
            found = _product(left[i], right[j])
            total = found if total is None else total + found
        assert total is not None
        # Parts of an infinity are NaN where the whole is not.
        return np.where(np.isnan(total), _product(a, b), total)

    return product


def _bf16(values: Numbers) -> Numbers:
    return rounded(values, BF16)


_PRECISIONS: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "ieee": _product,
    "tf32": lambda a, b: _product(formats.tf32_cut(a), formats.tf32_cut(b)),
    "tf32x3": _in_parts(2, formats.tf32),
    "bf16x3": _in_parts(2, _bf16),
    "bf16x6": _in_parts(3, _bf16),
}


def _doubt(lanes: Lanes, operand: Value, axis: int) -> Numbers | None:
    """Rows or columns of a product that an undefined element enters."""
    if lanes.undefined is None:
        return None
    return np.asarray(full(lanes.undefined, operand.type.shape).any(axis, keepdims=True))


@computes("tt.dot")
def _dot(operation: Operation) -> Callable[..., Lanes]:
    left, right, _ = operation.operands
    kept, accumulator = left.type.element, operation.results[0].type.element
    precision = operation.keyword("inputPrecision", "ieee")
    if precision not in _PRECISIONS:
        raise Unsupported(operation.line, f"the precision {precision}")
    product = _PRECISIONS[precision] if kept == F32 and accumulator == F32 else _product
    exact = accumulator.kind == "int" or accumulator.bits == 64
    work = np.dtype(np.float64 if exact else np.float32)

    def dot(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        x = full(a.data, left.type.shape).astype(work, copy=False)
        y = full(b.data, right.type.shape).astype(work, copy=False)
        found = product(x, y)
        if accumulator.kind == "int":
            data = found.astype(np.int64).astype(accumulator.dtype) + c.data
        else:
            data = rounded(found + c.data, accumulator)
        return Lanes(data, either(c.undefined, _doubt(a, left, -1), _doubt(b, right, -2)))

    return dot


# ---------------------------------------------------------------- microscaling

_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
_FORMATS: dict[str, Element | None] = {
    "e4m3": ELEMENTS["f8E4M3FN"], "e5m2": ELEMENTS["f8E5M2"], "bf16": BF16, "fp16": F16, "e2m1": None,
}  # fmt: skip


def _unpacked(raw: Numbers, axis: int) -> Numbers:
    """Pairs of four-bit floats, the lower half of a byte first, along an axis."""
    bits = raw.view(np.uint8)
    pairs = np.stack([_E2M1[bits & 15], _E2M1[bits >> 4]], axis + 1 if axis >= 0 else axis)
    shape = list(raw.shape)
    shape[axis] *= 2
    return pairs.reshape(shape)


def _powers(scale: Numbers) -> Numbers:
    """Scales in e8m0: powers of two with bias 127, 255 is NaN."""
    bits = scale.view(np.uint8)
    return np.where(bits == 255, np.nan, np.exp2(bits.astype(np.float64) - 127)).astype(np.float32)


class _Scaled:
    """One side of a product: its values along ``axis``, each group of them by a scale."""

    def __init__(self, operand: Value, scale: Value | None, kind: str, k_axis: int, pack: bool, line: int) -> None:
        if kind not in _FORMATS:
            raise Unsupported(line, f"scaled values of type {kind}")
        self.operand, self.scale, self._kind, self._axis = operand, scale, kind, k_axis
        self._pack = k_axis if pack else -3 - k_axis

    def values(self, environment: Environment) -> Numbers:
        data = full(environment[self.operand].data, self.operand.type.shape)
        if self._kind == "e2m1":
            data = _unpacked(np.ascontiguousarray(data), self._pack)
        elif data.dtype.kind == "i":
            element = _FORMATS[self._kind]
            assert element is not None
            data = formats.decoded(data, element)
        if self.scale is None:
            return data
        # Scales lie as (rows, groups) on both sides.
        powers = _powers(np.ascontiguousarray(full(environment[self.scale].data, self.scale.type.shape)))
        powers = np.repeat(powers, data.shape[self._axis] // powers.shape[-1], axis=-1)
        return data * (powers if self._axis == -1 else powers.swapaxes(-1, -2))

    def doubt(self, environment: Environment) -> Numbers | None:
        """Whether any element is undefined."""
        lanes = [environment[v].undefined for v in (self.operand, self.scale) if v is not None]
        return either(
            *(None if u is None else np.asarray(u.any(tuple(range(1, u.ndim)), keepdims=True)) for u in lanes)
        )


@lowers("tt.dot_scaled")
def _dot_scaled(operation: Operation, _: Lowering) -> Step:
    operands = list(operation.operands)
    scaled = {at for at, word in operation.words if word == "scale"}
    left = operands.pop(0)
    left_scale = operands.pop(0) if 1 in scaled else None
    right = operands.pop(0)
    right_scale = operands.pop(0) if len(operation.operands) - len(operands) in scaled else None
    (accumulator,), result = operands, operation.results[0]
    sides = [
        _Scaled(operand, scale, operation.keyword(side), axis, operation.attributes.get(f"{side}_k_pack", True) is not False, operation.line)
        for side, operand, scale, axis in (("lhs", left, left_scale, -1), ("rhs", right, right_scale, -2))
    ]  # fmt: skip

    def step(environment: Environment) -> None:
        a, b = (side.values(environment) for side in sides)
        c = environment[accumulator]
        undefined = either(c.undefined, *(side.doubt(environment) for side in sides))
        environment[result] = Lanes(rounded(_product(a, b) + c.data, result.type.element), undefined)

    return step
