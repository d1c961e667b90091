"""Locations of Triton IR: aliases, names, call sites and fused places, read when somebody asks."""

from __future__ import annotations

import re

from kbx.ttir.tree import Frame, Location

_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)\s*$", re.MULTILINE)
_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):\d+(?: to .*)?\Z')
_NAMED = re.compile(r'"(?:[^"\\]|\\.)*"\((.*)\)\Z', re.DOTALL)
_DEEPEST = 200


class Locations:
    """All aliases of one text. ``of`` is memoised: hundreds of operations share a place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._aliases: dict[str, str] | None = None
        self._known: dict[str, tuple[Frame, ...]] = {}

    def of(self, reference: str) -> Location:
        """The location that is written as ``reference``: the inside of ``loc(...)``. What cannot be read has no frames."""
        return Location(lambda: self._frames(reference.strip(), 0))

    def _frames(self, text: str, depth: int) -> tuple[Frame, ...]:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._read(text, depth) if depth < _DEEPEST else ()
        return known

    def _read(self, text: str, depth: int) -> tuple[Frame, ...]:
        if text.startswith("#"):
            if self._aliases is None:
                self._aliases = dict(_ALIAS.findall(self._text))
            return self._frames(self._aliases.get(text, "unknown"), depth + 1)
        if place := _PLACE.match(text):
            return (Frame(place[1], int(place[2])),)
        if text.startswith("callsite(") and text.endswith(")"):
            callee, caller = _halves(text[9:-1])
            return self._frames(callee, depth + 1) + self._frames(caller, depth + 1)
        if named := _NAMED.match(text):
            return self._frames(named[1], depth + 1)
        if text.startswith("fused") and "[" in text:
            parts = _split(text[text.index("[") + 1 : text.rindex("]")])
            return tuple(frame for part in parts for frame in self._frames(part, depth + 1))
        return ()


def _halves(text: str) -> tuple[str, str]:
    """Both sides of the ``at`` that stands in no brackets."""
    depth, quoted = 0, False
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        depth += (c in "([") - (c in ")]") if not quoted else 0
        if not depth and not quoted and text.startswith(" at ", i):
            return text[:i].strip(), text[i + 4 :].strip()
    return text, "unknown"


def _split(text: str) -> list[str]:
    """Parts between commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]
