"""Operations that compute each lane of a result from the same lane of the operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kbx.ttir.formats import Numbers, rounded
from kbx.ttir.lanes import Lanes, either
from kbx.ttir.types import Element

Function: TypeAlias = Callable[..., Numbers]


def on_lanes(function: Function, element: Element) -> Callable[..., Lanes]:
    """A function of arrays as one of lanes: rounded to ``element``, and undefined wherever an operand is."""
    dtype = element.dtype
    if element.narrow:
        return lambda *operands: Lanes(
            rounded(function(*[each.data for each in operands]), element),
            either(*[each.undefined for each in operands]),
        )

    def run(*operands: Lanes) -> Lanes:
        data = function(*[each.data for each in operands])
        if data.dtype != dtype:
            same = data.dtype.kind == "u" and dtype.kind == "i" and data.dtype.itemsize == dtype.itemsize
            data = data.view(dtype) if same else data.astype(dtype)
        return Lanes(data, either(*[each.undefined for each in operands]))

    return run
