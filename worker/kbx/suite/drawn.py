"""Calls that a function of a file draws from global random generators, as ``get_inputs()`` does, and variations of them.

Shapes and ranges of values are the author's. A variation keeps both as far as it can: it changes one thing about the tensors,
under the name that ``kbx.oracle.properties`` has for it.
"""

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

import torch

from kbx.suite.inputs import SPECIAL_VALUES, Call, Inputs
from kbx.suite.readings import calls
from kbx.suite.seeding import mixed
from kbx.suite.sharing import changed
from kbx.suite.values import plain, tensors, wide

Change: TypeAlias = Callable[[torch.Tensor, Inputs], torch.Tensor]
"""A tensor in another form, or the tensor itself where there is nothing to change."""

_Drawn = TypeVar("_Drawn")
SMALL, LARGE = 1e-3, 30
"""Factors of small and large values, as in the distributions of ``inputs``."""
SMALL_OF_8_BITS = 1 / 64
"""The factor of small float8 values: a smaller one leaves little but zeros of e4m3, whose smallest number is 1/512."""


@contextlib.contextmanager
def seeded(number: int, device: torch.device | str) -> Iterator[None]:
    """Every generator that a file may draw from starts at ``number``, and is afterwards what it was."""
    devices = [torch.device(device)] if torch.device(device).type == "cuda" else []
    numpy = sys.modules.get("numpy")
    states = random.getstate(), numpy and numpy.random.get_state()
    try:
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(number)
            random.seed(number)
            if numpy:
                numpy.random.seed(number % 2**32)
            yield
    finally:
        random.setstate(states[0])
        if numpy:
            numpy.random.set_state(states[1])


def drawn_on(
    device: torch.device | str,
    seed: int,
    draw: Callable[[], _Drawn],
    around: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
) -> _Drawn:
    """What ``draw()`` returns under a seed, where possible with ``device`` as the default one, on which large tensors are made fast. A file that
    raises there draws as it is written, by its own defaults: one whose generator is the CPU's, or that mixes arrays of numpy's with tensors
    that it draws. ``around()`` gives a context for it, whose changes come before those to seeds."""
    if torch.device(device).type != "cpu":
        try:
            with seeded(seed, device), around(), mixed(seed), torch.device(device):
                return draw()
        except Exception as error:
            if isinstance(error, torch.OutOfMemoryError):  # what others take must not decide which values there are
                raise
    with seeded(seed, device), around(), mixed(seed):
        return draw()


def varied(call: Call, variation: str, make: Inputs) -> Call | None:
    """The call with its tensors changed as one of ``VARIATIONS`` or ``SIGNS`` says; None where there is nothing to change. Random choices
    come from ``make``. Tensors that share memory still do, and are not laid out in another way."""
    done: list[bool] = []
    signed = _Signed(call, *SIGNS[variation]) if variation in SIGNS else None
    form = signed or VARIATIONS[variation]

    def change(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or not leaf.numel():
            return leaf
        other = form(leaf, make)
        done.append(other is not leaf)
        return other

    result = Call(*changed((call.args, call.kwargs), change, _as_it_is if variation == "non_contiguous" else None))
    return result if any(done) and (signed is None or signed.enough) else None


def _as_it_is(memory: torch.Tensor) -> torch.Tensor:
    return memory


def drawn(
    make: Inputs,
    function: Callable[[], object],
    number: int = 0,
    variation: str | None = None,
    of: Callable[..., Any] | None = None,
) -> Call:
    """For ``inputs`` of a task file: call ``number`` of those that ``function()`` returns under the seed of ``make``, in its
    distribution, maybe varied. ``of`` is the function that they are calls of, where they may be read in several ways."""
    call = drawn_on(make.device, make.generator.initial_seed(), lambda: calls(function(), of))[number]

    def placed(leaf: Any) -> Any:
        leaf = plain(leaf)
        return leaf.to(make.device) if isinstance(leaf, torch.Tensor) else leaf

    call = Call(*changed((call.args, call.kwargs), placed))
    for change in filter(None, (OF_VALUES.get(make.distribution), variation)):
        call = varied(call, change, make) or call
    return call


OF_VALUES = {"small": "tiny_values", "large": "wide_values", "zeros": "zeros"}
"""The variation that a distribution is; the others leave values as they are drawn."""


def _non_contiguous(tensor: torch.Tensor, make: Inputs) -> torch.Tensor:
    return make.strided(tensor) if tensor.dim() and tensor.numel() > 1 else tensor


def _scaled(factor: float) -> Change:
    def scaled(tensor: torch.Tensor, make: Inputs) -> torch.Tensor:
        if not _is_float(tensor):
            return tensor
        if tensor.element_size() > 1:
            return tensor * factor
        largest = torch.finfo(tensor.dtype).max
        return (wide(tensor) * max(factor, SMALL_OF_8_BITS)).clamp(-largest, largest).to(tensor.dtype)

    return scaled


def _zeros(tensor: torch.Tensor, make: Inputs) -> torch.Tensor:
    if not _is_float(tensor):
        return tensor
    kind = torch.rand(tensor.shape, generator=make.generator, device=make.generator.device).to(tensor.device)
    return wide(tensor).masked_fill(kind < 0.5, -0.0).masked_fill(kind < 0.25, 0.0).to(tensor.dtype)


ENOUGH = 16
"""Elements of a tensor whose signs are no accident."""


class _Signed:
    """Makes every floating-point value of a call ``first`` or ``others``, -1 or 1, times its absolute value: those of the first tensor that
    is changed, and of the others. Infinities and NaN stay.

    Where some tensors have values of both signs, only these are changed: the others mean something by theirs, as variances and masks do.
    Where none has, as in files that draw nothing but ``torch.rand``, they all are.
    """

    def __init__(self, call: Call, first: int, others: int) -> None:
        found = [t for t in tensors([*call.args, *call.kwargs.values()]) if t.is_floating_point() and t.numel()]
        self.mixed = any(_has_both_signs(t) for t in found)
        self.told = all(t.numel() >= ENOUGH for t in found)
        self.first, self.others, self.count = first, others, 0

    def __call__(self, tensor: torch.Tensor, make: Inputs) -> torch.Tensor:
        if not tensor.is_floating_point() or not self._may_change(wide(tensor)):
            return tensor
        sign = self.others if self.count else self.first
        self.count += 1
        values = wide(tensor)
        other = torch.where(values.isfinite(), sign * values.abs(), values)
        return tensor if torch.equal(other, values) else other.to(tensor.dtype)

    def _may_change(self, values: torch.Tensor) -> bool:
        if _is_symmetric(values):
            return False
        if self.mixed:
            return _has_both_signs(values) and not _is_sorted(values)
        return self.told and not _is_mask(values) and not _is_distribution(values)

    @property
    def enough(self) -> bool:
        """Whether so many tensors were changed that this is no other variation."""
        return self.first == self.others or self.count > 1


def _has_both_signs(tensor: torch.Tensor) -> bool:
    values = wide(tensor)
    return bool((values > 0).any() and (values < 0).any())


def _is_sorted(values: torch.Tensor) -> bool:
    """As the boundaries of intervals are."""
    return bool(values.dim() and values.shape[-1] > 2 and (values.diff(dim=-1) >= 0).all())


def _is_symmetric(values: torch.Tensor) -> bool:
    """As matrices are that must be positive definite, which other signs may or may not leave them."""
    square = values.dim() > 1 and values.shape[-1] == values.shape[-2] > 1
    return square and torch.allclose(values, values.mT, rtol=1e-3, atol=1e-6, equal_nan=True)


def _is_mask(values: torch.Tensor) -> bool:
    """Whether there are at most two values."""
    return bool(((values == values.min()) | (values == values.max())).all())


def _is_distribution(values: torch.Tensor) -> bool:
    """Whether the last dimension holds probabilities."""
    sums = values.double().sum(-1) if values.dim() else values.double()
    return torch.allclose(sums, torch.ones_like(sums), atol=1e-2)


def _special(tensor: torch.Tensor, make: Inputs) -> torch.Tensor:
    if not _is_float(tensor):
        return tensor
    flat = wide(tensor).clone(memory_format=torch.contiguous_format).view(-1)
    for place, value in zip((0, flat.numel() // 2, flat.numel() - 1), SPECIAL_VALUES, strict=True):
        flat[place] = value
    return flat.view(tensor.shape).to(tensor.dtype)


def _is_float(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


VARIATIONS: dict[str, Change] = {
    "non_contiguous": _non_contiguous,
    "tiny_values": _scaled(SMALL),
    "wide_values": _scaled(LARGE),
    "zeros": _zeros,
    "special_values": _special,
}
SIGNS = {"sign:negative": (-1, -1), "sign:positive": (1, 1), "sign:opposite": (-1, 1)}
"""Variations of the signs of values: that of the first tensor, and of the others. A maximum that begins at 0 shows where all are negative,
one of products where they are opposite."""
