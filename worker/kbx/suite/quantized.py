"""What a contract for quantized arithmetic is made of: an exact emulation of each scheme, and the freedom that float32 leaves.

An honest kernel divides, multiplies by a reciprocal, or rounds halves away from zero: a quotient that is very near to a half may be
rounded either way, and the tolerance of what depends on it grows by exactly that step. It may add ``GUARD`` to a scale so that none is
zero, which is no scheme of its own: between the scale and what it is then lie the quotients that are left open.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import torch

from kbx.suite import errors
from kbx.suite.contracts import Contract, Outcome
from kbx.suite.inputs import Call

Scheme: TypeAlias = dict[str, Any]
"""The keyword arguments that a way of quantizing is."""
Bounds: TypeAlias = tuple[torch.Tensor | float, torch.Tensor | float]
_Kept: TypeAlias = dict[tuple[tuple[str, Any], ...], tuple[torch.Tensor, torch.Tensor]]

HALFWAY = 2.0**-14
"""How near to a half a quotient up to 127 may be rounded either way: four float32 units in the last place of 127."""
ULP = 2.0**-23
"""Of float32, relative."""
GUARD = 1e-8
"""What may be added to a scale."""
KEPT = 1 << 13
"""Elements of a result up to which its emulations are kept with the call."""
EXPLAINED = 1 << 20
"""Elements of a wrong result up to which it is compared with the schemes that earlier results ruled out, for the message."""


@dataclass(frozen=True)
class Schemes(Contract):
    """Results that must be right by one of several schemes, by the same one in all calls of a judgement.

    ``schemes`` are dicts, the reference's first; each holds the keyword arguments of both functions. ``emulate(*args, **kwargs,
    **scheme)`` returns the exact result in float64, and how far each element may be from it. ``honest(*args, **kwargs, **scheme)``
    computes it in the task's precision: each scheme is a positive control of the task, and one that changes from call to call a
    negative one.
    """

    emulate: Callable[..., tuple[torch.Tensor, torch.Tensor]]
    honest: Callable[..., Any]
    schemes: tuple[Scheme, ...] = ({},)
    left: list[Scheme] | None = field(default=None, kw_only=True, compare=False)
    """The schemes that no result has ruled out yet, for the results of one candidate."""

    @property
    def keeps(self) -> bool:
        return True

    @property
    def remembers(self) -> bool:
        return len(self.schemes) > 1

    def begun(self, schemes: Sequence[int] = ()) -> Schemes:
        left = [self.schemes[i] for i in schemes] or list(self.schemes)
        return replace(self, left=left) if self.remembers else self

    @property
    def schemes_left(self) -> list[int]:
        return [i for i, scheme in enumerate(self.schemes) if scheme in self.left] if self.left is not None else []

    def controls(self) -> dict[str, Callable[..., Any]]:
        if not self.remembers:
            return {}
        turns = itertools.cycle(self.schemes)
        changing = {"negative_changes_scheme": lambda *args, **kwargs: self.honest(*args, **kwargs, **next(turns))}
        return {f"positive_by[{named(s)}]": functools.partial(self.honest, **s) for s in self.schemes} | changing

    def compare(self, call: Call, results: list[Any], expected: Any, truth: Any, kept: _Kept | None = None) -> Outcome:
        left, kept = self.schemes if self.left is None else self.left, {} if kept is None else kept
        found = [(scheme, self._by(scheme, call, results[0], kept)) for scheme in left]
        right = [scheme for scheme, comparison in found if not comparison.wrong]
        if not right:
            return self._wrong(call, results[0], found, kept)
        if self.left is not None:
            self.left[:] = right
        return Outcome(metrics=next(c for _, c in found if not c.wrong).metrics())

    def _by(
        self, scheme: Scheme, call: Call, result: torch.Tensor, kept: _Kept, shown: bool = False
    ) -> errors.Comparison:
        """The comparison of a result with one scheme's; ``shown`` says where it differs, and not only whether it does."""
        key = tuple(scheme.items())
        truth, allowed = kept.get(key) or self.emulate(*call.args, **call.kwargs, **scheme)
        if result.numel() <= KEPT:
            kept[key] = truth, allowed
        found, output = errors.Comparison(compared=result.numel()), errors.Output("output", result, truth)
        for start, (got, want, most) in errors.stretches(*(t.reshape(-1) for t in (result, truth, allowed))):
            most = most + torch.finfo(torch.float32).tiny  # less may honestly be flushed to zero
            error = (got.double() - want).abs()
            right = error <= most
            found.wrong += int(right.numel() - right.count_nonzero())
            found.measure(error, want, error / most)
            if shown:
                found.show(output, start, right, got, want, error / most)
        return found

    def _wrong(
        self, call: Call, result: torch.Tensor, found: list[tuple[Scheme, errors.Comparison]], kept: _Kept
    ) -> Outcome:
        """The outcome for a result that is right by none of the schemes that are left: what it is by the nearest."""
        scheme, _ = min(found, key=lambda pair: pair[1].wrong)
        nearest = self._by(scheme, call, result, kept, shown=True)
        text = nearest.complaints[0]
        if len(found) > 1:
            text = f"right by none of {len(found)} schemes; by the nearest ({named(scheme)}): {text}"
        elif self.remembers:
            text = f"earlier results were right by one scheme ({named(scheme)}); by it, {text}"
            other = self._other(call, result, [scheme], kept)
            text += f". By another scheme ({named(other)}) this result is right" if other else ""
        return Outcome([text], nearest.mismatches, nearest.metrics(), nearest.outputs)

    def _other(self, call: Call, result: torch.Tensor, left: list[Scheme], kept: _Kept) -> Scheme | None:
        """A scheme that was ruled out and by which this result is right, or None."""
        others = [s for s in self.schemes if s not in left] if result.numel() <= EXPLAINED else []
        return next((s for s in others if not self._by(s, call, result, kept).wrong), None)


def named(scheme: Scheme) -> str:
    """A scheme in words: ``operands: row, value: tensor``."""
    return ", ".join(f"{key}: {value}" for key, value in scheme.items())


@dataclass(frozen=True)
class Levels:
    """A tensor quantized, in float64: whole numbers ``level``, of which ``level * scale`` stands for the tensor."""

    level: torch.Tensor
    scale: torch.Tensor
    steps: torch.Tensor
    """By how many levels each may honestly be off."""
    doubt: torch.Tensor | float = 0.0
    """The relative error of ``scale``, beyond its rounding."""

    @property
    def value(self) -> torch.Tensor:
        return self.level * self.scale

    @property
    def error(self) -> torch.Tensor:
        """How far an honest element may be from ``value``, beyond a few roundings."""
        return (self.steps * (1 + self.doubt) + self.level.abs() * self.doubt) * self.scale


def top_of(x: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
    """The largest magnitude over ``dims`` (a tuple of dimensions from 0), which remain with size 1; 0 of no elements."""
    return (
        x.abs().amax(dims, keepdim=True)
        if x.numel()
        else x.new_zeros([_left(d, n, dims) for d, n in enumerate(x.shape)])
    )


def _left(dim: int, size: int, dims: tuple[int, ...]) -> int:
    return 1 if dim in dims else size


def scale_of(x: torch.Tensor, dims: tuple[int, ...], largest: float = 127) -> torch.Tensor:
    """``top_of`` divided by ``largest``, in the tensor's own precision; 1 where all is zero."""
    top = top_of(x, dims)
    return torch.where(top > 0, top / largest, 1)


def shifted_scale_of(x: torch.Tensor, dims: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """The scale of an asymmetric quantization to 8 bits, the distance between the smallest and the largest element, or 0, divided by 255,
    in the tensor's own precision; and the level, a whole number, of the smallest of its 256 values. 1 and -128 where all is zero."""
    low, high = (top_of((sign * x).clamp(min=0), dims) for sign in (-1, 1))
    scale = torch.where(low + high > 0, (low + high) / 255, 1)
    return scale, torch.where(low + high > 0, -128 - torch.round(low / scale - 128), -128)


def levels(
    x: torch.Tensor, dims: tuple[int, ...], largest: float = 127, bounds: Bounds | None = None, shifted: bool = False
) -> Levels:
    """``Levels`` of a tensor that a kernel knows exactly, with one scale for all of ``dims``: ``scale_of``, and within ``bounds``, which
    are ``largest`` and its negative unless given; or ``shifted_scale_of``."""
    if shifted:
        scale, lowest = (t.double() for t in shifted_scale_of(x.float(), dims))
        bounds = lowest, lowest + 255
    else:
        scale = scale_of(x.float(), dims, largest).double()
    quotient = x.double() / scale
    guarded = x.double() / (scale + GUARD)
    ends = torch.minimum(quotient, guarded), torch.maximum(quotient, guarded)
    return between(quotient, *ends, scale, bounds or (-largest, largest), doubt=(GUARD / scale).clamp(max=1))


def between(
    quotient: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
    scale: torch.Tensor,
    bounds: Bounds = (-127, 127),
    halfway: float = HALFWAY,
    doubt: torch.Tensor | float = 0.0,
) -> Levels:
    """``Levels`` of ``quotient`` where an honest one lies between ``low`` and ``high``; ``bounds`` are the smallest and the largest level."""
    level = _within(torch.round(quotient), bounds)
    least = _within(torch.ceil(low - 0.5 - halfway), bounds)
    most = _within(torch.floor(high + 0.5 + halfway), bounds)
    return Levels(level, scale, torch.maximum(level - least, most - level), doubt)


def _within(level: torch.Tensor, bounds: Bounds) -> torch.Tensor:
    least, most = (torch.as_tensor(b, dtype=level.dtype, device=level.device) for b in bounds)
    return torch.minimum(torch.maximum(level, least), most)


def levels_of_result(x: torch.Tensor, error: torch.Tensor, dims: tuple[int, ...], largest: float = 127) -> Levels:
    """``Levels`` of a float64 tensor that a kernel knows up to ``error``, a tensor of its shape."""
    top, low, high = top_of(x, dims), top_of((x.abs() - error).clamp(min=0), dims), top_of(x.abs() + error, dims)
    doubt = torch.where(top > 0, torch.maximum(high - top, top - low) / top, 0.0).clamp(max=0.5) + 4 * ULP
    scale = scale_of(x, dims, largest)
    doubt = doubt + (GUARD / scale).clamp(max=1)
    quotient = x / scale
    spread = error / scale + quotient.abs() * doubt
    return between(quotient, quotient - spread, quotient + spread, scale, (-largest, largest), doubt=doubt)
