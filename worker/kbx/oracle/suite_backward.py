"""The forward of a suite's task as that whose gradients are judged, of a file that says in ``DERIVED_FROM`` which task it was made of:
``--backward`` writes such files.

A task's file is written about its result. What is of no use for gradients is left out here: ``out`` and ``inplace``, cases without a
gradient, values at which functions have none, and what the contract and the controls say of the result.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeAlias, TypeVar

import torch

from kbx.oracle import fakes
from kbx.oracle.backward import Backward, is_differentiable
from kbx.oracle.gradients import graph_noted, in_place_of
from kbx.oracle.models import ModelTask
from kbx.oracle.own_variations import SEED
from kbx.oracle.task import Function, InvalidTask, Parameters, Task, named_tensors, signature
from kbx.oracle.truth import argument_tensors, copy_call
from kbx.suite import Call, Close, Contract, Inputs, Property, Schemes, errors, notation
from kbx.suite.contracts import Kept
from kbx.suite.values import leaves, tensors, transform, wide

MARK = "DERIVED_FROM"
"""The constant of a file that names the task, as ``Category/name``."""
PLACES = ("out", "inplace")
"""Parameters, if they have a default, that say where a result is to be written: PyTorch differentiates no such call."""
GROWTH = 8.0
"""Of the tolerance, as for a user's own reference: nobody has looked at honest kernels."""
WITHOUT = frozenset({"zeros"})
"""Distributions that are not drawn from: at 0 many functions have no gradient, and PyTorch's choice is one of several."""
_SAID, _NEAR = 160, 1e-3
_ZERO = 1e-12
"""Of a float64 gradient, relative to the upstream ones: what is less is rounding."""
_NO_GRAPH = "the result is in no graph"
_AnyTask = TypeVar("_AnyTask", bound=Task)
_Turn: TypeAlias = Callable[[torch.Tensor], torch.Tensor]


class NoGradient(InvalidTask):
    """The task has no gradient to be judged; the message is ``kind: why``."""


@dataclass(frozen=True)
class _Gradients(Close):
    """``scale`` counts for gradients that are zero but for rounding in float64: of a row of one element that is normalized, say, float32
    leaves something of the upstream one."""

    def _leaf(
        self, path: str, got: Any, want: Any, true: Any, other: Any, scale: Any, kept: Kept, key: object
    ) -> errors.Comparison:
        left = scale if isinstance(true, torch.Tensor) and bool((true.abs() <= _ZERO * scale).all()) else None
        return super()._leaf(path, got, want, true, other, left, kept, key)


def contract(of_result: Contract, count: int) -> Contract:
    """The contract of the gradients, of calls that begin with ``count`` upstream ones."""
    tf32 = isinstance(of_result, Close) and of_result.tf32
    return _Gradients(scale=functools.partial(_upstream_size, count), growth=GROWTH, tf32=tf32)


def _upstream_size(count: int, *args: Any, **_: Any) -> float:
    """The largest root mean square of the first arguments."""
    squares = [wide(t).abs().square().mean().item() for t in tensors(list(args[:count])) if t.numel()]
    return math.sqrt(max(squares, default=0.0))


def forward(plain: Task) -> tuple[Task, Backward, int]:
    """The task of a forward as one of gradients has it, and the gradients of how many results. Raises NoGradient."""
    check_contract(plain)
    made = replace(
        _prepared(plain), reference=_without_places(plain.reference), inputs=_inputs(plain), mutates=(), magnitudes=(),
        distributions=tuple(d for d in plain.distributions if d not in WITHOUT) or plain.distributions,
    )  # fmt: skip
    _check_levels(made)
    _check_unique(plain, made)
    refused: InvalidTask | None = None
    for asked in _asked(made, frozenset(plain.mutates)):
        tried = _Tried(made, asked)
        try:
            made = tried.task()
            return replace(made, contract=contract(plain.contract, tried.count)), tried.backward, tried.count
        except InvalidTask as error:
            if refused is None or _NO_GRAPH not in error.message:
                refused = error  # what is left when nothing is updated tells more
    assert refused is not None
    raise refused


def model(plain: ModelTask) -> ModelTask:
    """The task of a ``Model`` as one of gradients has it; its contract is still the result's. Raises NoGradient."""
    check_contract(plain)
    return replace(_prepared(plain), rivals={})


def _prepared(plain: _AnyTask) -> _AnyTask:
    return replace(plain, controls={}, skip_controls={}, unpublished=True)


def check_contract(plain: Task) -> None:
    """Raises NoGradient where what is judged is not a function of the arguments, or a step function."""
    if plain.contract.random:
        _refuse(plain, "random", "the result is drawn")
    if isinstance(plain.contract, Schemes):
        _refuse(plain, "quantized", "the result is made of rounded levels")


def _check_levels(made: Task) -> None:
    """Raises NoGradient where the first case returns numbers of 8 bits, or is given floating-point ones: beside these only scales would have
    a gradient."""
    call = _example(made, made.cases[0])
    mine = copy_call(call)
    with torch.no_grad():
        returned = made.run(f"{made.entry}()", made.reference, *mine.args, **mine.kwargs)
    results, given = tensors([returned]), tensors([*call.args, *call.kwargs.values()])
    levels = [t for t in results if t.element_size() == 1 and t.dtype != torch.bool]
    levels += [t for t in given if t.element_size() == 1 and t.is_floating_point()]
    if levels and any(t.is_floating_point() for t in results):
        _refuse(
            made, "quantized", f"of levels, as {notation.shown(Call((levels[0],)))}, only the scales would have one"
        )


def check_zero(task: Task, gradients: list[torch.Tensor]) -> None:
    """Raises NoGradient where gradients of some calls are all zero."""
    if gradients and not any(bool(t.any()) for t in gradients):
        _refuse(task, "zero", "the gradient is zero wherever there is one")


def check_forward(path: str, forward: object, computes_gradients: bool) -> None:
    """Raises NoGradient where the task is one of gradients itself: who asks for a backward does not mean that of one."""
    if computes_gradients or str(forward).endswith("_backward"):
        raise NoGradient("no gradient to judge (of gradients): the result is a gradient itself", path)


def explain(task: Task, returned: Any, error: InvalidTask | None) -> NoReturn:
    """Raises NoGradient for a call whose gradients raise ``error``, or None if there are none."""
    found = [leaf for _, leaf in leaves(returned)]
    if not any(isinstance(leaf, torch.Tensor) and is_differentiable(leaf) for leaf in found):
        _refuse(task, "integer result", f"the result is {', '.join(notation.shown(Call((leaf,))) for leaf in found)}")
    if error is None:
        _refuse(task, "PyTorch has none", _NO_GRAPH)
    text = " ".join(str(error.__cause__ or error.message).split())[:_SAID].rstrip(".")
    if "in-place" in text:
        _refuse(task, "in place", "the result is written into an argument")
    _refuse(task, "PyTorch has none", text)


def _refuse(task: Task, kind: str, why: str) -> NoReturn:
    raise NoGradient(f"no gradient to judge ({kind}): {why}", task.path, task.reference.__code__.co_firstlineno)


# ---------------------------------------------------------------- calls


def _without_places(function: Function) -> Function:
    """The function without the parameters that say where a result is to be written."""
    usual = signature(function)

    def plain(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    made = in_place_of(function, plain)
    kept = [p for name, p in usual.parameters.items() if name not in _places(function)]
    made.__signature__ = usual.replace(parameters=kept)  # type: ignore[attr-defined]  # which inspect.signature looks for
    return made


def _inputs(plain: Task) -> Function:
    """``inputs`` of calls without these."""

    def inputs(make: Inputs, **parameters: Any) -> Any:
        call = plain.inputs(make, **parameters)
        return _elsewhere(plain.reference, call) if isinstance(call, Call) else call

    return in_place_of(plain.inputs, inputs)


def _elsewhere(function: Function, call: Call) -> Call:
    """The call without these; what follows one of them is named."""
    names, left_out = list(signature(function).parameters), _places(function)
    place = next((i for i, name in enumerate(names[: len(call.args)]) if name in left_out), len(call.args))
    named = dict(zip(names[place:], call.args[place:], strict=False)) | call.kwargs
    return Call(call.args[:place], {name: value for name, value in named.items() if name not in left_out})


def _places(function: Function) -> set[str]:
    parameters = signature(function).parameters
    return {name for name in PLACES if name in parameters and parameters[name].default is not inspect.Parameter.empty}


def _asked(made: Task, mutated: frozenset[str]) -> Iterator[frozenset[str]]:
    """What to differentiate by: all arguments, then those that the task does not update."""
    yield frozenset()
    if mutated:
        call = _example(made, made.cases[0])
        yield frozenset(name.split("[")[0] for name, _ in named_tensors(made.reference, call)) - mutated


def _example(task: Task, case: Parameters) -> Call:
    return task.call(case, task.distributions[0], SEED)


class _Tried:
    """The gradients of a task's cases by the arguments ``asked`` for."""

    def __init__(self, made: Task, asked: frozenset[str]) -> None:
        self.made, self.backward = made, Backward(made.reference, asked)
        self.count = 0
        """Results that can be differentiated; 0 while no case has one."""
        self.gradients: list[torch.Tensor] = []

    def task(self) -> Task:
        """The task of the cases and sizes that have gradients; raises NoGradient where there are none."""
        first: InvalidTask | None = None
        kept = []
        for case in self.made.cases:
            try:
                if self._counts(self._differentiated(_example(self.made, case))):
                    kept.append(case)
            except InvalidTask as error:
                first = first or error
        if not kept:
            assert first is not None
            raise first
        check_zero(self.made, self.gradients)
        sizes = [i for i, size in enumerate(self.made.sizes) if self._fits(size)]
        if not sizes:
            _refuse(self.made, "in place", "no size has a gradient")
        weights = [self.made.shares[i] for i in sizes] if self.made.shares else []
        return replace(
            self.made, cases=kept, sizes=[self.made.sizes[i] for i in sizes],
            shares=tuple(weight / sum(weights) for weight in weights),
        )  # fmt: skip

    def _counts(self, results: int) -> bool:
        """Whether a case has as many results as the first one."""
        self.count = self.count or results
        return results == self.count

    def _differentiated(self, call: Call) -> int:
        """How many results of a call can be differentiated; raises NoGradient where none can."""
        mine = copy_call(call)
        try:
            results = self.made.run("", self.backward.results, mine)[0]
            upstream = [torch.ones_like(t) for t in results]
            found = self.made.run("", self.backward.gradients, upstream, copy_call(call)) if results else []
        except InvalidTask as error:
            explain(self.made, self._returned(call), error)
        if not found:
            explain(self.made, self._returned(call), None)
        if not all(map(_equal, argument_tensors(mine), argument_tensors(call))):
            _refuse(self.made, "in place", "an argument that it is differentiated by is changed")
        if self.backward.asked and self._updates(call):
            _refuse(self.made, "in place", "the result is written into an argument")
        self.gradients += [t.detach() for t in found]
        return len(results)

    def _updates(self, call: Call) -> bool:
        """Whether other arguments are in a graph after a call."""
        made, mine = self.made, copy_call(call)
        named = named_tensors(made.reference, mine)
        by = [t for name, t in named if name.split("[")[0] in self.backward.asked and is_differentiable(t)]
        for tensor in by:
            tensor.requires_grad_()
        with graph_noted():
            made.run("", made.reference, *mine.args, **mine.kwargs)
        return any(t.requires_grad for _, t in named if not any(t is each for each in by))

    def _returned(self, call: Call) -> Any:
        """What a call returns without gradients; raises InvalidTask where it does not run at all."""
        made, mine = self.made, copy_call(call)
        with torch.no_grad():
            return made.run(f"{made.entry}()", made.reference, *mine.args, **mine.kwargs)

    def _fits(self, size: Parameters) -> bool:
        """Whether a size has as many results, as far as shapes tell."""
        with fakes.fake_tensors():
            try:
                call = _example(self.made, size)
                return len(self.made.run("", self.backward.results, call)[0]) == self.count
            except InvalidTask as error:
                return fakes.needs_values(error)


# ---------------------------------------------------------------- answers that are not unique


def _check_unique(plain: Task, made: Task) -> None:
    """Raises NoGradient where the contract takes another answer, whose gradient is another: with a column or a row of opposite sign."""
    if not isinstance(plain.contract, Property):
        return
    for case in plain.cases:
        call = plain.call(case, plain.distributions[0], SEED)
        known = copy_call(call)
        with torch.no_grad():
            expected = plain.run("the reference", plain.reference, *known.args, **known.kwargs)
        for other in _others(expected):
            if _near(other, expected):
                continue
            if plain.contract.compare(call, [other], expected, expected).right:
                _refuse(plain, "not unique", "the contract takes other answers as well, whose gradients differ")


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(((one == other) | ((one != one) & (other != other))).all())


def _others(answer: Any) -> Iterator[Any]:
    """The answer with the first column or row of some of its matrices, or some of its matrices, of opposite sign."""
    count = sum(_may_turn(leaf) for _, leaf in leaves(answer))
    ways: tuple[_Turn, ...] = (_same, _column, _row, torch.neg)
    for turns in itertools.product(ways, repeat=min(count, 3)):
        if all(turn is _same for turn in turns):
            continue
        yield _turned(answer, iter(turns))


def _turned(answer: Any, turns: Iterator[_Turn]) -> Any:
    return transform(answer, lambda leaf: next(turns, _same)(leaf) if _may_turn(leaf) else leaf)


def _near(one: Any, other: Any) -> bool:
    pairs = zip(tensors(one), tensors(other), strict=True)
    return all(torch.allclose(a, b, rtol=_NEAR, atol=_NEAR, equal_nan=True) for a, b in pairs)


def _may_turn(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and is_differentiable(leaf) and leaf.dim() > 1 and bool(leaf.any())


def _same(matrix: torch.Tensor) -> torch.Tensor:
    return matrix


def _column(matrix: torch.Tensor) -> torch.Tensor:
    turned = matrix.clone()
    turned[..., 0].neg_()
    return turned


def _row(matrix: torch.Tensor) -> torch.Tensor:
    turned = matrix.clone()
    turned[..., 0, :].neg_()
    return turned
