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
    weight = list(shapes.get("weight", ()))[2:]
    for kernel, prefix in ((weight, "conv_" if "conv_stride" in options else ""), (options.get("pool_kernel_size"), "pool_"), (options.get("kernel_size"), "")):  # fmt: skip
        if kernel and lengths and not (kernel is weight and "output_padding" in options):
            made = list(_windows(kernel, options, prefix, len(lengths)))
            if any(w.rest(n) for w, n in zip(made, lengths, strict=True)):
                return False
            lengths = [w.count(n) for w, n in zip(made, lengths, strict=True)]
    results = options.get("output_size")
    if results and lengths:
        return not any(n % r for n, r in zip(lengths, _each(results, len(lengths)), strict=True) if r)
    return True


def _windows(kernel: Any, options: Mapping[str, Any], prefix: str, count: int) -> Iterator[_Window]:
    sizes = _each(kernel, count)
    strides = options.get(prefix + "stride")
    # Pooling moves by its kernel unless told, a convolution by 1.
    strides = (1 if isinstance(kernel, list) else kernel) if strides is None else strides
    others = (_each(options.get(prefix + name) or 0, count) for name in ("padding",))
    dilations = _each(options.get(prefix + "dilation") or 1, count)
    for size, stride, padding, dilation in zip(sizes, _each(strides, count), *others, dilations, strict=True):
        yield _Window(size, stride, padding, dilation)


def _each(value: Any, count: int) -> list[Any]:
    if isinstance(value, str):
        return [0] * count
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values[:count]
