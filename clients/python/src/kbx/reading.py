"""Typed reads of JSON objects: an absent field is None, one of another kind is a ``ProtocolError``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from kbx.errors import ProtocolError

T = TypeVar("T")


class Reader:
    """Reads the fields of one JSON object."""

    def __init__(self, raw: object, what: str) -> None:
        if not isinstance(raw, Mapping):
            raise ProtocolError(f"{what}: expected a JSON object, got {_kind(raw)}")
        self.raw: Mapping[str, Any] = raw
        self._what = what

    def text(self, name: str) -> str | None:
        return self._typed(name, str)

    def required(self, name: str) -> str:
        value = self.text(name)
        if value is None:
            raise ProtocolError(f"{self._what}: no {name!r}")
        return value

    def flag(self, name: str) -> bool | None:
        return self._typed(name, bool)

    def whole(self, name: str) -> int | None:
        value = self.raw.get(name)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise self._wrong(name, "a whole number")

    def number(self, name: str) -> float | None:
        value = self.raw.get(name)
        if value is None:
            return None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        raise self._wrong(name, "a number")

    def texts(self, name: str) -> tuple[str, ...] | None:
        value: list[Any] | None = self._typed(name, list)
        if value is not None and not all(isinstance(element, str) for element in value):
            raise self._wrong(name, "a list of strings")
        return None if value is None else tuple(value)

    def nested(self, name: str) -> Reader | None:
        value = self.raw.get(name)
        return None if value is None else Reader(value, f"{self._what}.{name}")

    def elements(self, name: str) -> list[Any]:
        value: list[Any] | None = self._typed(name, list)
        if value is None:
            raise ProtocolError(f"{self._what}: no {name!r}")
        return value

    def _typed(self, name: str, kind: type[T]) -> T | None:
        value = self.raw.get(name)
        if value is None or isinstance(value, kind):
            return value
        raise self._wrong(name, kind.__name__)

    def _wrong(self, name: str, wanted: str) -> ProtocolError:
        return ProtocolError(f"{self._what}.{name}: expected {wanted}, got {_kind(self.raw[name])}")


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__
