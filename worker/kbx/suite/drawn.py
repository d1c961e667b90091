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
from kbx.suite.values import plain, wide

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
    """The call with its tensors changed as one of ``VARIATIONS`` says; None where there is nothing to change. Random choices come
    from ``make``. Tensors that share memory still do, and are not laid out in another way."""
    done: list[bool] = []

    def change(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or not leaf.numel():
            return leaf
        other = VARIATIONS[variation](leaf, make)
        done.append(other is not leaf)
        return other

    result = Call(*changed((call.args, call.kwargs), change, _as_it_is if variation == "non_contiguous" else None))
    return result if any(done) else None


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
