"""What counts as a right answer: a task names one of these as its ``CONTRACT``.

The oracle has already compared structure, shapes, dtypes, device, aliasing and strides when it asks a contract about values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import torch

from kbx.suite import errors
from kbx.suite.inputs import Call
from kbx.suite.values import leaves, tensors

Strides = Literal["any", "contiguous", "reference"]

Check: TypeAlias = Callable[[tuple[Any, ...], dict[str, Any], Any, Any], Iterable[object]]
"""``check(args, kwargs, result, expected)``: complaints about a result, or about a list of draws."""
Kept: TypeAlias = dict[Any, Any]
"""What a contract has worked out of a call, as in ``Contract.keeps``."""

EQUIVALENT = "equivalent"
"""The key of ``Kept`` for another result that is as right as the reference's, where there is one."""

_REAL, _COMPLEX = (torch.float64, torch.float32), (torch.complex128, torch.complex64)


@dataclass
class Outcome:
    """A contract's word on one result. ``complaints`` is empty when the result is right."""

    complaints: list[str] = field(default_factory=list)
    mismatches: list[errors.Mismatch] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)
    outputs: list[errors.Output] = field(default_factory=list)
    """Those with wrong elements, where elements were compared."""

    @property
    def right(self) -> bool:
        return not self.complaints


@dataclass(frozen=True)
class Contract:
    """What every contract has.

    ``strides`` is what the statement promises about the results' memory: ``any`` layout, ``contiguous``, or the layout of the
    ``reference``. Dimensions of size one and empty tensors have no layout.
    """

    strides: Strides = field(default="any", kw_only=True)

    needs_truth = False
    """Whether ``compare`` reads ``truth``, the reference's float64 result."""
    random = False
    """Whether results may differ from call to call."""
    draws = 1
    """Calls with the same inputs that one comparison covers."""

    @property
    def keeps(self) -> bool:
        """Whether ``compare`` takes one more argument, ``kept``: a dict that belongs to the call, for what it works out of ``call``,
        ``expected`` and ``truth`` alone, so that other results of the same call find it there. No large tensors."""
        return False

    @property
    def remembers(self) -> bool:
        """Whether earlier results of a candidate decide what is right in later ones: then one that ``begun`` returns judges them all."""
        return False

    def begun(self, schemes: Sequence[int] = ()) -> Contract:
        """The contract for the results of one candidate; ``schemes`` are ``schemes_left`` after earlier ones of it."""
        return self

    @property
    def schemes_left(self) -> list[int]:
        """Positions of the schemes by which all results so far were right; empty where there is no choice."""
        return []

    def controls(self) -> dict[str, Callable[..., Any]]:
        """Further controls of the task, by name: functions as those of a task file."""
        return {}

    def compare(self, call: Call, results: list[Any], expected: Any, truth: Any) -> Outcome:
        """Judges ``results`` (a list of ``draws`` results of one call) and returns an ``Outcome``.

        ``call`` holds the arguments as they were before the call, ``expected`` the reference's result at the task's precision.
        Where the call updates arguments that it does not return, each result is a dict: ``output`` is what was returned, every
        other key is such an argument's name (``argument output`` for one of that name) with its contents after the call.
        """
        raise NotImplementedError

    def agrees(self, result: Any, expected: Any) -> bool:
        """Whether ``compare`` need not be asked, nor any truth: the result is so near the reference's. False says nothing."""
        return False


@dataclass(frozen=True)
class Close(Contract):
    """Floating-point results by the error model of ``kbx.suite.errors``; integers and everything else exactly.

    Protects from loose constants: it measures the reference's own error on the very inputs and allows a small multiple.

    ``scale``: typical magnitude of the intermediate values, where the output is smaller than what it is made of (differences,
    ``1 - exp``, sums that cancel): a number, or a function of the call's arguments that returns a number or a tensor that
    broadcasts to the output, such as ``lambda input, dim: input.double().norm(dim=dim)``.
    ``growth``: multiplies the tolerance, for recurrences that amplify errors. ``tf32``: TF32 products are allowed.
    ``most``: bounds what is allowed of results in half precision, as the text of ``kbx.suite.errors`` says.

    Quantized levels (int8 and uint8 results of a call with floating-point arguments, unless they span few) may be off by one where
    float32 does not tell, which is so of few elements: see ``errors.levels``.
    """

    scale: float | Callable[..., Any] | None = None
    growth: float = 1.0
    tf32: bool = False
    most: float | None = None

    needs_truth = True

    @property
    def keeps(self) -> bool:
        """Not where a task compares in its own way: it may hand on other tensors than those of the call."""
        return type(self).compare is Close.compare

    def compare(self, call: Call, results: list[Any], expected: Any, truth: Any, kept: Kept | None = None) -> Outcome:
        scale = self.scale(*call.args, **call.kwargs) if callable(self.scale) else self.scale
        found, kept = errors.Comparison(), {} if kept is None else kept
        computed = any(t.is_floating_point() for t in tensors([*call.args, *call.kwargs.values()]))
        also = leaves(kept.get(EQUIVALENT, expected))
        quadruples = zip(leaves(results[0]), leaves(expected), leaves(truth), also, strict=True)
        for place, ((path, got), (_, want), (_, true), (_, other)) in enumerate(quadruples):
            if computed and isinstance(want, torch.Tensor) and want.dtype in (torch.int8, torch.uint8):
                found.join(errors.levels(path, got, want, true))
            else:
                found.join(self._leaf(path, got, want, true, other, scale, kept, (self, place)))
        return _outcome(found)

    def agrees(self, result: Any, expected: Any) -> bool:
        pairs = zip(leaves(result), leaves(expected), strict=True)
        return all(self._near(got, want) for (_, got), (_, want) in pairs)

    def _near(self, got: Any, want: Any) -> bool:
        if isinstance(want, torch.Tensor) and (want.is_floating_point() or want.is_complex()):
            return want.element_size() > 1 and errors.near(got, want, self.tf32)
        return not _exact("", got, want, False).wrong

    def _leaf(
        self, path: str, got: Any, want: Any, true: Any, other: Any, scale: Any, kept: Kept, key: object
    ) -> errors.Comparison:
        if isinstance(want, (float, complex)):
            # A Python number usually left a float32 tensor by item().
            double, single = _COMPLEX if isinstance(want, complex) else _REAL
            got, want, true = (torch.tensor(v, dtype=double) for v in (got, want, true))
            got, want = got.to(single), want.to(single)
        if not isinstance(want, torch.Tensor) or not (want.is_floating_point() or want.is_complex()):
            return _exact(path, got, want, False)
        if key not in kept:
            usable = isinstance(other, torch.Tensor) and other is not want and other.dtype == want.dtype
            also = other if usable else None
            kept[key] = errors.yardstick(want, true, scale, self.growth, self.tf32, self.most, also)
        return errors.close(path, got, want, true, scale, measured=kept[key])


@dataclass(frozen=True)
class Exact(Contract):
    """Equal values bit for bit, for integers, copies, comparisons and exact emulations; NaN equals NaN.

    Protects from "nearly": an index or a quantized level is right or wrong. ``signed_zero`` tells 0.0 from -0.0, for tasks
    whose statement does.
    """

    signed_zero: bool = False

    def compare(self, call: Call, results: list[Any], expected: Any, truth: Any) -> Outcome:
        found = errors.Comparison()
        for (path, got), (_, want) in zip(leaves(results[0]), leaves(expected), strict=True):
            found.join(_exact(path, got, want, self.signed_zero))
        return _outcome(found)


@dataclass(frozen=True)
class Property(Contract):
    """Answers that are not unique, judged by what defines them: reconstruction, orthogonality, ordering, backward error.

    Protects honest algorithms whose signs, phases or pivots differ from the reference's. ``check(args, kwargs, result,
    expected)`` returns complaints, an empty list for a right answer; it measures in units of the dtype's eps times the size.
    A check that raises has met a result it did not foresee (NaN in a decomposition): the result is wrong.
    """

    check: Check

    def compare(self, call: Call, results: list[Any], expected: Any, truth: Any) -> Outcome:
        return _complaints(self.check, call, results[0], expected)


@dataclass(frozen=True)
class Random(Contract):
    """Random operations, judged by distribution: keep rate, scale, independence of the data, fresh masks.

    Protects honest generators from being held to the reference's stream. ``check(args, kwargs, results, expected)`` gets the
    list of ``draws`` results of calls with the same inputs (a timed call: one result alone) and returns complaints; its limits must be so wide that an honest
    kernel fails less than once in a million. Repeats need not agree bit for bit.
    """

    check: Check
    draws: int = 2

    random = True

    def compare(self, call: Call, results: list[Any], expected: Any, truth: Any) -> Outcome:
        return _complaints(self.check, call, results, expected)


def _exact(path: str, got: Any, want: Any, signed_zero: bool) -> errors.Comparison:
    if isinstance(want, torch.Tensor):
        return errors.exact(path, got, want, signed_zero)
    return errors.exact_plain(path, got, want)


def _outcome(found: errors.Comparison) -> Outcome:
    return Outcome(found.complaints, found.mismatches, found.metrics(), found.outputs)


def _complaints(check: Check, call: Call, result: Any, expected: Any) -> Outcome:
    try:
        return Outcome([str(c) for c in check(call.args, call.kwargs, result, expected)])
    except Exception as error:
        return Outcome([f"the check could not be carried out: {type(error).__name__}: {error}"])
