"""Windows that convolutions and pooling move over a tensor, and whether they cover it without a rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _Window:
    """Along one dimension."""

    size: int
    stride: int
    padding: int
    dilation: int

    def rest(self, length: int) -> int:
        return (length + 2 * self.padding - self._span) % self.stride

    def count(self, length: int) -> int:
        return (length + 2 * self.padding - self._span) // self.stride + 1

    @property
    def _span(self) -> int:
        return self.dilation * (self.size - 1) + 1


def whole(shapes: Mapping[str, Sequence[int]], options: Mapping[str, Any]) -> bool:
    """Whether the windows of a call, if it has any, end where the padded tensor ends. ``shapes`` are those of its tensors by
    argument, of which the first is what the windows move over; a ``weight`` of three dimensions or more is a convolution's kernel.

    Windows of adaptive pooling are whole if the number of results divides the length.
    """
    if not shapes:
        return True
    lengths = list(next(iter(shapes.values())))[2:]
    for made in _passes(shapes, options, len(lengths)):
        if any(w.rest(n) for w, n in zip(made, lengths, strict=True)):
            return False
        lengths = [w.count(n) for w, n in zip(made, lengths, strict=True)]
    results = options.get("output_size")
    if results and lengths:
        return not any(n % r for n, r in zip(lengths, _each(results, len(lengths)), strict=True) if r)
    return True


def _passes(shapes: Mapping[str, Sequence[int]], options: Mapping[str, Any], count: int) -> Iterator[list[_Window]]:
    """The windows along ``count`` dimensions: of a convolution, then of the pooling that follows. A transposed convolution leaves no rest."""
    kernel = list(shapes.get("weight", ()))[2:]
    if kernel and count and "output_padding" not in options:
        yield _windows(kernel, 1, options, "conv_" if "conv_stride" in options else "", count)
    for name, prefix in (("pool_kernel_size", "pool_"), ("kernel_size", "")):
        if count and (size := options.get(name)):
            yield _windows(size, size, options, prefix, count)


def _windows(sizes: Any, stride: Any, options: Mapping[str, Any], prefix: str, count: int) -> list[_Window]:
    """``stride`` is the one without an option: 1 of a convolution, the window's size of pooling."""

    def option(name: str, default: Any) -> list[Any]:
        given = options.get(prefix + name)
        return _each(default if given is None else given, count)

    columns = _each(sizes, count), option("stride", stride), option("padding", 0), option("dilation", 1)
    return [_Window(*each) for each in zip(*columns, strict=True)]


def _each(value: Any, count: int) -> list[Any]:
    if isinstance(value, str):
        return [0] * count
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values[:count]
