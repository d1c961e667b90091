"""Where the wrong elements of a result lie: in the tail of a dimension, in one channel, at a border, in every 64th row.

A place is named only if it holds every wrong element, and if as many elements at random places would not all lie in one that is named
as shortly: the bits by which the place narrows down where they are, ``log2 C(elements, wrong) - log2 C(elements of the place, wrong)``,
must exceed those of its name by ``EVIDENCE``. Of several places the one that saves most bits is named.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

EVIDENCE = 16
"""Bits beyond chance: one result of 2^16 with wrong elements at random places is said to have a pattern."""
REPEATED = 4
"""The same for indices at one distance, or in one part of each block, against as many at random."""
LISTED = 3
"""Indices that are listed one by one."""
FILLED, FILLED_END = 0.75, 0.3
"""The part of a range of indices at which something must be wrong for it to be one, and of a range that reaches an end: what grows rarer
towards both sides has no bounds."""
PERIODS = [base << power for power in range(2, 12) for base in (2, 3)]
"""Lengths of blocks, of which each may have the same part wrong."""
LOOKED_AT = 1 << 22
"""Elements or indices that are looked at for blocks and distances that repeat."""
WIDEST_BORDER = 1 / 4
"""Part of a dimension, at either side."""


@dataclass(frozen=True)
class _Place:
    """``share`` is its part of all elements that it was chosen from, ``bits`` the length of its name; ``text`` has ``{of}`` where the name
    of its dimension belongs."""

    text: str
    share: float
    bits: float

    def of(self, owner: str, bits: float = 0) -> _Place:
        """The place with the name of its dimension."""
        return _Place(self.text.format(of=owner), self.share, self.bits + bits)


def place_of(wrong: torch.Tensor) -> str | None:
    """Where the elements of a mask are: ``all in the tail of dimension 1, from index 60 on``; None where there is nothing to say.

    ``wrong``: true at wrong elements, of the result's shape.
    """
    count, total = int(wrong.count_nonzero()), wrong.numel()
    if not 1 < count < total:
        return None

    def gain(place: _Place) -> float:
        return _saved(total, total * place.share, count) - place.bits

    best = max(_places(wrong, count), key=gain, default=None)
    return f"all {best.text}" if best and gain(best) >= EVIDENCE else None


def _saved(total: float, left: float, count: int) -> float:
    """Bits that are saved where ``count`` elements lie within ``left`` of ``total``."""
    return _ways(total, count) - _ways(max(left, count), count)


def _ways(total: float, count: int) -> float:
    """Binary logarithm of the ways to choose ``count`` of ``total`` elements."""
    ways = math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(total - count + 1)
    return ways / math.log(2)


def _places(wrong: torch.Tensor, count: int) -> Iterator[_Place]:
    dims = [d for d, length in enumerate(wrong.shape) if length > 1]
    if box := _box(wrong, dims, count):
        yield box
    if len(dims) > 1:
        for place in _of_line(wrong.reshape(-1)):
            yield place.of(" of the row-major order", bits=4)
    for several in (2, 3):
        for near in itertools.pairwise(dims) if several == 2 else zip(dims, dims[1:], dims[2:], strict=False):
            seen = _seen(wrong, near)
            yield from _borders(seen, near)
            if several == 2 and seen.shape[0] == seen.shape[1]:
                yield from _sides_of_diagonal(seen, near)


def _seen(wrong: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
    """Whether there is a wrong element at an index of ``dims``, in host memory."""
    others = [d for d in range(wrong.dim()) if d not in dims]
    return (wrong.any(dim=others) if others else wrong).cpu()


def _box(wrong: torch.Tensor, dims: list[int], count: int) -> _Place | None:
    """Indices of one dimension, or of several, where each of these says something that the others do not."""
    found: dict[int, _Place] = {}
    left, lines = float(wrong.numel()), {d: list(_of_line(_seen(wrong, (d,)))) for d in dims}
    while lines:
        gains = [(_saved(left, left * p.share, count) - p.bits, d, p) for d, places in lines.items() for p in places]
        gain, dim, place = max(gains, key=lambda each: each[0], default=(0.0, 0, None))
        if place is None or gain < EVIDENCE:
            break
        found[dim] = place
        left *= place.share
        del lines[dim]
    if not found:
        return None
    named = [found[d].of(f" of dimension {d}" if wrong.dim() > 1 else "") for d in sorted(found)]
    share, bits = math.prod(p.share for p in named), sum(p.bits for p in named)
    return _Place(", and ".join(p.text for p in named), share, bits)


def _of_line(line: torch.Tensor) -> Iterator[_Place]:
    """Places along one dimension, of which ``line`` says where there is a wrong element."""
    length, digits = line.numel(), math.log2(line.numel())
    first = int(line.byte().argmax())
    last = length - 1 - int(line.flip(0).byte().argmax())
    filled = int(line.count_nonzero()) / (last - first + 1)
    if last - first + 1 < length and filled >= (FILLED_END if first == 0 or last == length - 1 else FILLED):
        yield _interval(first, last, length, digits)
    if length > LOOKED_AT:
        return
    indices = line.nonzero().reshape(-1)
    if 1 < indices.numel() <= LISTED:
        text = " and ".join(", ".join(map(str, indices.tolist())).rsplit(", ", 1))
        yield _Place(f"at the indices {text}{{of}}", indices.numel() / length, indices.numel() * digits + 2)
    if (first, last) == (0, length - 1):
        yield from _ends(indices, length, digits)
    yield from _repeated(line, indices, digits)


def _interval(first: int, last: int, length: int, digits: float) -> _Place:
    share, one_end = (last - first + 1) / length, first == 0 or last == length - 1
    if first == last:
        text = f"at index {first}{{of}}{', the last' if last == length - 1 else ''}"
    elif last == length - 1:
        text = f"in the tail{{of}}, from index {first} on"
    else:
        text = f"at the {f'first {last + 1} indices' if first == 0 else f'indices {first} to {last}'}{{of}}"
    return _Place(text, share, digits + 2 if one_end or first == last else 2 * digits + 2)


def _ends(indices: torch.Tensor, length: int, digits: float) -> Iterator[_Place]:
    """The first and the last indices, with nothing between."""
    gaps = indices.diff()
    widest = int(gaps.argmax())
    head, tail = int(indices[widest]) + 1, length - int(indices[widest + 1])
    if max(head, tail) <= WIDEST_BORDER * length:
        ends = (
            "the first and the last index" if head == tail == 1 else f"{_end('first', head)} and {_end('last', tail)}"
        )
        yield _Place(f"at {ends}{{of}}", (head + tail) / length, 2 * digits + 1)


def _end(which: str, count: int) -> str:
    return f"the {which} index" if count == 1 else f"the {which} {count} indices"


def _repeated(line: torch.Tensor, indices: torch.Tensor, digits: float) -> Iterator[_Place]:
    """Indices at one distance, and one part of each block."""
    length, first, count = line.numel(), int(indices[0]), indices.numel()
    distances = indices.diff()
    step = math.gcd(*distances.unique().tolist()) if count > 2 and int(distances.min()) > 1 else 1
    bits, left = 2 * digits + 3, (length - 1 - first) // step + 1
    if step > 1 and _saved(length, left, count) - bits >= REPEATED:
        yield _Place(f"at every {_ordinal(step)} index{{of}}, from {first} on", left / length, bits)
    for block in PERIODS:
        if 2 * block > length:
            break
        places = _folded(line, block).nonzero().reshape(-1)
        low, high = int(places[0]), int(places[-1])
        wide = high - low + 1
        bits = 2 * math.log2(block) + 5
        if (
            not 1 < wide <= block // 2
            or places.numel() < FILLED * wide
            or _saved(length, length * wide / block, count) - bits < REPEATED
        ):
            continue
        which = f"last {wide}" if high == block - 1 else f"first {wide}" if low == 0 else None
        text = f"in the {which}" if which else f"at the indices {low} to {high}"
        text = f"{text} of every {block} indices{{of}}"
        yield _Place(text, wide / block, bits)


def _folded(line: torch.Tensor, block: int) -> torch.Tensor:
    """Where in a block there is a wrong element."""
    whole = line.numel() // block * block
    folded = line[:whole].view(-1, block).any(0)
    folded[: line.numel() - whole] |= line[whole:]
    return folded


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _borders(seen: torch.Tensor, dims: tuple[int, ...]) -> Iterator[_Place]:
    """The border of two or three neighbouring dimensions: all that is not in the box around the middle where nothing is wrong."""
    middle, inner, widths = [n // 2 for n in seen.shape], [], []
    for d, length in enumerate(seen.shape):
        line = seen[tuple(slice(None) if i == d else m for i, m in enumerate(middle))]
        before, after = line[: middle[d]].nonzero(), line[middle[d] :].nonzero()
        low = int(before.max()) + 1 if before.numel() else 0
        high = middle[d] + int(after.min()) if after.numel() else length
        widths += [low, length - high]
        if max(widths[-2:]) > WIDEST_BORDER * length or not any(widths[-2:]):
            return
        inner.append(slice(low, high))
    if seen[tuple(inner)].any():
        return
    share = 1 - math.prod(s.stop - s.start for s in inner) / seen.numel()
    wide = f"{max(widths)} wide" if len(set(widths)) == 1 else f"up to {max(widths)} wide"
    yield _Place(f"at the border of {_dimensions(dims)}, {wide}", share, 2 * sum(math.log2(n) for n in seen.shape) + 3)


def _sides_of_diagonal(seen: torch.Tensor, dims: tuple[int, ...]) -> Iterator[_Place]:
    """A triangle of two dimensions of one length, or the diagonal between two."""
    n = seen.shape[0]
    triangle, diagonal = (n - 1) / 2 / n, 1 / n
    for sides, share, where in (
        (seen.triu(1) | seen.tril(-1), diagonal, "on the diagonal"),
        (seen.tril(), triangle, "above the diagonal"),
        (seen.triu(), triangle, "below the diagonal"),
        (seen.tril(-1), triangle + diagonal, "on and above the diagonal"),
        (seen.triu(1), triangle + diagonal, "on and below the diagonal"),
    ):
        if not sides.any():
            yield _Place(f"{where} of {_dimensions(dims)}", share, 4)


def _dimensions(dims: tuple[int, ...]) -> str:
    *most, last = map(str, dims)
    return f"dimensions {', '.join(most)} and {last}"
