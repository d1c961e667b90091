"""Number formats: values as numpy keeps them, rounded as the hardware rounds them, and as the bits that memory holds.

float16, bfloat16 and the 8-bit floats are kept as float32. A sum, product, quotient or square root of two such values in float32,
rounded once more, is the correctly rounded one: float32 has more than twice their digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from kbx.ttir.types import BF16, F16, F32, F64, UNSIGNED, Element

Numbers = npt.NDArray[Any]

TORCH = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8E4M3FN": torch.float8_e4m3fn,
    "f8E5M2": torch.float8_e5m2,
    "f8E4M3FNUZ": torch.float8_e4m3fnuz,
    "f8E5M2FNUZ": torch.float8_e5m2fnuz,
}
"""The narrow formats that torch converts, to nearest even."""
_LARGEST = {name: float(torch.finfo(dtype).max) for name, dtype in TORCH.items() if name.startswith("f8")}


def tensor_of(array: Numbers) -> torch.Tensor:
    """A tensor of an array's memory, or of a copy where that may not be shared."""
    array = np.ascontiguousarray(array)
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def rounded(values: Numbers, element: Element) -> Numbers:
    """Floating-point values as values of ``element``, rounded to nearest even, in the numpy type in which those are kept.

    The 8-bit formats saturate at their largest finite value, as ``cvt.rn.satfinite`` does on every GPU that has it; NaN stays NaN.
    """
    if not element.narrow:
        return values if values.dtype == element.dtype else values.astype(element.dtype)
    if element.name == "f8E4M3B11FNUZ":
        return decoded(encoded(values, element), element)
    found: Numbers = _narrow(values, element).float().numpy()
    return found


def _narrow(values: Numbers, element: Element) -> torch.Tensor:
    tensor = tensor_of(single(values))
    if element.bits == 8:
        largest = _LARGEST[element.name]
        tensor = tensor.clamp(-largest, largest)
    return tensor.to(TORCH[element.name])


def single(values: Numbers) -> Numbers:
    """Floating-point values as float32 from which rounding to a narrower format gives what rounding at once would: to odd."""
    if values.dtype != np.float64:
        return values if values.dtype == np.float32 else values.astype(np.float32)
    near = values.astype(np.float32)
    inexact = (near != values) & np.isfinite(values) & np.isfinite(near)
    if not inexact.any():
        return near
    bits = near.view(np.int32)
    # What was rounded away from zero goes back by one, so that the last bit stands for all that was cut off.
    cut = bits - (np.abs(near) > np.abs(values))
    return np.where(inexact, cut | 1, bits).view(np.float32)


def encoded(values: Numbers, element: Element) -> Numbers:
    """Values kept for ``element`` as the bits that memory holds, in a signed integer type. They must be rounded already."""
    if element.narrow:
        if element.name == "f8E4M3B11FNUZ":
            return _encode_b11(values)
        narrow = tensor_of(single(values)).to(TORCH[element.name])
        return narrow.view(torch.int8 if element.bits == 8 else torch.int16).numpy()
    if element.bits == 1:
        return values.astype(np.int8)
    return np.ascontiguousarray(values).view(element.raw)


def decoded(raw: Numbers, element: Element) -> Numbers:
    """Bits of memory as values kept for ``element``."""
    if element.narrow:
        if element.name == "f8E4M3B11FNUZ":
            return _B11[raw.view(np.uint8)]
        found: Numbers = tensor_of(raw).view(TORCH[element.name]).float().numpy()
        return found
    return raw.astype(np.bool_) if element.bits == 1 else raw.view(element.dtype)


def towards_zero(values: Numbers, element: Element) -> Numbers:
    """As ``rounded``, towards zero: what lies above the largest finite value becomes that, infinity stays in formats that have it."""
    if element in (F32, F64):
        near = rounded(values, element)
        over = np.isfinite(values) & (np.abs(near) > np.abs(values))
        return np.where(over, np.nextafter(near, element.dtype.type(0)), near)
    near = rounded(values, element)
    if element.name == "f8E5M2":  # which saturates, but keeps infinity
        near = np.where(np.isinf(values), values, near)
    over = (np.abs(near) > np.abs(values)) & np.isfinite(values)
    if not over.any():
        return near
    return np.where(over, decoded((encoded(near, element) - 1).astype(element.raw), element), near)


def tf32_cut(values: Numbers) -> Numbers:
    """float32 values without what TF32 does not keep: tensor cores do not look at the last 13 bits of their operands."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    kept = (bits & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isfinite(values), kept, values)


def tf32(values: Numbers) -> Numbers:
    """float32 values with the ten bits of mantissa that TF32 keeps; ties go away from zero, as ``cvt.rna.tf32`` rounds them."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    kept = ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isfinite(values), kept, values)


def tf32_even(values: Numbers) -> Numbers:
    """The same with ties to even, as tensor descriptors round."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    kept = ((bits + np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isfinite(values), kept, values)


def from_integers(values: Numbers, element: Element, signed: bool) -> Numbers:
    """Integers as values of a floating-point type, rounded as conversions on the device do: to bfloat16 by way of float32."""
    if values.dtype != np.bool_ and not signed:
        values = values.view(UNSIGNED[values.dtype])
    if values.dtype == np.bool_:
        values = -values.astype(np.int8) if signed else values.astype(np.int8)
    if element == F64:
        return values.astype(np.float64)
    if element in (F32, BF16):
        return rounded(values.astype(np.float32), element)
    if element == F16:
        return rounded(values.astype(np.float64), element)
    return rounded(values.astype(np.float32), element)


def to_integers(values: Numbers, element: Element, signed: bool, source: Element, least: int = 2) -> Numbers:
    """Floats of type ``source`` truncated to integers: out of range saturates as ``cvt.rzi`` does, at ``least`` bytes or more, then wraps.

    NaN gives 0, or the highest bit alone where either side has 64 bits.
    """
    wide = np.dtype(f"{'i' if signed else 'u'}{max(least, element.bytes)}")
    limits = np.iinfo(wide)
    of_nan = np.array(1 << limits.bits - 1 if 64 in (source.bits, limits.bits) else 0, f"u{wide.itemsize}").view(wide)
    whole = np.trunc(np.where(np.isnan(values), 0, values))
    high, low = whole >= float(limits.max), whole <= float(limits.min)
    inside = np.where(high | low, 0, whole).astype(wide)
    wrapped = np.where(high, wide.type(limits.max), np.where(low, wide.type(limits.min), inside))
    if of_nan:
        wrapped = np.where(np.isnan(values), of_nan, wrapped)
    if element.bits == 1:
        odd: Numbers = wrapped & 1 != 0
        return odd
    return wrapped.astype(UNSIGNED[element.raw]).view(element.raw)


# ---------------------------------------------------------------- e4m3 with bias 11, which torch lacks


def _values_of_b11() -> npt.NDArray[np.float32]:
    values = np.empty(256, np.float32)
    for bits in range(256):
        exponent, mantissa = bits >> 3 & 15, bits & 7
        size = mantissa / 8 * 2.0**-10 if not exponent else (1 + mantissa / 8) * 2.0 ** (exponent - 11)
        values[bits] = -size if bits & 0x80 else size
    values[0x80] = np.nan
    return values


_B11 = _values_of_b11()
_B11_POSITIVE = _B11[:0x80].astype(np.float64)


def _encode_b11(values: Numbers) -> Numbers:
    size = np.minimum(
        np.abs(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=1e9, neginf=-1e9)), _B11_POSITIVE[-1]
    )
    above = np.searchsorted(_B11_POSITIVE, size)
    below = np.maximum(above - 1, 0)
    up, down = _B11_POSITIVE[above] - size, size - _B11_POSITIVE[below]
    nearest = np.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
    bits = np.where((values < 0) & (nearest > 0), nearest | 0x80, nearest)
    return np.where(np.isnan(values), 0x80, bits).astype(np.uint8).view(np.int8)
