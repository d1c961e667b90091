"""The error model: how far from the truth may an honest kernel be?

A constant tolerance is wrong twice: too tight for a long sum done in another order, so loose for an element-wise kernel
that fp16 arithmetic passes. Here the yardstick is measured, on the very inputs that are judged:

* *truth* ``t`` is the reference run in float64, *reference* ``r`` the same code at the task's precision;
* an element's error is counted relative to ``|t| + S``, where ``S`` is the size of what was added up to make it: an element
  that is small by cancellation carries the rounding errors of its large terms. ``S`` is the output's root mean square, or
  the task's ``scale`` where that is larger;
* ``Q``, the reference's own error: the root mean square of ``q = |r - t| / (|t| + S)``, or ``max(q) / 8`` if that is larger,
  since where few elements are ill-conditioned (near ties of a sharp softmax) an honest candidate errs at them as well; but at
  least the unit roundoff ``u`` of the output's dtype: a reference that happens to be exact does not oblige anyone else;
* a candidate passes when ``|c - t| <= C * growth * Q * (|t| + S)`` for every element.

``C`` is the distance between a root mean square and an honest worst case in another order of operations: 32 for float32 and
float64 (a sequential sum of a thousand terms is about 10 u from the truth, its worst element of many 45 u; fp16 and TF32
arithmetic start at thousands of u), 8 for float16, bfloat16 and TF32, whose kernels round once and add up in float32; fp8
arithmetic is 16 u (bfloat16) to 128 u (float16) away. TF32 and float16 have equal mantissas: where a task allows TF32,
products of float16 operands pass too.

Not-a-number and infinity: where the reference is finite the candidate must be; where it is not, the candidate must hold the
same value, or be right about the truth: a float16 reference that overflowed inside must not fail a better kernel, nor a processor on
which PyTorch's float32 GELU of infinity is not a number (oneDNN with AVX-512) a kernel that returns infinity. An infinity
of its sign is right about a truth whose tolerance reaches the dtype's largest number: which side an honest last rounding falls to
is chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypedDict

import torch


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

TF32_ROUNDOFF = 2.0**-11
SLACK, SLACK_ROUNDED = 32, 8
"""``C`` of the module's text: for arithmetic in the output's precision, and for operands or results rounded to a coarser one."""

TAIL = 8
"""How far above the root mean square the reference's worst error may lie before it counts by itself."""

SHOWN = 5
"""Wrong elements reported for one comparison."""


def _index(element: int, shape: Sequence[int]) -> list[int]:
    """Where a flat element is. ``torch.unravel_index`` would import a second's worth of symbolic mathematics first."""
    index = []
    for length in reversed(shape):
        element, place = divmod(element, length)
        index.append(place)
    return index[::-1]


@dataclass
class Comparison:
    """What comparing outputs found: how many elements are wrong, the first of them, and the largest errors.

    ``excess`` is the error of the very first over its tolerance, None where either is unknown or not finite.

    ``max_abs`` and ``max_rel`` cover the elements where both sides are finite; ``error_ratio`` is the largest error over its
    tolerance (None where there is no tolerance: exact contracts).
    """

    wrong: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)
    excess: float | None = None
    max_abs: float = 0.0
    max_rel: float = 0.0
    error_ratio: float | None = None

    def add(
        self,
        path: str,
        output: torch.Tensor,
        start: int,
        right: torch.Tensor,
        got: torch.Tensor,
        expected: torch.Tensor,
        allowed: torch.Tensor | None = None,
    ) -> None:
        """Notes the wrong elements of one flat stretch that begins at element ``start`` of ``output``; ``allowed`` are tolerances."""
        wrong = int(right.numel() - right.count_nonzero())
        self.wrong += wrong
        if wrong:
            self.show(path, output, start, right, got, expected, allowed)

    def show(
        self,
        path: str,
        output: torch.Tensor,
        start: int,
        right: torch.Tensor,
        got: torch.Tensor,
        expected: torch.Tensor,
        allowed: torch.Tensor | None = None,
    ) -> None:
        """Notes where the first wrong elements are, without counting them."""
        room = SHOWN - len(self.mismatches)
        for place in (~right).nonzero().reshape(-1)[:room].tolist() if room else ():
            if allowed is not None and not self.mismatches:
                self.excess = _excess(got[place], expected[place], allowed[place])
            element = (start + place) // (2 if output.is_complex() else 1)
            self.mismatches.append({
                "output": path, "index": _index(element, output.shape),
                "expected": _text(expected[place].item()), "got": _text(got[place].item()),
            })  # fmt: skip

    def measure(self, error: torch.Tensor, truth: torch.Tensor, allowed: torch.Tensor | None) -> None:
        """Updates the largest errors from one flat stretch of at least one element."""
        largest = float(error.amax())
        if not math.isfinite(largest):
            finite = error.isfinite()
            error, truth = error[finite], truth[finite]
            allowed = None if allowed is None else allowed[finite]
            if not error.numel():
                return
            largest = float(error.amax())
        ratio = None if allowed is None else float((error / allowed).amax())
        self.widen(largest, float(_relative(error, truth.abs()).amax()), ratio)

    def widen(self, largest: float, relative: float, ratio: float | None) -> None:
        """Takes in the largest errors of one stretch."""
        self.max_abs, self.max_rel = max(self.max_abs, largest), max(self.max_rel, relative)
        if ratio is not None:
            self.error_ratio = max(self.error_ratio or 0.0, ratio)

    def join(self, other: Comparison) -> None:
        """Adds what another output's comparison found."""
        self.wrong += other.wrong
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
        return [f"{self.wrong} wrong element{plural}, first {place}: {values}"]

    def metrics(self) -> dict[str, float]:
        """The finite figures by name."""
        figures = {"max_abs": self.max_abs, "max_rel": self.max_rel, "error_ratio": self.error_ratio}
        return {k: v for k, v in figures.items() if v is not None and math.isfinite(v)}


def roundoff(dtype: torch.dtype, tf32: bool = False) -> float:
    """Unit roundoff of a floating or complex dtype, half its machine epsilon; TF32 keeps ten bits of mantissa."""
    return TF32_ROUNDOFF if tf32 and dtype == torch.float32 else torch.finfo(dtype).eps / 2


@dataclass(frozen=True)
class Yardstick:
    """What the tolerances of one output are made of, whatever is compared with it.

    ``size`` is the output's root mean square, ``budget`` is ``C * growth * Q``; ``finite`` says that all of reference and truth
    is.
    """

    size: float
    budget: float
    floor: float
    finite: bool

    def allowed(self, sizes: torch.Tensor, scale: Part) -> torch.Tensor:
        """The tolerance of each element of a stretch; takes over ``sizes``, its ``|t|``."""
        return _with_scale(sizes, scale, self.size).mul_(self.budget).add_(self.floor)


def yardstick(
    reference: torch.Tensor, truth: torch.Tensor, scale: Scale = None, growth: float = 1.0, tf32: bool = False
) -> Yardstick:
    """Measures the reference's own error; arguments as for ``close``."""
    dtype, flat = reference.dtype, (_flat(reference), _flat(truth), _scale(scale, reference))
    figures = _own_error(flat, faultless=truth is reference)
    finite = all(map(math.isfinite, figures))
    size, typical, worst = figures if finite else _own_error_where_finite(flat)
    budget = _slack(dtype, tf32) * growth * max(typical, worst / TAIL, roundoff(dtype, tf32))
    # A result below the smallest normal number may honestly be flushed to zero; half precision is not flushed.
    floor = max(torch.finfo(torch.float32).tiny, torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps)
    return Yardstick(size, budget, floor, finite)


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

    ``scale`` is None, a number, or a tensor that broadcasts to the output; ``truth`` is the reference's float64 result.
    ``measured`` is the ``yardstick`` of all arguments but the first two, if it is known already.
    """
    measured = measured or yardstick(reference, truth, scale, growth, tf32)
    flat, found = (_flat(got), _flat(reference), _flat(truth), _scale(scale, reference)), Comparison()
    for (start, parts), figures in zip(stretches(*flat), _finite_figures(flat, measured), strict=True):
        largest, relative, ratio, wrong = figures
        if not math.isfinite(largest) or math.isnan(ratio):
            _add_with_nonfinite(found, path, reference, start, parts, measured)
            continue
        found.widen(largest, relative, ratio)
        found.wrong += int(wrong)
        if wrong and len(found.mismatches) < SHOWN:
            c, _, t, s = parts
            allowed = measured.allowed(t.double().abs(), s)
            right = torch.sub(c, t.double()).abs_() <= allowed
            found.show(path, reference, start, right, c, t, allowed)
    return found


def near(got: torch.Tensor, reference: torch.Tensor, tf32: bool = False) -> bool:
    """Whether every element is within half of the least tolerance that ``close`` ever grants of the reference, or holds the same
    infinity or not-a-number.

    Then no truth need be worked out: it says what ``close`` would, from a tenth of its work. False says nothing.
    """
    dtype = reference.dtype
    got, reference = _flat(got), _flat(reference)
    if not got.numel():
        return True
    budget = _slack(dtype, tf32) / 2 * roundoff(dtype, tf32)

    def within(norm: float, excess: float) -> bool:
        # Neither holds where one side alone is infinite or not a number.
        return math.isfinite(norm) and excess <= budget * norm / math.sqrt(reference.numel())

    # A large result goes through memory once for each operation, so there are few, and none in a wider dtype: the difference of nearly
    # equal numbers is exact, and other rounding is little beside half of a tolerance. The device is waited for once, if the largest
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
    found = Comparison()
    for start, (c, e) in stretches(_flat(got), _flat(expected)):
        signed = signed_zero and e.is_floating_point()
        if not signed and c.dtype == e.dtype and torch.equal(c, e):
            continue
        right = c == e
        if signed:
            right &= c.signbit() == e.signbit()
        if e.is_floating_point():
            right |= c.isnan() & e.isnan()
        found.add(path, expected, start, right, c, e)
        if not e.is_floating_point():
            c, e = c.double(), e.double()
        found.measure((c - e).abs(), e, None)
    return found


def exact_plain(path: str, got: object, expected: object) -> Comparison:
    """Compares values that are no tensors: NaN equals itself here, too."""
    if got == expected or (got != got and expected != expected):
        return Comparison()
    mismatch: Mismatch = {"output": path, "index": [], "expected": repr(expected), "got": repr(got)}
    return Comparison(wrong=1, mismatches=[mismatch])


def stretches(whole: torch.Tensor, *others: Part) -> Iterator[tuple[int, list[Any]]]:
    """``(start, parts)`` of equal stretches of flat tensors of one length; a number is a part of each. Nothing of empty ones."""
    flat, count = (whole, *others), whole.numel()
    if any(f.numel() != count for f in flat if not isinstance(f, float)):
        raise ValueError(f"only tensors of one shape can be compared: one has {count} elements and another has not")
    step = CHUNK if whole.is_cuda else min(CHUNK, HOST_CHUNK)
    for start in range(0, count, step):
        yield start, [f if isinstance(f, float) else _wide(f[start : start + step]) for f in flat]


def _slack(dtype: torch.dtype, tf32: bool) -> int:
    return SLACK_ROUNDED if tf32 or dtype in (torch.float16, torch.bfloat16) else SLACK


def _with_scale(sizes: torch.Tensor, scale: Part, size: float) -> torch.Tensor:
    """``|t| + S`` in place of ``sizes``, its ``|t|``."""
    return sizes.add_(max(scale, size) if isinstance(scale, float) else scale.double().clamp(min=size))


def _own_error(flat: _Flat, faultless: bool) -> tuple[float, float, float]:
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
        q = torch.sub(r, t).div_(_with_scale(t.abs(), s, size))
        norms.append(torch.linalg.vector_norm(q))
        largest.append(q.abs_().amax())
    return size, _root_mean_square(norms, flat), float(torch.stack(largest).amax()) if largest else 0.0


def _root_mean_square(norms: list[torch.Tensor], flat: _Flat) -> float:
    """Of all elements, from the norms of their stretches."""
    return math.sqrt(float(torch.stack(norms).square_().sum()) / flat[0].numel()) if norms else 0.0


def _own_error_where_finite(flat: _Flat) -> tuple[float, float, float]:
    """``_own_error`` over the elements where each quantity is finite; zeros where there is none."""
    # Where the reference overflowed, a finite truth is huge and would excuse everything else.
    size, _ = _rms_and_max(flat, lambda r, t, s: torch.where(r.isfinite(), t, r))
    return size, *_rms_and_max(flat, lambda r, t, s: (r - t) / _with_scale(t.abs(), s, size))


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
    error, sizes = torch.sub(c, t).abs_(), t.abs()
    largest, relative = error.amax(), _relative(error, sizes).amax()
    allowed = measured.allowed(sizes, s)
    wrong = (error > allowed).count_nonzero()
    return torch.stack([largest, relative, error.div_(allowed).amax(), wrong.double()])


def _relative(error: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    """Errors relative to the truth's ``sizes``, 0 where the truth is."""
    return error / torch.threshold(sizes, 0.0, math.inf)


def _add_with_nonfinite(
    found: Comparison, path: str, output: torch.Tensor, start: int, parts: list[Any], measured: Yardstick
) -> None:
    """One stretch in which not everything is finite, or not every tolerance."""
    c, (r, t), s = parts[0].double(), _settled(*parts[1:3]), parts[3]
    allowed = measured.allowed(t.abs(), s)
    error = (c - t).abs()
    near = (error <= allowed) & c.isfinite() & t.isfinite()
    near |= c.isinf() & (c.sign() == t.sign()) & (t.abs() + allowed >= torch.finfo(output.dtype).max)
    exact = parts[2].double()
    same = (c == r) | (c == exact) | (c.isnan() & (r.isnan() | exact.isnan()))
    finite = r.isfinite()
    right = near | (same & ~finite)
    found.add(path, output, start, right, c, torch.where(finite, t, r), allowed)
    found.measure(error, t, allowed)


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


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """float8 has no comparison: float32 holds each of its values."""
    return tensor.float() if tensor.is_floating_point() and tensor.element_size() == 1 else tensor


def _excess(got: torch.Tensor, expected: torch.Tensor, allowed: torch.Tensor) -> float | None:
    """An element's error over its tolerance; None where that is not finite, or says nothing."""
    ratio = float((got.double() - expected.double()).abs() / allowed.double())
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
