"""The backward task of a differentiable function: of ``kbx eval --reference FILE --backward``, and of a task file that names it in
``FORWARD``.

It takes the gradients of the function's results, then the function's own arguments, and returns the gradients of those. What PyTorch
derives in the arguments' dtypes is the reference, and in float64 the truth.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

import torch

from kbx.oracle import own_references, truth
from kbx.oracle.fakes import needs_values
from kbx.oracle.gradients import graph_noted, in_place_of
from kbx.oracle.own_references import OwnFunctionTask, anywhere, on_shapes_or_values
from kbx.oracle.own_variations import AS_DRAWN, SEED, may_be_tried
from kbx.oracle.recording import surroundings
from kbx.oracle.task import Function, InvalidTask, Stamp, Task, named_tensors, signature
from kbx.suite import Call, Inputs, notation
from kbx.suite.original import OwnFunction
from kbx.suite.values import leaves, tensors, transform

UPSTREAM = "grad_output"
"""The name of the argument that is the gradient of a single result; of several there are ``grad_output_0`` and so on."""

_Gradients: TypeAlias = list[torch.Tensor]
_Spoiler: TypeAlias = Callable[[list[torch.Tensor], list[torch.Tensor]], None]
_FAR = 0.05
"""A control whose gradients are nearer to the right ones, relative to their norm, is no mistake in this function."""
_NOISE = 1e-5
"""A gradient whose norm is less than this part of another one's may be rounding alone, as that of a bias before a normalization is."""
_REASON_CHARACTERS = 200
_SAVED = 6
"""Saved tensors of which one is overwritten."""


class Backward:
    """The gradients of ``forward``: of its floating-point tensor arguments, or of those named in ``asked`` if there are some. An argument
    that the results do not depend on has none."""

    weights: Sequence[torch.Tensor] = ()
    """What the results are also differentiated by."""
    complete = False
    """Whether what they do not depend on has a gradient of zeros."""

    def __init__(self, forward: Function, asked: frozenset[str]) -> None:
        self.forward, self.asked = forward, asked

    def chosen(self, call: Call) -> set[int]:
        """The ids of the arguments that the results are differentiated by, of those that this can be done by."""
        named = named_tensors(self.forward, call)
        return {id(t) for name, t in named if not self.asked or name.split("[")[0] in self.asked}

    def results(self, call: Call) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """The results of a call that can be differentiated, and the arguments that they may be differentiated by: copies in a graph."""
        chosen = self.chosen(call)
        by: list[torch.Tensor] = []

        def own(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return leaf
            if not is_differentiable(leaf) or id(leaf) not in chosen:
                return leaf.detach().clone()
            by.append(leaf.detach().requires_grad_())
            return by[-1]

        with graph_noted():
            mine = Call(transform(call.args, own), transform(call.kwargs, own))
            found = tensors(self.forward(*mine.args, **mine.kwargs))
        return [t for t in found if t.requires_grad], [*by, *self.weights]

    def gradients(self, upstream: list[torch.Tensor], call: Call, spoil: _Spoiler | None = None) -> _Gradients:
        """In the order of the arguments. ``spoil(results, by)`` is called before they are computed."""
        results, by = self.results(call)
        if spoil:
            spoil(results, by)
        with graph_noted():
            found = torch.autograd.grad(results, by, upstream, allow_unused=True, materialize_grads=self.complete)
        return [_apart(gradient, upstream) for gradient in found if gradient is not None]

    def derived(self, count: int, compute: Callable[[list[torch.Tensor], Call], _Gradients] | None = None) -> Function:
        """A function of ``count`` upstream gradients and the arguments: a tensor, or a tuple of several. ``compute`` stands in for
        ``gradients``."""

        def backward(*values: Any, **kwargs: Any) -> Any:
            found = (compute or self.gradients)(list(values[:count]), Call(values[count:], kwargs))
            return found[0] if len(found) == 1 else tuple(found)

        made = in_place_of(self.forward, backward)
        made.__name__ = f"{self.forward.__name__}_backward"
        made.__signature__ = _signature(self.forward, count)  # type: ignore[attr-defined]  # which inspect.signature looks for
        return made


def is_differentiable(tensor: torch.Tensor) -> bool:
    return (tensor.is_floating_point() or tensor.is_complex()) and tensor.element_size() > 1


def _apart(gradient: torch.Tensor, upstream: list[torch.Tensor]) -> torch.Tensor:
    """A gradient in memory of its own: one that is passed on is the upstream one, one of a sum is a single number, expanded."""
    shared = {each.untyped_storage()._cdata for each in upstream}
    passed_on = gradient.untyped_storage()._cdata in shared
    return gradient.clone(memory_format=torch.contiguous_format) if passed_on or 0 in gradient.stride() else gradient


def _signature(forward: Function, count: int) -> inspect.Signature:
    usual = signature(forward)
    return usual.replace(parameters=with_upstream(list(usual.parameters.values()), count))


def with_upstream(parameters: list[inspect.Parameter], count: int) -> list[inspect.Parameter]:
    """The parameters of a function after those of ``count`` upstream gradients."""
    taken = {p.name for p in parameters}
    names = [UPSTREAM] if count == 1 else [f"{UPSTREAM}_{i}" for i in range(count)]
    while taken.intersection(names):
        names = [f"_{name}" for name in names]
    first = next((p.kind for p in parameters if p.kind == p.POSITIONAL_ONLY), inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [*(inspect.Parameter(name, first) for name in names), *parameters]


@dataclass(frozen=True, eq=False)
class BackwardTask(OwnFunctionTask):
    """``function`` is the user's, whose gradients are judged; calls are those that the file asks for, after their upstream gradients."""

    backward: Backward = field(kw_only=True)
    count: int = field(default=0, kw_only=True)
    """Of upstream gradients."""

    @property
    def judged(self) -> Function:
        return self.backward.derived(self.count)

    def plain_call(self, number: int, seed: str, device: str | torch.device) -> Call:
        call = super().plain_call(number, seed, device)
        return self._from_above(call, number, seed, device) if self.noted else call  # others come of ``plain_calls``

    def plain_calls(self, seed: str, device: str | torch.device) -> list[Call]:
        return [self._from_above(call, i, seed, device) for i, call in enumerate(super().plain_calls(seed, device))]

    def _from_above(self, call: Call, number: int, seed: str, device: str | torch.device) -> Call:
        make = Inputs("float32", "standard", f"{seed} {number} {UPSTREAM}", device, fast=self.large)
        results = self.results_of(call, device)
        if len(results) != self.count:
            text = f"{self.function.__name__}() returns {len(results)} tensors that PyTorch can differentiate in call {number + 1}, and {self.count} in the first"
            raise InvalidTask(text, self.path, self.function.__code__.co_firstlineno)
        return Call((*(make.floats(*t.shape, dtype=t.dtype) for t in results), *call.args), call.kwargs)

    def results_of(self, call: Call, device: str | torch.device) -> list[torch.Tensor]:
        """As the function of this name."""
        return results_of(self, self.backward, call, device)


def results_of(task: Task, backward: Backward, call: Call, device: str | torch.device) -> list[torch.Tensor]:
    """The results of a call of the forward that can be differentiated; raises InvalidTask where there are none."""

    def returned() -> Any:
        mine = truth.copy_call(call)
        with torch.no_grad():
            return task.run(f"{backward.forward.__name__}()", backward.forward, *mine.args, **mine.kwargs)

    with surroundings(device):
        try:
            found: list[torch.Tensor] = task.run("", backward.results, call)[0]
        except InvalidTask as error:
            if needs_values(error):
                raise
            returned()  # raises what is wrong without gradients, too
            raise refusal(task, backward.forward, error) from error.__cause__
        if found:
            return found
        raise without_gradient(task, backward.forward, returned())


def _option(task: Task) -> str:
    """What asks for the gradients."""
    return "FORWARD" if task.path == task.stamp[0] else "--backward"


def without_gradient(task: Task, function: Function, returned: Any) -> InvalidTask:
    """What is said of a function whose results are in no graph."""
    kinds = ", ".join(notation.shown(Call((leaf,))) for _, leaf in leaves(returned))
    text = f"{function.__name__}() returns nothing that PyTorch can differentiate ({kinds}): leave out {_option(task)}, or what cuts the graph, as detach(), no_grad() and item() do"
    return InvalidTask(text, task.path, function.__code__.co_firstlineno)


def refusal(task: Task, function: Function, error: InvalidTask) -> InvalidTask:
    """What is said of a function that runs, and whose gradients raise this error."""
    reason = " ".join(str(error.__cause__).split())[:_REASON_CHARACTERS].rstrip(".")
    text = f"{function.__name__}() runs and cannot be differentiated ({reason}): leave out {_option(task)}, or change what that names"
    return InvalidTask(text, task.path, error.line or function.__code__.co_firstlineno)


def task(stamp: Stamp, original: OwnFunction, entry: str, device: str) -> BackwardTask:
    """The backward task of the function that a file has; raises InvalidTask where it is none, does not run, or has no gradient."""
    assert original.forward is not None
    plain = own_references.untried(stamp, original, original.forward, device)
    given = {each.name: getattr(plain, each.name) for each in fields(plain)} | {
        "name": entry,
        "entry": entry,
        "differentiates": True,
    }

    def look() -> BackwardTask:
        made = BackwardTask(**given, backward=Backward(plain.function, plain.requiring()))
        return replace(made, count=len(made.results_of(plain.plain_call(0, SEED, "cpu"), "cpu")))

    untried = on_shapes_or_values(look, device == "cpu")
    try:
        made = own_references.tried(untried, device)
    except InvalidTask as error:
        raise (error if error.__cause__ is None else refusal(untried, untried.code, error)) from error.__cause__
    if not may_be_tried(made, device):
        return made
    found = controls(made.backward, made.count, made.on("cpu").call(made.cases[0], AS_DRAWN, SEED))
    return replace(made, controls={name: anywhere(each, device) for name, each in found.items()})


# ---------------------------------------------------------------- controls


def controls(backward: Backward, count: int, call: Call) -> dict[str, Function]:
    """Classic mistakes of backward kernels, those that change the gradients of this call, which begins with ``count`` upstream ones."""
    found = mistakes(backward, list(call.args[:count]), Call(call.args[count:], call.kwargs))
    derived = {name: functools.partial(mistake, backward) for name, mistake in found.items()}
    return {name: backward.derived(count, compute) for name, compute in derived.items()}


def mistakes(backward: Backward, upstream: _Gradients, arguments: Call) -> dict[str, Mistake]:
    """Those that change the gradients of a call, by the names of controls."""
    right = backward.gradients(upstream, arguments)
    found: dict[str, Mistake] = {}
    for name, mistake in _mistakes():
        if name in found:
            continue
        wrong = mistake(backward, upstream, arguments)
        if any(_differ(wrong[place], right[place]) for place in _telling(right)):
            found[name] = mistake
    return found


def _telling(gradients: _Gradients) -> list[int]:
    """The places of those that are more than rounding."""
    sizes = [_wide(gradient).norm().item() for gradient in gradients]
    most = max((size for size in sizes if math.isfinite(size)), default=0.0)
    return [place for place, size in enumerate(sizes) if size and not size < _NOISE * most]


def _mistakes() -> list[tuple[str, Mistake]]:
    """By the name of the control; of several of one name the first that matters."""
    saved = [functools.partial(_saved_overwritten, place=place) for place in range(_SAVED)]
    return [
        ("negative_gradient_missing", _missing), ("negative_not_accumulated", _not_accumulated),
        ("negative_first_row_only", _first_row_only), ("negative_mean_over_rows", _mean_over_rows),
        *(("negative_saved_overwritten", each) for each in saved),
    ]  # fmt: skip


Mistake: TypeAlias = Callable[[Backward, _Gradients, Call], _Gradients]


def _differ(one: torch.Tensor, other: torch.Tensor) -> bool:
    one, other = _wide(one), _wide(other)
    return bool((one - other).norm() > _FAR * other.norm())


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _missing(backward: Backward, upstream: _Gradients, call: Call) -> _Gradients:
    """The last gradient of several that is not zero is."""
    found = backward.gradients(upstream, call)
    if len(found) > 1:
        last = max(_telling(found), default=0)
        found[last] = torch.zeros_like(found[last])
    return found


def _not_accumulated(backward: Backward, upstream: _Gradients, call: Call) -> _Gradients:
    """Of an argument that is used several times, one use counts."""

    def spoil(results: list[torch.Tensor], by: list[torch.Tensor]) -> None:
        ends = {torch.autograd.graph.get_gradient_edge(t).node for t in by}
        uses: dict[Any, list[tuple[Any, int]]] = {}
        for node in _nodes(results):
            for place, (following, _) in enumerate(node.next_functions):
                if following in ends:
                    uses.setdefault(following, []).append((node, place))
        for node, place in (use for each in uses.values() for use in each[1:]):
            node.register_hook(lambda given, _, place=place: (*given[:place], _zero(given[place]), *given[place + 1 :]))

    return backward.gradients(upstream, call, spoil)


def _zero(gradient: torch.Tensor | None) -> torch.Tensor | None:
    return None if gradient is None else torch.zeros_like(gradient)


def _nodes(results: list[torch.Tensor]) -> Iterator[Any]:
    seen: set[Any] = set()
    left: list[Any] = [torch.autograd.graph.get_gradient_edge(t).node for t in results]
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        left += [following for following, _ in node.next_functions]
        yield node


def _first_row_only(backward: Backward, upstream: _Gradients, call: Call) -> _Gradients:
    """A gradient that is a sum over rows, as that of a broadcast argument, has only what the first row adds to it."""
    return _of_rows(backward, upstream, call, lambda whole, first, rows: first)


def _mean_over_rows(backward: Backward, upstream: _Gradients, call: Call) -> _Gradients:
    """A gradient that is a sum over rows is their mean."""
    return _of_rows(backward, upstream, call, lambda whole, first, rows: whole / rows)


def _of_rows(
    backward: Backward,
    upstream: _Gradients,
    call: Call,
    wrong: Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor],
) -> _Gradients:
    whole, rows = backward.gradients(upstream, call), max(map(_rows, upstream))
    if rows == 1:
        return whole
    first = backward.gradients([_first_row(each) for each in upstream], call)
    pairs = zip(whole, first, strict=True)
    return [wrong(all_, one, rows) if bool(((one != 0) & (all_ != one)).any()) else all_ for all_, one in pairs]


def _rows(gradient: torch.Tensor) -> int:
    return next((size for size in gradient.shape if size > 1), 1)


def _first_row(gradient: torch.Tensor) -> torch.Tensor:
    """An upstream gradient that is zero beyond the first place of its first dimension with several."""
    dimension = next((d for d, size in enumerate(gradient.shape) if size > 1), None)
    if dimension is None:
        return gradient
    row = torch.zeros_like(gradient)
    row.select(dimension, 0).copy_(gradient.select(dimension, 0))
    return row


def _saved_overwritten(backward: Backward, upstream: _Gradients, call: Call, place: int) -> _Gradients:
    """One of the tensors that the forward has saved holds its values in reverse."""
    saved: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> tuple[bool, torch.Tensor]:
        saved.append(tensor.detach())
        return len(saved) == place + 1 and is_differentiable(tensor), saved[-1]

    def unpack(kept: tuple[bool, torch.Tensor]) -> torch.Tensor:
        overwritten, tensor = kept
        return tensor.flatten().flip(0).reshape(tensor.shape) if overwritten else tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        return backward.gradients(upstream, call)


MISTAKES = tuple(dict.fromkeys(name for name, _ in _mistakes()))
"""Names of the controls."""
