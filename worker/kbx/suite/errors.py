"""The error model: how far from the truth may an honest kernel be?

A constant tolerance is wrong twice: too tight for a long sum done in another order, so loose for an element-wise kernel
that fp16 arithmetic passes. Here the yardstick is measured, on the very inputs that are judged:

* *truth* ``t`` is the reference run in float64, *reference* ``r`` the same code at the task's precision;
* an element's error is counted relative to ``|t| + S``, where ``S`` is the size of what was added up to make it: an element
  that is small by cancellation carries the rounding errors of its large terms. ``S`` is the output's root mean square, or
  the task's ``scale`` where that is larger;
* the reference's own error is that of all its elements: ``q = |r - t| / (|t| + S)``. ``typical`` is its root mean square. Where few
  elements are ill-conditioned (near ties of a sharp softmax) an honest candidate errs at them as well, so the ``worst`` counts, too.

In *float32 and float64* a candidate passes when ``|c - t| <= growth * max(32 typical, 4 worst, 32 u) * (|t| + S)`` for every element;
``u`` is the unit roundoff of the output's dtype, since a reference that happens to be exact does not oblige anyone else. 32 is the
distance between a root mean square and an honest worst case in another order of operations: a sequential sum of a thousand terms is
about 10 u from the truth, its worst element of many 45 u; fp16 and TF32 arithmetic start at thousands of u.

*Narrower dtypes* have a rounding that says nothing of the arithmetic before it: an honest kernel computes in float32 and rounds once,
to nearest. So ``R``, half the distance between two numbers of the dtype at ``t``, is taken off every error, the candidate's and the
reference's: what is left is what was computed wrongly. A candidate passes when
``|c - t| - R <= max(8 typical, 2 worst, u / 8) * (|t| + S)``. An eighth of the roundoff is room for float32 arithmetic
whose result is rounded as the exact one in seven cases of eight: for exponentials by hardware, and for tensor cores, which cut off
every partial sum (2^-15.5 of float16's 2^-11 after 8,192 products, 16 at a time). A truncated result, one that is a number off, a factor
of ``1 + 3 u``, noise of 4 u, or a running sum that is rounded to 16 bits are several times as far. ``growth`` is about float32 arithmetic, of which there is enough. A reference that rounds what it
computes on its way, as a chain of PyTorch's operations does, has errors beyond ``R`` of some u, and so may a candidate, at one place more than the
reference, too: 2 u at least, from u / 2 on. Of fewer than 128 elements chance may hide them, so that 2 u are allowed: not for eight bits, in
which nobody computes.

*A reference that casts its result itself* (``(x.float() * s).to(torch.bfloat16)``, ``x.to(torch.float8_e4m3fn)``) does so in float64, too: the
truth is rounded. Near the middle of two numbers an honest kernel may take either one, so that twice ``R`` is taken off, but there are few
such elements: of numbers that are ``u`` to ``2 u`` apart, float32 arithmetic that is off by 2^-16 of them, all that it is allowed, changes
``2^-15 / u`` at most; and one in 128, since arguments of few digits make quotients that are exactly half-way (one in a thousand of bfloat16
numbers over their largest, as e4m3). No more may be another number, or four times as many as of the reference's, or eight times as many as change where the reference's
arguments do by 2^-22 (quotients of float8 numbers are half-way more often), but always two. The same is
said of results of eight bits without a truth. So a result that is cut off, scaled by 1.02 or rounded by way of bfloat16 is wrong, and a
quotient made with a reciprocal is right.

*Equivalent evaluations*: where a reference of half precision goes to float32 and multiplies what it has computed there, a kernel on tensor
cores cannot: it casts the operand, as attention its probabilities. The reference's result with such operands rounded (``also``) is as right as
its own, and its errors count as the reference's.

*Published bounds*: KernelBench allows 1e-2 of modules in half precision, and where the reference rounds much on its way the model may allow
more. ``most`` is such a bound: an element is then at most ``most (1 + |t|)`` from the truth, rounding and all, or 1.5 times as many times
that as the reference's worst element is, so that one that rounds as the reference does passes.

Where a task allows *TF32*, the tolerance is that of float32 with ``4 * 2^-10`` in place of ``32 u``: a tensor core cuts off the operands'
low bits, each by up to 2^-10 of it, by half of that in the mean, and always towards zero, so that a sum of products is short by 2^-10.5;
the rest is room for how errors add up. Rounded operands are closer. bfloat16 operands, off by up to 2^-8 of a product, are not close
enough; float16 operands have TF32's mantissa and pass.

Not-a-number and infinity: where the reference is finite the candidate must be; where it is not, the candidate must hold the
same value, or be right about the truth (or be the largest float8 number where the reference's is infinite: GPUs convert so, PyTorch does not
to e5m2): a float16 reference that overflowed inside must not fail a better kernel, nor a processor on
which PyTorch's float32 GELU of infinity is not a number (oneDNN with AVX-512) a kernel that returns infinity. An infinity
of its sign is right about a truth whose tolerance reaches the dtype's largest number: which side an honest last rounding falls to
is chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypedDict

import torch

from kbx.suite.values import wide


class Mismatch(TypedDict):
    """A wrong element: ``output`` is the path of its tensor, ``expected`` and ``got`` are text."""

    output: str
    index: list[int]
    expected: str
    got: str


Part: TypeAlias = torch.Tensor | float
"""A number for each element, or one for all."""
Scale: TypeAlias = float | torch.Tensor | None
_Flat: TypeAlias = tuple[torch.Tensor, torch.Tensor, Part]
"""Reference, truth and scale, flat."""

CHUNK = 1 << 24
"""Elements compared at a time: bounds the float64 temporaries of a benchmark-sized output."""

HOST_CHUNK = 1 << 16
"""The same in host memory, where temporaries that leave the cache and are mapped anew take many times as long."""

TF32_ROUNDOFF = 2.0**-10
"""What cutting off an operand for a TF32 product changes it by, at most, relative to itself."""

TYPICAL, WORST, LEAST = 32, 4, 32
"""Times that the root mean square and the largest of the reference's errors, and the unit roundoff, count in the module's text."""
TYPICAL_ROUNDED, WORST_ROUNDED, LEAST_TF32 = 8, 2, 4
"""The same where results or operands are rounded to a coarser precision than that of the arithmetic."""
INNER, INNER_OF_FEW, INNER_SEEN = 1 / 8, 2, 1 / 2
"""Unit roundoffs of a narrow output beyond its last rounding that are allowed: whatever the reference errs; where that does not show, of few elements;
and from what is allowed for its errors on it is plain that it rounds on its way."""
FEW = 128
"""Elements by which a reference that rounds on its way shows: where it does so more finely than at the end, few err beyond the end."""

NEAR = 0.45
"""The part of the least tolerance by which a result may differ from the reference's without a look at the truth. The reference itself
is never further off than half of what is granted; the rest is room for rounding here."""

OTHERS, OTHERS_WITH_TIES, OTHERS_AT_LEAST = 2.0**-15, 2.0**-7, 2
"""The share of elements that may be another number than a truth of the result's dtype: times the unit roundoff, and at least; and how many
always may."""
OTHERS_OF_REFERENCE, OTHERS_OF_EQUIVALENT = 4, 8
"""Times that as many as of the reference's own result, or of an equivalent one, may be. A row's quotients are half-way together."""

BOUND_OF_REFERENCE = 1.5
"""Times that an element may be as far beyond a published bound as the reference's worst."""

LEVELS, LEVELS_OFF = 16, 1 << 8
"""Distance between the smallest and the largest quantized level at least, and the number of elements of which one may be off by one: float32
arithmetic that is off by 2^-16 puts a level of 127 on the other side of a half as often."""

IN_ORDER = 8192
"""Terms of a sum that one lane adds up at most."""

SHOWN = 5
"""Wrong elements reported for one comparison."""


def _index(element: int, shape: Sequence[int]) -> list[int]:
    """Where a flat element is. ``torch.unravel_index`` would import a second's worth of symbolic mathematics first."""
    index = []
    for length in reversed(shape):
        element, place = divmod(element, length)
        index.append(place)
    return index[::-1]


@dataclass(eq=False)
class Output:
    """One output and what it is compared with, no elements of what is no tensor; ``expected`` is the truth where there is one."""

    path: str
    got: torch.Tensor = field(default_factory=lambda: torch.empty(0))
    expected: torch.Tensor = field(default_factory=lambda: torch.empty(0))
    marks: torch.Tensor | None = None
    """Of elements that ``_flat`` gives: true at wrong ones. None before there is one."""

    def mark(self, start: int, right: torch.Tensor) -> None:
        """Notes what is wrong in a flat stretch that begins at ``start``."""
        if self.marks is None:
            count = self.got.numel() * (2 if self.got.is_complex() else 1)
            self.marks = torch.zeros(count, dtype=torch.bool, device=right.device)
        self.marks[start : start + right.numel()] = ~right

    @property
    def wrong(self) -> torch.Tensor | None:
        """A mask of the output's shape, true at wrong elements; None where there is none."""
        if self.marks is None or not self.got.is_complex():
            return self.marks if self.marks is None else self.marks.view(self.got.shape)
        return self.marks.view(*self.got.shape, 2).any(-1)


@dataclass
class Comparison:
    """What comparing outputs found: how many of the elements are wrong, the first of them, and the largest errors.

    ``spared`` is how many of the wrong ones would be right if there were no more of them; ``compared`` counts all elements, ``outputs`` are those with wrong ones. ``excess`` is the error of the very first over its tolerance, None where either is unknown or not finite.

    ``max_abs`` and ``max_rel`` cover the elements where both sides are finite; ``error_ratio`` is the largest error over its
    tolerance, both beyond the last rounding to a narrow dtype (None where there is no tolerance: exact contracts).
    """

    wrong: int = 0
    spared: int = 0
    compared: int = 0
    outputs: list[Output] = field(default_factory=list, compare=False, repr=False)
    mismatches: list[Mismatch] = field(default_factory=list)
    excess: float | None = None
    max_abs: float = 0.0
    max_rel: float = 0.0
    error_ratio: float | None = None

    def add(
        self,
        output: Output,
        start: int,
        right: torch.Tensor,
        got: torch.Tensor,
        expected: torch.Tensor,
        ratio: torch.Tensor | None = None,
    ) -> None:
        """Notes the elements of one flat stretch that begins at element ``start`` of ``output``; ``ratio`` are errors over tolerances."""
        wrong = int(right.numel() - right.count_nonzero())
        self.wrong += wrong
        if wrong:
            self.show(output, start, right, got, expected, ratio)

    def show(
        self,
        output: Output,
        start: int,
        right: torch.Tensor,
        got: torch.Tensor,
        expected: torch.Tensor,
        ratio: torch.Tensor | None = None,
    ) -> None:
        """Notes where wrong elements are, and the first of them, without counting them."""
        output.mark(start, right)
        if output not in self.outputs:
            self.outputs.append(output)
        room = SHOWN - len(self.mismatches)
        for place in (~right).nonzero().reshape(-1)[:room].tolist() if room else ():
            if ratio is not None and not self.mismatches:
                self.excess = _excess(float(ratio[place]))
            element = (start + place) // (2 if output.got.is_complex() else 1)
            self.mismatches.append({
                "output": output.path, "index": _index(element, output.got.shape),
                "expected": _text(expected[place].item()), "got": _text(got[place].item()),
            })  # fmt: skip

    def measure(self, error: torch.Tensor, truth: torch.Tensor, ratio: torch.Tensor | None) -> None:
        """Updates the largest errors from one flat stretch of at least one element; ``ratio`` are errors over tolerances."""
        largest = float(error.amax())
        if not math.isfinite(largest):
            finite = error.isfinite()
            error, truth = error[finite], truth[finite]
            ratio = None if ratio is None else ratio[finite]
            if not error.numel():
                return
            largest = float(error.amax())
        highest = None if ratio is None else float(ratio.amax())
        self.widen(largest, float(_relative(error, truth.abs()).amax()), highest)

    def widen(self, largest: float, relative: float, ratio: float | None) -> None:
        """Takes in the largest errors of one stretch."""
        self.max_abs, self.max_rel = max(self.max_abs, largest), max(self.max_rel, relative)
        if ratio is not None:
            self.error_ratio = max(self.error_ratio or 0.0, ratio)

    def join(self, other: Comparison) -> None:
        """Adds what another output's comparison found."""
        self.wrong, self.compared = self.wrong + other.wrong, self.compared + other.compared
        self.spared += other.spared
        self.outputs += other.outputs
        self.excess = self.excess if self.mismatches else other.excess
        self.mismatches = (self.mismatches + other.mismatches)[:SHOWN]
        self.max_abs, self.max_rel = max(self.max_abs, other.max_abs), max(self.max_rel, other.max_rel)
        ratios = [r for r in (self.error_ratio, other.error_ratio) if r is not None]
        self.error_ratio = max(ratios, default=None)

    @property
    def complaints(self) -> list[str]:
        """What is wrong, in a sentence; empty when nothing is."""
        if not self.wrong:
            return []
        first, plural = self.mismatches[0], "s" if self.wrong > 1 else ""
        place = f"{first['output']}{first['index'] or ''}"
        values = f"expected {first['expected']}, got {first['got']}{_times(self.excess)}"
        spared = f"; no more than {self.spared} may be one number off" if self.spared else ""
        return [f"{self.wrong} wrong element{plural} of {self.compared}, first {place}: {values}{spared}"]

    def metrics(self) -> dict[str, float]:
        """The finite figures by name; without an error of 0 where what is wrong is not finite, so that nobody knows how large it is."""
        figures = {"max_abs": self.max_abs, "max_rel": self.max_rel, "error_ratio": self.error_ratio}
        return {k: v for k, v in figures.items() if v is not None and math.isfinite(v) and (v or not self.wrong)}


def in_order(terms: int) -> float:
    """How much larger than usual ``S`` is of a sum that is added up one after the other in its own precision.

    Each addition is off by ``0.58 u`` of the running sum in the mean of squares, so the result by ``0.33 sqrt(n) u`` of a total of ``n``
    terms of one sign, and by as much of the norm of terms of both signs; ``sqrt(n) u`` is three times that, and 32 u of what is
    returned here twice that again. Sums that begin anew after ``IN_ORDER`` terms, as those of programs do, are no further off.
    """
    return max(1.0, math.sqrt(min(terms, IN_ORDER)) / 16)


def roundoff(dtype: torch.dtype, tf32: bool = False) -> float:
    """Unit roundoff of a floating or complex dtype, half its machine epsilon; where TF32 is allowed, that of its operands."""
    return TF32_ROUNDOFF if tf32 and dtype == torch.float32 else torch.finfo(dtype).eps / 2


@dataclass(frozen=True)
class Yardstick:
    """What the tolerances of one output are made of, whatever is compared with it.

    ``size`` is the output's root mean square; ``budget`` times ``|t| + S``, and ``floor`` more, is how far an element may be from the
    truth beyond its last rounding; ``finite`` says that all of reference and truth is. ``most``: times ``1 + |t|`` an element may be from
    the truth with its last rounding. ``others``: how many elements may be another number than the truth, which is rounded, too.
    """

    size: float
    budget: float
    floor: float
    finite: bool
    rounding: _Rounding
    most: float = math.inf
    others: int | None = None

    def allowed(self, sizes: torch.Tensor, scale: Part) -> torch.Tensor:
        """The tolerance of each element of a stretch; takes over ``sizes``, its ``|t|``."""
        return _with_scale(sizes, scale, self.size).mul_(self.budget).add_(self.floor)

    def ratios(self, error: torch.Tensor, truth: torch.Tensor, scale: Part) -> torch.Tensor:
        """Errors, which it takes over, over what is allowed at a stretch of a float64 truth: more than 1 is wrong."""
        sizes = truth.abs()
        bound = None if self.most == math.inf else error / (sizes + 1).mul_(self.most)
        beyond = self.rounding.taken_off(error, truth).div_(self.allowed(sizes, scale))
        return beyond if bound is None else torch.maximum(beyond, bound)

    def counting(self, dtype: torch.dtype) -> Yardstick:
        """The one by which an element that is another number of ``dtype`` than the truth is wrong."""
        return replace(self, rounding=_Rounding.to(dtype, twice=False), others=None)


@dataclass(frozen=True)
class _Rounding:
    """The last rounding of an honest result, to nearest: ``roundoff`` is 0 where it counts like any other, and ``least`` is half the
    distance between the dtype's subnormal numbers."""

    roundoff: float = 0.0
    least: float = 0.0

    @staticmethod
    def to(dtype: torch.dtype, twice: bool) -> _Rounding:
        """That of a result of a dtype; ``twice`` where it is compared with another result that was rounded so."""
        if not _is_narrow(dtype):
            return _Rounding()
        kind = torch.finfo(dtype)
        roundoff = kind.eps if twice else kind.eps / 2
        return _Rounding(roundoff, kind.smallest_normal * roundoff)

    def taken_off(self, error: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
        """What is left of errors, which it takes over; ``truth`` is float64."""
        if not self.roundoff:
            return error
        power = truth.view(torch.int64).bitwise_and(_EXPONENT).view(torch.float64)
        return error.sub_(power.mul_(self.roundoff).clamp_(min=self.least)).clamp_(min=0)


_EXPONENT = 0x7FF << 52
"""The bits of a float64 that are left of a number where it becomes the power of two below it."""


def yardstick(
    reference: torch.Tensor,
    truth: torch.Tensor,
    scale: Scale = None,
    growth: float = 1.0,
    tf32: bool = False,
    most: float | None = None,
    also: torch.Tensor | None = None,
) -> Yardstick:
    """Measures the reference's own error; arguments as for ``close``. ``most`` is of results in half precision, as in the module's text;
    ``also`` is another result of the reference, equivalent to it, whose errors count as well."""
    dtype, flat = reference.dtype, (_flat(reference), _flat(truth), _scale(scale, reference))
    unknown, cast = truth is reference, _is_narrow(dtype) and truth.dtype == dtype
    rounding = _Rounding.to(dtype, twice=unknown or cast)
    figures = _own_error(flat, rounding, faultless=unknown)
    finite = all(map(math.isfinite, figures))
    size, typical, worst = figures if finite else _own_error_where_finite(flat, rounding)
    if also is not None:
        _, *further = _own_error_where_finite((_flat(also), *flat[1:]), rounding)
        typical, worst = max(typical, further[0]), max(worst, further[1])
    measured = max(_typical(dtype, tf32) * typical, _worst(dtype, tf32) * worst)
    least = _least(dtype, tf32, many=reference.numel() >= FEW and not unknown)
    if rounding.roundoff and measured >= roundoff(dtype) * INNER_SEEN:
        least = max(least, roundoff(dtype) * INNER_OF_FEW)
    budget = max(measured, least) * (1 if rounding.roundoff else growth)
    # A result below the smallest normal number of float32 may honestly be flushed to zero; that of half precision is not.
    floor = max(torch.finfo(torch.float32).tiny, torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps)
    made = Yardstick(size, budget, floor, finite, rounding)
    if most is not None and dtype.itemsize == torch.float16.itemsize:
        made = replace(made, most=most * max(1.0, BOUND_OF_REFERENCE * _worst_of(flat, most)))
    if cast and (dtype.itemsize == 1 or not unknown):
        results = [(reference, OTHERS_OF_REFERENCE), (also, OTHERS_OF_EQUIVALENT)]
        counts = (
            times * _compared(Output("", each, truth), flat, made.counting(dtype)).wrong
            for each, times in results
            if each is not None
        )
        share = math.ceil(reference.numel() * max(OTHERS / roundoff(dtype), OTHERS_WITH_TIES))
        made = replace(made, others=max(OTHERS_AT_LEAST, share, *counts))
    return made


def close(
    path: str,
    got: torch.Tensor,
    reference: torch.Tensor,
    truth: torch.Tensor,
    scale: Scale = None,
    growth: float = 1.0,
    tf32: bool = False,
    measured: Yardstick | None = None,
) -> Comparison:
    """Compares floating or complex tensors of one shape by the model above.

    ``scale`` is None, a number, or a tensor that broadcasts to the output; ``truth`` is the reference's float64 result, or ``reference``
    itself where there is none.
    ``measured`` is the ``yardstick`` of all arguments but the first two, if it is known already.
    """
    measured = measured or yardstick(reference, truth, scale, growth, tf32)
    flat = (_flat(reference), _flat(truth), _scale(scale, reference))
    found = _compared(Output(path, got, truth), flat, measured)
    if measured.others is None or found.wrong:
        return found
    counted = _compared(Output(path, got, truth), flat, measured.counting(reference.dtype))
    decisive = replace(counted, spared=measured.others) if counted.wrong > measured.others else found
    decisive.error_ratio = max(decisive.error_ratio or 0.0, counted.wrong / measured.others)
    return decisive


def _compared(output: Output, of: _Flat, measured: Yardstick) -> Comparison:
    """An output by a yardstick, without a look at how many elements are other numbers."""
    flat = (_flat(output.got), *of)
    found = Comparison(compared=flat[0].numel())
    for (start, parts), figures in zip(stretches(*flat), _finite_figures(flat, measured), strict=True):
        largest, relative, ratio, wrong = figures
        if not math.isfinite(largest) or math.isnan(ratio):
            _add_with_nonfinite(found, output, start, parts, measured)
            continue
        found.widen(largest, relative, ratio)
        found.wrong += int(wrong)
        if wrong:
            c, _, t, s = parts
            exact = t.double()
            ratios = measured.ratios(torch.sub(c, exact).abs_(), exact, s)
            found.show(output, start, ratios <= 1, c, t, ratios)
    return found


def near(got: torch.Tensor, reference: torch.Tensor, tf32: bool = False) -> bool:
    """Whether every element is so near the reference's that ``close`` would find it right whatever the truth is, or holds the same
    infinity or not-a-number.

    Then no truth need be worked out: it says what ``close`` would, from a tenth of its work. False says nothing.
    """
    budget = NEAR * _least(reference.dtype, tf32, many=reference.numel() >= FEW)
    got, reference = _flat(got), _flat(reference)
    if not got.numel():
        return True

    def within(norm: float, excess: float) -> bool:
        # Neither holds where one side alone is infinite or not a number.
        return math.isfinite(norm) and excess <= budget * norm / math.sqrt(reference.numel())

    # A large result goes through memory once for each operation, so there are few, and none in a wider dtype: the difference of nearly
    # equal numbers is exact, and other rounding is little beside what NEAR leaves. The device is waited for once, if the largest
    # error settles it.
    wide = torch.promote_types(reference.dtype, torch.float32)  # of what is flat, which is real
    error = torch.sub(got, reference)
    largest = torch.linalg.vector_norm(error, math.inf).to(wide)
    norm, largest = torch.stack([torch.linalg.vector_norm(reference, dtype=wide), largest]).tolist()
    if within(norm, largest):
        return True
    if not math.isfinite(norm):
        same = (got == reference) | (got.isnan() & reference.isnan())
        got, reference = (t.masked_fill(same, 0) for t in (got, reference))
        error, norm = torch.sub(got, reference), torch.linalg.vector_norm(reference, dtype=wide).item()
    return within(norm, error.abs_().sub_(reference.abs(), alpha=budget).max().item())


def exact(path: str, got: torch.Tensor, expected: torch.Tensor, signed_zero: bool = False) -> Comparison:
    """Compares tensors of one shape and dtype for equal values: NaN equals NaN, and 0.0 equals -0.0 unless told."""
    found, output = Comparison(compared=got.numel()), Output(path, got, expected)
    for start, (c, e) in stretches(_flat(got), _flat(expected)):
        signed = signed_zero and e.is_floating_point()
        if not signed and c.dtype == e.dtype and torch.equal(c, e):
            continue
        right = c == e
        if signed:
            right &= c.signbit() == e.signbit()
        if e.is_floating_point():
            right |= c.isnan() & e.isnan()
        found.add(output, start, right, c, e)
        c, e = c.double(), e.double()
        found.measure((c - e).abs(), e, None)
    return found


def levels(path: str, got: torch.Tensor, reference: torch.Tensor, truth: torch.Tensor) -> Comparison:
    """Compares quantized levels, 8-bit integers of one shape: ``exact``, but an honest quotient that is very near to a half may be rounded
    either way.

    One in ``LEVELS_OFF`` elements may be off by one, or four times as many as of the reference, and always two; unless there are fewer
    than ``LEVELS`` different ones between the smallest and the largest: then they are no levels but flags or classes.
    """
    found = exact(path, got, reference)
    if not found.wrong or int(truth.amax()) - int(truth.amin()) < LEVELS:
        return found
    off = OTHERS_OF_REFERENCE * int((reference != truth).count_nonzero())
    most = max(OTHERS_AT_LEAST, truth.numel() // LEVELS_OFF, off)
    for each in (found, exact(path, got, truth)):
        if each.wrong <= most and each.max_abs <= 1:
            return Comparison(compared=each.compared, max_abs=each.max_abs, max_rel=each.max_rel)
    return found


def exact_plain(path: str, got: object, expected: object) -> Comparison:
    """Compares values that are no tensors: NaN equals itself here, too. None, which stands where nothing is returned, is no element."""
    if got == expected or (got != got and expected != expected):
        return Comparison(compared=0 if expected is None else 1)
    mismatch: Mismatch = {"output": path, "index": [], "expected": repr(expected), "got": repr(got)}
    return Comparison(wrong=1, compared=1, outputs=[Output(path)], mismatches=[mismatch])


def stretches(whole: torch.Tensor, *others: Part) -> Iterator[tuple[int, list[Any]]]:
    """``(start, parts)`` of equal stretches of flat tensors of one length; a number is a part of each. Nothing of empty ones."""
    flat, count = (whole, *others), whole.numel()
    if any(f.numel() != count for f in flat if not isinstance(f, float)):
        raise ValueError(f"only tensors of one shape can be compared: one has {count} elements and another has not")
    step = CHUNK if whole.is_cuda else min(CHUNK, HOST_CHUNK)
    for start in range(0, count, step):
        yield start, [f if isinstance(f, float) else wide(f[start : start + step]) for f in flat]


def _is_narrow(dtype: torch.dtype) -> bool:
    """Whether honest arithmetic is in a wider dtype, and the result rounded once."""
    return dtype.itemsize < torch.float32.itemsize


def _typical(dtype: torch.dtype, tf32: bool) -> int:
    return TYPICAL_ROUNDED if tf32 or _is_narrow(dtype) else TYPICAL


def _worst(dtype: torch.dtype, tf32: bool) -> int:
    return WORST_ROUNDED if tf32 or _is_narrow(dtype) else WORST


def _least(dtype: torch.dtype, tf32: bool, many: bool) -> float:
    """The least ``budget`` that an output has; ``many``: whether it has enough elements to show what the reference rounds."""
    u = roundoff(dtype, tf32)
    if _is_narrow(dtype):
        return u * (INNER if many or dtype.itemsize == 1 else INNER_OF_FEW)
    return u * (LEAST_TF32 if u == TF32_ROUNDOFF else LEAST)


def _with_scale(sizes: torch.Tensor, scale: Part, size: float) -> torch.Tensor:
    """``|t| + S`` in place of ``sizes``, its ``|t|``."""
    return sizes.add_(max(scale, size) if isinstance(scale, float) else scale.double().clamp(min=size))


def _own_error(flat: _Flat, rounding: _Rounding, faultless: bool) -> tuple[float, float, float]:
    """The output's root mean square, and that and the largest of the reference's ``q``, zeros where it is ``faultless``.

    They hold only if they are finite: then so are all the elements that went into them.
    """
    truths = (t for _, (_, t, _) in stretches(*flat))
    size = _root_mean_square([torch.linalg.vector_norm(t, dtype=torch.float64) for t in truths], flat)
    if faultless or not math.isfinite(size):
        return size, 0.0, 0.0
    norms, largest = [], []
    for _, (r, t, s) in stretches(*flat):
        t = t.double()
        q = rounding.taken_off(torch.sub(r, t).abs_(), t).div_(_with_scale(t.abs(), s, size))
        norms.append(torch.linalg.vector_norm(q))
        largest.append(q.amax())
    return size, _root_mean_square(norms, flat), float(torch.stack(largest).amax()) if largest else 0.0


def _worst_of(flat: _Flat, most: float) -> float:
    """How many times ``most (1 + |t|)`` the reference's worst element is from the truth."""
    largest = [_bound(*_settled(r, t), most).amax() for _, (r, t, _) in stretches(*flat)]
    return float(torch.stack(largest).amax()) if largest else 0.0


def _bound(c: torch.Tensor, t: torch.Tensor, most: float) -> torch.Tensor:
    return ((c - t).abs() / (1 + t.abs()).mul_(most)).nan_to_num_(0, 0, 0)


def _root_mean_square(norms: list[torch.Tensor], flat: _Flat) -> float:
    """Of all elements, from the norms of their stretches."""
    return math.sqrt(float(torch.stack(norms).square_().sum()) / flat[0].numel()) if norms else 0.0


def _own_error_where_finite(flat: _Flat, rounding: _Rounding) -> tuple[float, float, float]:
    """``_own_error`` over the elements where each quantity is finite; zeros where there is none."""
    # Where the reference overflowed, a finite truth is huge and would excuse everything else.
    size, _ = _rms_and_max(flat, lambda r, t, s: torch.where(r.isfinite(), t, r))

    def own(r: torch.Tensor, t: torch.Tensor, s: Part) -> torch.Tensor:
        return rounding.taken_off((r - t).abs(), t) / _with_scale(t.abs(), s, size)

    return size, *_rms_and_max(flat, own)


def _rms_and_max(flat: _Flat, what: Callable[[torch.Tensor, torch.Tensor, Part], torch.Tensor]) -> tuple[float, float]:
    """Root mean square and largest size of a quantity over the elements where it is finite; zeros where there is none."""
    norm, count, largest = 0.0, 0, 0.0
    for _, (r, t, s) in stretches(*flat):
        values = what(*_settled(r, t), s)
        finite = values.isfinite()
        values = torch.where(finite, values, 0.0).abs_()
        if most := float(values.amax()):
            # The squares of large numbers are infinite, and so would the tolerance be.
            norm = math.hypot(norm, most * float(torch.linalg.vector_norm(values / most)))
        largest = max(largest, most)
        count += int(finite.count_nonzero())
    return (norm / math.sqrt(count) if count else 0.0), largest


def _settled(reference: torch.Tensor, truth: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both in float64. Where the reference is finite and the truth is not (a domain edge that only float64 reaches), the
    reference is the truth."""
    r, t = reference.double(), truth.double()
    return r, torch.where(t.isfinite(), t, r)


def _finite_figures(
    flat: tuple[torch.Tensor, torch.Tensor, torch.Tensor, Part], measured: Yardstick
) -> list[list[float]]:
    """For each stretch the largest error, relative error, and error over its tolerance, and the number of wrong elements; not
    to be used where an error is not finite or a ratio not a number. The device is waited for once."""
    if not measured.finite:
        return [[math.nan] * 4 for _ in stretches(*flat)]
    rows = [_figures(c, t.double(), s, measured) for _, (c, _, t, s) in stretches(*flat)]
    return torch.stack(rows).tolist() if rows else []


def _figures(c: torch.Tensor, t: torch.Tensor, s: Part, measured: Yardstick) -> torch.Tensor:
    error = torch.sub(c, t).abs_()
    largest, relative = error.amax(), _relative(error, t.abs()).amax()
    ratios = measured.ratios(error, t, s)
    return torch.stack([largest, relative, ratios.amax(), (ratios > 1).count_nonzero().double()])


def _relative(error: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    """Errors relative to the truth's ``sizes``, 0 where the truth is."""
    return error / torch.threshold(sizes, 0.0, math.inf)


def _add_with_nonfinite(found: Comparison, output: Output, start: int, parts: list[Any], measured: Yardstick) -> None:
    """One stretch in which not everything is finite, or not every tolerance."""
    c, (r, t), s = parts[0].double(), _settled(*parts[1:3]), parts[3]
    allowed, largest = measured.allowed(t.abs(), s), torch.finfo(output.got.dtype).max
    error = (c - t).abs()
    ratios = measured.ratios(error.clone(), t, s)
    near = (ratios <= 1) & c.isfinite() & t.isfinite()
    near |= c.isinf() & (c.sign() == t.sign()) & (t.abs() + allowed >= largest)
    if output.got.element_size() == 1:
        near |= r.isinf() & (c == r.sign() * largest)
    exact = parts[2].double()
    same = (c == r) | (c == exact) | (c.isnan() & (r.isnan() | exact.isnan()))
    finite = r.isfinite()
    right = near | (same & ~finite)
    found.add(output, start, right, c, torch.where(finite, t, r), ratios)
    found.measure(error, t, ratios)


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """Flat and real: a complex number is two neighbours."""
    tensor = tensor.detach()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.reshape(-1)


def _scale(scale: Scale, like: torch.Tensor) -> Part:
    """The task's scale: a number, or one for each element of ``_flat(like)``."""
    if scale is None or isinstance(scale, (int, float)):
        return abs(float(scale or 0))
    given = torch.as_tensor(scale, device=like.device).detach().abs()
    if given.numel() == 1:
        return float(given)
    given = given.expand(like.shape)
    return (given.unsqueeze(-1).expand(*like.shape, 2) if like.is_complex() else given).reshape(-1)


def _excess(ratio: float) -> float | None:
    """An element's error over its tolerance; None where that is not finite, or says nothing."""
    return ratio if math.isfinite(ratio) and ratio > 1 else None


def _times(excess: float | None) -> str:
    """How wrong an element is, for a message."""
    if excess is None:
        return ""
    if excess < 1.05:
        return " (just above the allowed error)"
    return f" ({excess:{'.1f' if excess < 10 else '.0f' if excess < 1e6 else '.0e'}}x the allowed error)"


def _text(value: Any) -> str:
    """One element as text, short and the same everywhere."""
    return format(value, ".9g") if isinstance(value, float) else str(value)
