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
same value, or be right about a finite truth (a float16 reference that overflowed inside must not fail a better kernel).
"""

import math
from dataclasses import dataclass, field

import torch

CHUNK = 1 << 24
"""Elements compared at a time: bounds the float64 temporaries of a benchmark-sized output."""

TF32_ROUNDOFF = 2.0**-11
SLACK, SLACK_ROUNDED = 32, 8
"""``C`` of the module's text: for arithmetic in the output's precision, and for operands or results rounded to a coarser one."""

TAIL = 8
"""How far above the root mean square the reference's worst error may lie before it counts by itself."""

SHOWN = 5
"""Wrong elements reported for one comparison."""


def _index(element, shape):
    """Where a flat element is. ``torch.unravel_index`` would import a second's worth of symbolic mathematics first."""
    index = []
    for length in reversed(shape):
        element, place = divmod(element, length)
        index.append(place)
    return index[::-1]


@dataclass
class Comparison:
    """What comparing outputs found: how many elements are wrong, the first of them, and the largest errors.

    ``max_abs`` and ``max_rel`` cover the elements where both sides are finite; ``error_ratio`` is the largest error over its
    tolerance (None where there is no tolerance: exact contracts).
    """

    wrong: int = 0
    mismatches: list = field(default_factory=list)
    max_abs: float = 0.0
    max_rel: float = 0.0
    error_ratio: float | None = None

    def add(self, path, output, start, right, got, expected):
        """Notes the wrong elements of one flat stretch that begins at element ``start`` of ``output``."""
        wrong = (~right).nonzero().reshape(-1)
        self.wrong += len(wrong)
        for place in wrong[: SHOWN - len(self.mismatches)].tolist():
            element = (start + place) // (2 if output.is_complex() else 1)
            self.mismatches.append({
                "output": path, "index": _index(element, output.shape),
                "expected": _text(expected[place].item()), "got": _text(got[place].item()),
            })  # fmt: skip

    def measure(self, error, truth, allowed):
        """Updates the largest errors from one flat stretch."""
        finite = error.isfinite()
        if not finite.any():
            return
        error, truth = error[finite], truth[finite].abs()
        self.max_abs = max(self.max_abs, float(error.max()))
        nonzero = truth > 0
        if nonzero.any():
            self.max_rel = max(self.max_rel, float((error[nonzero] / truth[nonzero]).max()))
        if allowed is not None:
            self.error_ratio = max(self.error_ratio or 0.0, float((error / allowed[finite]).max()))

    def join(self, other):
        """Adds what another output's comparison found."""
        self.wrong += other.wrong
        self.mismatches = (self.mismatches + other.mismatches)[:SHOWN]
        self.max_abs, self.max_rel = max(self.max_abs, other.max_abs), max(self.max_rel, other.max_rel)
        ratios = [r for r in (self.error_ratio, other.error_ratio) if r is not None]
        self.error_ratio = max(ratios, default=None)

    def metrics(self):
        """The finite figures by name."""
        figures = {"max_abs": self.max_abs, "max_rel": self.max_rel, "error_ratio": self.error_ratio}
        return {k: v for k, v in figures.items() if v is not None and math.isfinite(v)}


def roundoff(dtype, tf32=False):
    """Unit roundoff of a floating or complex dtype, half its machine epsilon; TF32 keeps ten bits of mantissa."""
    return TF32_ROUNDOFF if tf32 and dtype == torch.float32 else torch.finfo(dtype).eps / 2


def close(path, got, reference, truth, scale=None, growth=1.0, tf32=False):
    """Compares floating or complex tensors of one shape by the model above.

    ``scale`` is None, a number, or a tensor that broadcasts to the output; ``truth`` is the reference's float64 result.
    """
    dtype, found = reference.dtype, Comparison()
    flat = [_flat(got), _flat(reference), _flat(truth)]
    chunks = _Chunks(*flat, _scale(scale, reference))
    # Where the reference overflowed, a finite truth is huge and would excuse everything else.
    sizes, _ = chunks.rms_and_max(lambda c, r, t, s: torch.where(r.isfinite(), t, r))
    typical, worst = chunks.rms_and_max(lambda c, r, t, s: (r - t) / (t.abs() + s.clamp(min=sizes)))
    budget = _slack(dtype, tf32) * growth * max(typical, worst / TAIL, roundoff(dtype, tf32))
    # A result below the smallest normal number may honestly be flushed to zero; half precision is not flushed.
    floor = max(torch.finfo(torch.float32).tiny, torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps)
    for start, (c, r, t, s) in chunks:
        allowed = budget * (t.abs() + s.clamp(min=sizes)) + floor
        error = (c - t).abs()
        near = (error <= allowed) & c.isfinite()
        same = (c == r) | (c.isnan() & r.isnan())
        right = torch.where(r.isfinite(), near, same | (near & (t.abs() <= torch.finfo(dtype).max)))
        found.add(path, reference, start, right, c, torch.where(r.isfinite(), t, r))
        found.measure(error, t, allowed)
    return found


def near(got, reference, tf32=False):
    """Whether every element is within half of the least tolerance that ``close`` ever grants of the reference, or holds the same
    infinity or not-a-number.

    Then no truth need be worked out: it says what ``close`` would, from a tenth of its work. False says nothing.
    """
    dtype = reference.dtype
    got, reference = _flat(got), _flat(reference)
    if not got.numel():
        return True
    if dtype not in (torch.float64, torch.complex128):
        got, reference = got.float(), reference.float()
    budget = _slack(dtype, tf32) / 2 * roundoff(dtype, tf32)
    norm = float(torch.linalg.vector_norm(reference))
    if not math.isfinite(norm):
        same = (got == reference) | (got.isnan() & reference.isnan())
        got, reference = (t.masked_fill(same, 0) for t in (got, reference))
        norm = float(torch.linalg.vector_norm(reference))
    excess = (got - reference).abs_().sub_(reference.abs(), alpha=budget)
    # Neither holds where one side alone is infinite or not a number.
    return math.isfinite(norm) and float(excess.max()) <= budget * norm / math.sqrt(reference.numel())


def exact(path, got, expected, signed_zero=False):
    """Compares tensors of one shape and dtype for equal values: NaN equals NaN, and 0.0 equals -0.0 unless told."""
    found, start = Comparison(), 0
    for c, e in zip(_flat(got).split(CHUNK), _flat(expected).split(CHUNK), strict=True):
        c, e = _wide(c), _wide(e)
        right = c == e
        if e.is_floating_point():
            right &= (c.signbit() == e.signbit()) | torch.tensor(not signed_zero)
            right |= c.isnan() & e.isnan()
        found.add(path, expected, start, right, c, e)
        if not e.is_floating_point() or e.dtype == torch.float64:
            c, e = c.double(), e.double()
        found.measure((c - e).abs(), e, None)
        start += c.numel()
    return found


def _slack(dtype, tf32):
    return SLACK_ROUNDED if tf32 or dtype in (torch.float16, torch.bfloat16) else SLACK


class _Chunks:
    """Equal stretches of four flat tensors in float64: got, reference, truth, scale.

    Where the reference is finite and the truth is not (a domain edge that only float64 reaches), the reference is the truth.
    """

    def __init__(self, *flat):
        self.flat = flat

    def __iter__(self):
        start = 0
        for parts in zip(*(f.split(CHUNK) for f in self.flat), strict=True):
            c, r, t, s = (p.double() for p in parts)
            yield start, (c, r, torch.where(t.isfinite(), t, r), s)
            start += c.numel()

    def rms_and_max(self, what):
        """Root mean square and largest size of a quantity over the elements where it is finite; zeros where there is none."""
        total, count, largest = 0.0, 0, 0.0
        for _, parts in self:
            values = what(*parts)
            finite = values.isfinite()
            values = torch.where(finite, values, 0.0)
            total += float(values.square().sum())
            largest = max(largest, float(values.abs().max()) if len(values) else 0.0)
            count += int(finite.sum())
        return (math.sqrt(total / count) if count else 0.0), largest


def _flat(tensor):
    """Flat and real: a complex number is two neighbours."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.reshape(-1)


def _scale(scale, like):
    """The task's scale, one for each element of ``_flat(like)``, without memory where it is one number."""
    given = torch.as_tensor(0.0 if scale is None else scale, device=like.device).abs().expand(like.shape)
    if like.is_complex():
        given = given.unsqueeze(-1).expand(*like.shape, 2)
    if given.numel() and not any(given.stride()):
        return given.flatten()[:1].expand(given.numel()) if given.ndim < 2 else given.as_strided((given.numel(),), (0,))
    return given.reshape(-1)


def _wide(tensor):
    """float8 has no comparison: float32 holds each of its values."""
    return tensor.float() if tensor.is_floating_point() and tensor.element_size() == 1 else tensor


def _text(value):
    """One element as text, short and the same everywhere."""
    return format(value, ".9g") if isinstance(value, float) else str(value)
