"""Types of Triton IR: element types, and tensors of them."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kbx.ttir.errors import Unsupported


@dataclass(frozen=True)
class Element:
    """An element type. ``kind`` is ``float``, ``int`` (signless), ``pointer``, ``descriptor`` or ``shared`` (a program's own memory).

    A pointer's ``pointee`` is what it points to; the ``block`` of the last two is the tensor type that is loaded. ``bits`` is the width in a
    register: in memory an i1 takes a byte.
    """

    name: str
    kind: str
    bits: int
    pointee: Element | None = None
    block: Type | None = None

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return max(1, self.bits // 8)

    @property
    def narrow(self) -> bool:
        """Whether numpy has no arithmetic of this type: values are kept as float32 and rounded after each operation."""
        return self.kind == "float" and self.bits < 32

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy type in which values are kept."""
        return _KEPT[self.name] if self.kind in ("float", "int") else _INT64

    @property
    def raw(self) -> np.dtype[np.generic]:
        """The integer type of the bits that memory holds."""
        return RAW[self.bytes]


@dataclass(frozen=True)
class Type:
    """A scalar (``shape`` is empty) or a tensor."""

    element: Element
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def like(self, element: Element) -> Type:
        """The type of this shape with another element type."""
        return Type(element, self.shape)

    def __str__(self) -> str:
        sizes = "".join(f"{n}x" for n in self.shape)
        return f"tensor<{sizes}{self.element.name}>" if self.shape else self.element.name


Array = npt.NDArray[np.generic]

_INT64: np.dtype[np.generic] = np.dtype(np.int64)
RAW: dict[int, np.dtype[np.generic]] = {n: np.dtype(f"i{n}") for n in (1, 2, 4, 8)}
UNSIGNED: dict[np.dtype[np.generic], np.dtype[np.generic]] = {RAW[n]: np.dtype(f"u{n}") for n in RAW}

_FLOATS = {
    "f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16,
    "f8E4M3FN": 8, "f8E5M2": 8, "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "f8E4M3B11FNUZ": 8,
}  # fmt: skip
_INTS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}

ELEMENTS = {name: Element(name, "float", bits) for name, bits in _FLOATS.items()}
ELEMENTS |= {name: Element(name, "int", bits) for name, bits in _INTS.items()}

_KEPT: dict[str, np.dtype[np.generic]] = {n: np.dtype(np.float64 if n == "f64" else np.float32) for n in _FLOATS}
_KEPT |= {n: np.dtype(np.bool_ if bits == 1 else f"i{bits // 8}") for n, bits in _INTS.items()}

I1, I8, I32, I64 = (ELEMENTS[name] for name in ("i1", "i8", "i32", "i64"))
F16, BF16, F32, F64 = (ELEMENTS[name] for name in ("f16", "bf16", "f32", "f64"))

_TENSOR = re.compile(r"(?:tensor)?<((?:\d+x)+)(.+)>\Z", re.DOTALL)


def parse_type(text: str, line: int = 0) -> Type:
    """The type that a piece of IR spells, as ``tensor<32x!tt.ptr<f32>>``; raises Unsupported."""
    found = _parse_type(text)
    if found is None:
        raise Unsupported(line, f"the type {text}")
    return found


@functools.lru_cache(maxsize=4096)
def _parse_type(text: str) -> Type | None:
    element = ELEMENTS.get(text)
    if element is not None:
        return Type(element)
    found = _TENSOR.match(text)
    if found:
        inner = _parse_type(_plain(found[2]))
        shape = tuple(int(n) for n in found[1].rstrip("x").split("x"))
        return Type(inner.element, shape) if inner is not None and not inner.shape else None
    if text.startswith("!tt.ptr<"):
        inner = _parse_type(_plain(text[8:-1]))
        return Type(Element(text, "pointer", 64, inner.element)) if inner is not None and not inner.shape else None
    if text.startswith("!tt.tensordesc<"):
        inside = text[15:-1]
        block = _parse_type(_plain(inside if inside.startswith("tensor<") else f"tensor<{inside}>"))
        return Type(Element(text, "descriptor", 64, None, block)) if block is not None and block.shape else None
    if text.startswith("!ttg.memdesc<"):
        block = _parse_type(f"tensor<{text[13:-1]}>")
        return Type(Element(text, "shared", 64, None, block)) if block is not None and block.shape else None
    return None


def _plain(text: str) -> str:
    """A type without what follows a comma at its top: an address space or a layout, which mean nothing to values."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "<") - (c == ">")
        if c == "," and not depth:
            return text[:i].strip()
        if c == "," and depth == 1 and text.startswith("tensor<"):
            return text[:i].strip() + ">"
    return text.strip()
