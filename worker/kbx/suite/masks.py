"""Is a dropout mask random? Statistics shared by all tasks that drop elements.

What an operation means stays in its task. Where dropout is nearly the last step, the task says what each element is
when it is kept and when it is dropped, and ``dropout_complaints`` reads off the mask; otherwise it finds the mask by
itself and asks ``mask_complaints`` whether a fair generator could have chosen it.

Each statistic is a sum whose terms average to 0 for an honest mask. It may be off by what Bernstein's inequality
allows: for terms no larger than ``M`` with variances that add up to ``V``, a sum exceeds ``t = a + sqrt(a² + 2 L V)``,
``a = L M / 3``, with a probability below ``exp(-L)`` on each side. Standard deviations alone (``t = sqrt(2 L V)``)
would fail honest masks that drop one element in ten of few: their sums are far from normal. ``L`` is 25 (about seven
standard deviations, once in 10¹⁰ times) plus the logarithm of the number of sums that are looked at together.
"""

import math
from collections.abc import Sequence

import torch

from kbx.suite import errors

RARITY = 25.0
"""``L`` of the module's text for a single sum."""

SAMPLE = 1 << 20
"""Leading elements of a large mask that enter the statistics; the keep rate is that of all."""

VISIBLE = 1e-3
"""How far apart, relative to their size, an element's two values must lie for the mask to be read there."""


def dropout_complaints(
    results: Sequence[torch.Tensor],
    p: float,
    kept: torch.Tensor,
    truth: torch.Tensor,
    dropped: torch.Tensor | None = None,
    scale: float | torch.Tensor | None = None,
) -> list[str]:
    """Complaints about results whose elements are each one of two values, chosen at random; none for right ones.

    ``results``: one or more draws, of one shape. ``kept``: what every element is where it is kept, by the reference at
    the task's precision; ``truth``: the same in float64. ``dropped``: what it is where it is dropped, broadcast, 0
    unless given. ``scale``: as for ``Close``, whose error model decides whether a value is right. Of the two values the
    nearer one counts; where they are nearly equal the mask stays unseen. ``p`` 0 or 1 leaves no choice.
    """
    dropped = kept.new_zeros(()) if dropped is None else dropped
    low = dropped.double()
    size = truth.square().mean().sqrt() if truth.numel() else truth.sum()
    scale = size if scale is None else torch.as_tensor(scale, device=truth.device).abs().clamp(min=size)
    masks = []
    for result in results:
        mask = (result.double() - truth).abs() <= (result.double() - low).abs()
        mask = torch.full_like(mask, p == 0) if p in (0, 1) else mask
        found = errors.close("output", result, torch.where(mask, kept, dropped), torch.where(mask, truth, low), scale)
        if found.wrong:
            first = found.mismatches[0]
            place = f"{first['index']}: {first['got']}, and the nearer of the two is {first['expected']}"
            return [f"{found.wrong} elements have neither the value of a kept nor that of a dropped one, first {place}"]
        masks.append(mask)
    return mask_complaints(masks, p, truth, (truth - low).abs() > VISIBLE * (low.abs() + scale))


def mask_complaints(
    kept: Sequence[torch.Tensor], p: float, data: torch.Tensor, seen: torch.Tensor | None = None
) -> list[str]:
    """Complaints about dropout masks; an empty list for honest ones.

    ``kept``: a list of one or more boolean tensors of one shape, one a draw, True where the element was kept. ``p``:
    the probability to drop. ``data``: what the mask must not depend on, usually the values before dropout; of the same
    shape. ``seen``: boolean, True where the mask can be read off (an activation may hide it); everywhere unless given.

    With ``c = kept - (1 - p)``, 0 where unseen, and elements in row-major order, these are sums with mean 0:

    * ``Σ c``: the keep rate, and ``Σ c·w`` with weights from -1 to 1 that follow the position, the rank of the data and
      the rank of its magnitude: masks that grow denser, that drop the smallest;
    * ``Σ c[i]·c[i+k]`` for every distance ``k``: one decision for a row or a channel, the same stream in each row, tile
      or program;
    * ``Σ c[i]·d[i+k]`` for every distance ``k`` (0 and negative as well) and another draw ``d``: the same mask in every
      call, or a stream that goes on where the last call began.

    Nothing is random for ``p`` 0 or 1, and few elements prove nothing: a fixed mask is found from about 100 elements
    on.
    """
    seen = torch.ones_like(kept[0]) if seen is None else seen
    if not 0 < p < 1 or not seen.any():
        return []
    spread, largest = math.sqrt(p * (1 - p)), max(p, 1 - p)
    flat_seen = seen.reshape(-1)[:SAMPLE].double()
    weights = _weights(data.reshape(-1)[:SAMPLE])
    centred = [_centred(mask.reshape(-1)[:SAMPLE], p) * flat_seen for mask in kept]
    count, complaints, half = seen.sum().double(), [], flat_seen.numel()
    spectra = [_spectrum(c) for c in centred]
    whole = _spectrum(flat_seen)
    pairs = _correlated(whole, whole)
    for mask, c, spectrum in zip(kept, centred, spectra, strict=True):
        rate = (mask & seen).sum() - count * (1 - p)
        complaints += _judged("the keep rate is off", rate, spread**2 * count, largest)
        for text, weight in weights.items():
            variance = (spread * flat_seen * weight).square().sum()
            complaints += _judged(text, (c * weight).sum(), variance, largest)
        together = _correlated(spectrum, spectrum)[1:half]
        variances = spread**4 * pairs[1:half]
        complaints += _judged(
            "elements at a fixed distance are dropped together", together, variances, largest**2, first=1
        )
    for spectrum in spectra[1:]:
        between, ends = (torch.fft.fftshift(v) for v in (_correlated(spectra[0], spectrum), pairs))
        first = -(len(ends) // 2)
        complaints += _judged("the masks of two calls are correlated", between, spread**4 * ends, largest**2, first)
    return complaints


def _centred(mask: torch.Tensor, p: float) -> torch.Tensor:
    return mask.double() - (1 - p)


def _weights(data: torch.Tensor) -> dict[str, torch.Tensor]:
    """What a mask must not follow, each as weights from -1 to 1 in equal steps, by the complaint if it does."""
    n = data.numel()
    ramp = torch.linspace(-1, 1, n, dtype=torch.float64, device=data.device)

    def ranked(values: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(ramp).scatter_(0, values.argsort(stable=True), ramp)

    return {
        "the keep rate changes along the tensor": ramp,
        "the mask follows the data": ranked(data),
        "the mask follows the data's magnitude": ranked(data.abs()),
    }


def _spectrum(values: torch.Tensor) -> torch.Tensor:
    """Of the values with as many zeros behind them, so that the pairs of a product do not wrap around."""
    spectrum: torch.Tensor = torch.fft.rfft(values, 1 << (2 * values.numel() - 1).bit_length())
    return spectrum


def _correlated(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    """``Σ x[i]·y[i+k]`` from the spectra of ``x`` and ``y``, at place ``k``; negative ones count from the end."""
    sums: torch.Tensor = torch.fft.irfft(one.conj() * two)
    return sums


def _judged(text: str, sums: torch.Tensor, variances: torch.Tensor, term: float, first: int = 0) -> list[str]:
    """At most one complaint: the sum that is furthest beyond its limit; ``first`` is the distance of the first."""
    sums, variances = sums.reshape(-1), variances.reshape(-1).clamp(min=0)
    if not sums.numel():
        return []
    rarity = RARITY + math.log(sums.numel())
    limit = rarity * term / 3 + torch.sqrt((rarity * term / 3) ** 2 + 2 * rarity * variances)
    worst = (sums.abs() / limit).argmax()
    if sums[worst].abs() <= limit[worst]:
        return []
    deviations = float(sums[worst] / variances[worst].sqrt())
    where = f" at distance {first + int(worst)}" if sums.numel() > 1 else ""
    return [f"{text}{where}: {deviations:.1f} standard deviations"]
