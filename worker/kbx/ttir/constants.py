"""Constants as the printer writes them: numbers, floats as their bits, lists, and long lists as bytes."""

from __future__ import annotations

import re

import numpy as np

from kbx.ttir import formats
from kbx.ttir.errors import Unsupported
from kbx.ttir.tree import Dense
from kbx.ttir.types import RAW, UNSIGNED, Array, Element, Type

_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\Z|true\Z|false\Z")


def constant(body: str, type: Type, line: int) -> Dense:
    """The constant of ``body``, which is a number or ``dense<...>``; raises Unsupported."""
    if body.startswith("dense<") and body.endswith(">"):
        inside = body[6:-1].strip()
        values = _bytes(inside, type, line) if inside.startswith('"') else _list(inside, type, line)
    else:
        values = _list(body, type, line)
    if values.size not in (1, type.size):
        raise Unsupported(line, f"a constant of {values.size} elements for {type}")
    shape = type.shape if values.size == type.size else (1,) * len(type.shape)
    return Dense(values.reshape(1, *shape), type)


def _list(text: str, type: Type, line: int) -> Array:
    words = [word for word in re.split(r"[\[\],\s]+", text) if word]
    for word in words:
        if not _NUMBER.match(word):
            raise Unsupported(line, f"the constant {word[:40]!r}")
    element = type.element
    if element.kind == "float":
        # As many digits are printed as tell the numbers of this type apart: they are rounded to it.
        exact = np.array([_float(word, element) for word in words], np.float64)
        return formats.rounded(exact, element)
    if element.kind != "int":
        raise Unsupported(line, f"a constant of type {type}")
    if element.bits == 1:
        return np.array([word in ("true", "1", "-1") for word in words])
    width = 1 << element.bits
    return np.array([int(word, 0) % width for word in words], UNSIGNED[element.raw]).view(element.raw)


def _float(word: str, element: Element) -> float:
    if "0x" not in word:
        return float(word)
    bits = np.array([int(word, 16)], UNSIGNED[element.raw]).view(element.raw)
    return float(formats.decoded(bits, element)[0].item())


def _bytes(text: str, type: Type, line: int) -> Array:
    """Elements printed as the bytes of memory, little end first; booleans may share a byte."""
    if not text.startswith('"0x') or not text.endswith('"'):
        raise Unsupported(line, f"the constant {text[:40]!r}")
    raw = np.frombuffer(bytes.fromhex(text[3:-1]), np.uint8)
    element = type.element
    if element.bits == 1:
        bits = raw if len(raw) == type.size else np.unpackbits(raw, bitorder="little")[: type.size]
        return bits.astype(np.bool_)
    if len(raw) % element.bytes:
        raise Unsupported(line, f"{len(raw)} bytes of a constant of type {type}")
    return formats.decoded(raw.view(RAW[element.bytes]), element)
