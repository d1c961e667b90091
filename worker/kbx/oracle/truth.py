"""The trusted values of one call: its arguments, the reference's result, and the truth in float64."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from kbx.oracle import faults, operands
from kbx.oracle.task import InvalidTask, Task
from kbx.suite import Call
from kbx.suite.sharing import changed
from kbx.suite.values import Named, home, tensors, transform
from kbx.tensors import span

BUDGET = 512 << 20
"""Bytes of known calls that a session keeps, for calls that are repeated."""

FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)
SHAKEN = 2.0**-22
"""By how much arguments are changed, relative to themselves, to see which results are nearly half-way: a few roundings of float32."""

HOST_BYTES = 4 << 20
"""A call with all that is known of it that is no larger is compared in host memory."""


@dataclass(frozen=True)
class Known:
    """One call with its right results. Immutable and never lent: callers copy.

    ``expected`` and ``truth`` are results: the returned value, or ``Named`` ones where the call also updates arguments that it
    does not return. ``aliases``, ``selves`` and ``strides`` belong to the tensors of the returned value, in order: index of the
    argument whose storage it shares, index of the argument that it is (each None where there is none), and strides. ``rounded`` is an
    equivalent result of the reference, as ``kbx.oracle.operands`` or ``_shaken`` have it, or None. ``kept`` is the contract's, as in ``Contract.keeps``.
    """

    call: Call
    returned: Any
    expected: Any
    truth: Any
    aliases: list[int | None]
    selves: list[int | None]
    strides: list[tuple[int, ...]]
    rounded: Any = None
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def nbytes(self) -> int:
        held = [self.call.args, self.call.kwargs, self.expected, self.truth, self.rounded]
        return sum(span(t.shape, t.stride()) * t.element_size() for v in held for t in tensors(v))

    @property
    def on_host(self) -> Known:
        """The same in host memory, for comparing: a device takes as long for ten elements as for ten million. The call itself
        if it is large."""
        # Kept in itself it would be a cycle, and gigabytes of the device would wait for the collector.
        return self if self.nbytes > HOST_BYTES else self._copied

    @functools.cached_property
    def _copied(self) -> Known:
        call = Call(to_host(self.call.args), to_host(self.call.kwargs))
        expected = to_host(self.expected)
        truth = (
            expected if self.truth is self.expected else to_host(self.truth)
        )  # what has no truth must not seem to have one
        return replace(self, call=call, expected=expected, truth=truth, rounded=to_host(self.rounded))


def to_host(value: Any) -> Any:
    """A value with its tensors in host memory."""
    return transform(value, lambda leaf: leaf.cpu() if isinstance(leaf, torch.Tensor) else leaf)


def copy_call(call: Call) -> Call:
    """A call of equal arguments in fresh memory, strides and all; those that share memory still do."""
    return Call(*changed((call.args, call.kwargs), copy_leaf))


def widened(call: Call) -> Call:
    """A call of copied arguments, floating-point ones in double precision."""
    return Call(*changed((call.args, call.kwargs), _widen))


def know(task: Task, call: Call, seed: str, wide: bool = True) -> Known:
    """Runs the reference on copies of the arguments, at the task's precision and in float64; raises InvalidTask.

    Without ``wide`` the reference's result is the truth.
    """
    mine = copy_call(call)
    returned = _reference(task, "the reference", mine, seed)
    task.check_updates(call, mine)
    arguments, outputs = argument_tensors(mine), tensors(returned)
    selves = [_itself(t, arguments) for t in outputs]
    aliases, strides = [alias(t, arguments) for t in outputs], [t.stride() for t in outputs]
    expected = truth = after(task, mine, returned, selves)
    del mine, arguments  # gigabytes, where float64 needs the room
    if task.contract.needs_truth and wide:
        truth = _exact(task, call, seed, selves, expected)
        if [t.shape for t in tensors(truth)] != [t.shape for t in tensors(expected)]:
            raise InvalidTask(
                "the reference returns other shapes in float64 than in its own dtype", task.path, _line(task)
            )
    rounded = _rounded(task, call, seed, selves) if task.rounds_operands and truth is not expected else None
    if rounded is None and truth is not expected and any(t.dtype in FLOAT8 for t in tensors(truth)):
        rounded = _shaken(task, call, seed, selves)
    known = Known(call, returned, expected, truth, aliases, selves, strides, rounded)
    task.check_repeats(known, lambda: _again(task, call, seed, selves))
    return known


def _rounded(task: Task, call: Call, seed: str, selves: list[int | None]) -> Any:
    mine = copy_call(call)

    def result() -> Any:
        return after(task, mine, _reference(task, "the reference", mine, seed), selves)

    try:
        return operands.with_rounded(result, [mine.args, mine.kwargs])
    except InvalidTask:
        return None


def _shaken(task: Task, call: Call, seed: str, selves: list[int | None]) -> Any:
    """The reference in float64 of arguments that differ by ``SHAKEN``: what it rounds to other numbers is nearly half-way between two."""
    wide = widened(call)
    other = Call(transform(wide.args, _shake), transform(wide.kwargs, _shake))
    try:
        return after(task, other, _reference(task, "the reference in float64", other, seed), selves)
    except InvalidTask:
        return None


def _shake(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor) or not leaf.is_floating_point():
        return leaf
    make = torch.Generator(leaf.device).manual_seed(leaf.numel())
    return leaf * (1 + SHAKEN * torch.randn(leaf.shape, generator=make, device=leaf.device, dtype=leaf.dtype))


def _again(task: Task, call: Call, seed: str, selves: list[int | None]) -> tuple[Any, bool]:
    """``expected`` of one more call of the reference, and whether it drew random numbers."""
    mine = copy_call(call)
    reseed(seed_number(seed))  # as the reference's call does
    states = generator_states()
    result = after(task, mine, _reference(task, "the reference", mine, seed), selves)
    return result, moved(states)


def _exact(task: Task, call: Call, seed: str, selves: list[int | None], expected: Any) -> Any:
    exact = widened(call)
    try:
        return after(task, exact, _reference(task, "the reference in float64", exact, seed), selves)
    except InvalidTask:
        if task.widens:
            raise
        return expected


def know_where_there_is_room(task: Task, call: Call, seed: str) -> Known:
    """``know``, without float64 where the device has no memory for it.

    The reference's own error is unknown then and the tolerance rests on the unit roundoff alone. An honest result may be as far
    from the reference as both are from the truth, which the slack of the model covers.
    """
    try:
        return know(task, call, seed)
    except RuntimeError as error:
        if not faults.full(error):
            raise
    # Not while the exception is handled: it holds on to all that there was no room for.
    torch.cuda.empty_cache()
    return know(task, call, seed, wide=False)


def after(task: Task, call: Call, returned: Any, selves: list[int | None]) -> Any:
    """What is judged: the returned value, and the arguments that the call updated without returning them."""
    named = enumerate(task.named_tensors(call))
    return Named.of(returned, [pair for i, pair in named if task.updates(pair[0]) and i not in selves])


def argument_tensors(call: Call) -> list[torch.Tensor]:
    """The tensors among the arguments, in order of appearance."""
    return tensors([*call.args, *call.kwargs.values()])


def alias(tensor: torch.Tensor, arguments: list[torch.Tensor]) -> int | None:
    """Index of the argument whose storage a tensor shares, or None."""
    place = home(tensor)
    return next((i for i, a in enumerate(arguments) if place and home(a) == place), None)


def _itself(tensor: torch.Tensor, arguments: list[torch.Tensor]) -> int | None:
    """Index of the argument that a tensor is, the same elements in the same order, or None."""
    form = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
    matches = (i for i, a in enumerate(arguments) if form == (a.data_ptr(), a.shape, a.stride(), a.dtype))
    return next(matches, None) if tensor.numel() else None


def _reference(task: Task, what: str, call: Call, seed: str) -> Any:
    reseed(seed_number(seed))
    with torch.no_grad():
        return task.run(what, task.reference, *call.args, **call.kwargs)


def reseed(number: int) -> None:
    """``torch.manual_seed`` for the host and the GPUs. That one also writes down a stack for every kind of device that is not
    there, each time, and keeps it."""
    for generator in (torch.default_generator, *torch.cuda.default_generators):
        generator.manual_seed(number)


def generator_states() -> list[torch.Tensor]:
    """The states of the random generators of the host and of the GPUs in use."""
    return [generator.get_state() for generator in (torch.default_generator, *torch.cuda.default_generators)]


def moved(states: list[torch.Tensor]) -> bool:
    """Whether a generator has left the state that ``generator_states`` found it in: somebody has drawn."""
    return not all(map(torch.equal, states, generator_states()))


def seed_number(text: str) -> int:
    """The referee's hexadecimal seed as a number that torch takes."""
    return int(text, 16) & (1 << 63) - 1


def copy_leaf(leaf: Any) -> Any:
    """A tensor of equal elements and strides in fresh memory; anything else as it is."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    count = span(leaf.shape, leaf.stride())
    memory = leaf.as_strided((count,), (1,), leaf.storage_offset()).clone()
    return memory.as_strided(leaf.shape, leaf.stride())


def _widen(leaf: Any) -> Any:
    """Floating tensors, and dtypes passed as arguments, go to double precision; everything else is copied."""
    dtype = leaf.dtype if isinstance(leaf, torch.Tensor) else leaf
    if isinstance(dtype, torch.dtype) and (dtype.is_floating_point or dtype.is_complex):
        wide = torch.complex128 if dtype.is_complex else torch.float64
        return leaf.to(wide, copy=True) if isinstance(leaf, torch.Tensor) else wide
    return copy_leaf(leaf)


def _line(task: Task) -> int:
    return task.reference.__code__.co_firstlineno


class Memory:
    """Known calls of one session by their seeds, least recently used forgotten first when they exceed ``budget`` bytes."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget, self.held = budget, 0
        self.known: OrderedDict[str, Known] = OrderedDict()

    def get(self, key: str, make: Callable[[], Known]) -> Known:
        """The known call of a key, made by ``make()`` if it was forgotten or never asked for."""
        if key in self.known:
            self.known.move_to_end(key)
            return self.known[key]
        self.settle()
        made = make()
        self.known[key], self.held = made, self.held + made.nbytes
        while self.held > self.budget and len(self.known) > 1:
            self._forget()
        return made

    def settle(self) -> None:
        """Forgets what is beyond the budget, the last known call too: a single one may have gigabytes."""
        while self.held > self.budget:
            self._forget()

    def clear(self) -> None:
        """Forgets everything."""
        self.known.clear()
        self.held = 0

    def _forget(self) -> None:
        self.held -= self.known.popitem(last=False)[1].nbytes
