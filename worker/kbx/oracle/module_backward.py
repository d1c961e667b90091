"""The backward task of a ``Model``, of ``kbx eval --reference FILE --backward`` and of task files.

A candidate is a ``ModelNew`` as for the forward, whose results can be differentiated: the runner differentiates them as is done here with
the reference's. So both are classes that take the gradients of the results, then what ``forward`` takes, and return gradients by name.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

from kbx.messages import Module
from kbx.oracle import fakes, original_models, own_references
from kbx.oracle.backward import (
    UPSTREAM,
    Backward,
    is_differentiable,
    mistakes,
    refusal,
    with_upstream,
    without_gradient,
)
from kbx.oracle.gradients import in_place_of
from kbx.oracle.models import STATE, ModelTask, unbound
from kbx.oracle.own_references import OwnModelTask, on_shapes_or_values
from kbx.oracle.own_variations import AS_DRAWN, SEED, Asked, may_be_tried
from kbx.oracle.task import Function, InvalidTask, Stamp
from kbx.suite import Call, Inputs
from kbx.suite.original import OwnModel
from kbx.suite.values import tensors

if TYPE_CHECKING:
    from kbx.oracle.backward import Mistake

_Form: TypeAlias = "tuple[tuple[int, ...], torch.dtype]"


@dataclass(frozen=True)
class Derived:
    """The gradients of a model's ``count`` results, by ``names``: of the tensors at ``positions`` among those that ``forward`` takes, then of
    the parameters that require one."""

    model: type[nn.Module]
    positions: tuple[int, ...]
    names: tuple[str, ...]
    count: int = 0

    def module(self, compute: Callable[[Backward, list[torch.Tensor], Call], list[torch.Tensor]]) -> type[nn.Module]:
        """A class that is constructed as the model is, and returns what ``compute`` says its gradients are."""

        def forward(model: nn.Module, *values: Any, **kwargs: Any) -> Any:
            upstream, call = list(values[: self.count]), Call(values[self.count :], kwargs)
            return dict(zip(self.names, compute(_OfModule(self, model), upstream, call), strict=True))

        made = in_place_of(self.model.forward, forward)
        usual = inspect.signature(self.model.forward)
        model, *parameters = usual.parameters.values()
        made.__signature__ = usual.replace(parameters=[model, *with_upstream(parameters, self.count)])  # type: ignore[attr-defined]
        return type(self.model.__name__, (self.model,), {"forward": made, "__module__": self.model.__module__})

    @property
    def gradients(self) -> type[nn.Module]:
        """The class that returns them."""
        return self.module(lambda backward, upstream, call: backward.gradients(upstream, call))


class _OfModule(Backward):
    """The gradients of an instance of a model."""

    complete = True

    def __init__(self, derived: Derived, model: nn.Module) -> None:
        super().__init__(cast("Function", functools.partial(derived.model.forward, model)), frozenset())
        self.positions, self.weights = derived.positions, [p for _, p in _weights(model)]

    def chosen(self, call: Call) -> set[int]:
        given = tensors([*call.args, *call.kwargs.values()])
        return {id(given[place]) for place in self.positions}


def _weights(model: nn.Module) -> list[tuple[str, nn.Parameter]]:
    return [(name, p) for name, p in model.named_parameters() if p.requires_grad]


@dataclass(frozen=True, eq=False)
class Differentiated(ModelTask):
    """``model`` returns gradients of the user's one, whose calls are given those of its results first."""

    derived: Derived = field(kw_only=True)
    forms: dict[object, list[_Form]] = field(default_factory=dict, kw_only=True)
    """Shapes and dtypes of the user's results, by those of the arguments."""

    def from_above(self, call: Call, make: Inputs, plain: Callable[[], Call]) -> Call:
        """A call after fresh gradients of its results. ``plain()`` is one of the same shapes on the CPU."""
        upstream = (make.floats(*shape, dtype=dtype) for shape, dtype in self._results(call, plain))
        return Call((*upstream, *call.args), call.kwargs)

    def _results(self, call: Call, plain: Callable[[], Call]) -> list[_Form]:
        given = tensors([*call.args, *call.kwargs.values()])
        key = self.cast, tuple((tuple(t.shape), t.dtype) for t in given)
        if key not in self.forms:
            shapes_alone = any(isinstance(t, FakeTensor) for t in given)
            found = (
                self._look(plain)
                if shapes_alone
                else on_shapes_or_values(lambda: self._look(plain), self.device == "cpu")
            )
            self.forms[key] = found
        return self.forms[key]

    def _look(self, plain: Callable[[], Call]) -> list[_Form]:
        found = results_of(self, self.derived, plain())
        if len(found) != self.derived.count:
            line = self.derived.model.forward.__code__.co_firstlineno
            text = f"forward() returns {len(found)} tensors that PyTorch can differentiate in one call, and {self.derived.count} in another"
            raise InvalidTask(text, self.path, line)
        return [(tuple(t.shape), t.dtype) for t in found]

    def module(self, seed: str) -> Module:
        asked, plain = self.derived, super().module(seed)
        assert plain is not None
        return plain | {
            "backward": {"results": asked.count, "positions": list(asked.positions), "names": list(asked.names)}
        }


@dataclass(frozen=True, eq=False)
class ModelBackwardTask(Differentiated, OwnModelTask):
    """Of a file that a user brings."""

    @property
    def called(self) -> type[nn.Module]:
        return self.derived.model

    def plain_call(self, number: int, seed: str, device: str | torch.device) -> Call:
        make = Inputs("float32", "standard", f"{seed} {UPSTREAM}", device, fast=self.large)
        call = super().plain_call(number, seed, device)
        return self.from_above(call, make, lambda: OwnModelTask.plain_call(self, 0, SEED, "cpu"))


def results_of(task: ModelTask, derived: Derived, call: Call) -> list[torch.Tensor]:
    """The results that can be differentiated; raises InvalidTask where there are none."""
    model, forward = _instance(task, derived.model), derived.model.forward
    try:
        found: list[torch.Tensor] = task.run("", _OfModule(derived, model).results, call)[0]
    except InvalidTask as error:
        if fakes.needs_values(error):
            raise
        _forward(task, model, call)  # raises what is wrong without gradients, too
        raise refusal(task, forward, error) from error.__cause__
    if not found:
        raise without_gradient(task, forward, _forward(task, model, call))
    return found


def _instance(task: ModelTask, kind: type[nn.Module]) -> nn.Module:
    if task.cast is None:
        return original_models.constructed(task, kind)
    with unset_fake_temporarily():  # the weights of others cannot be cast
        return task.construct(kind, 0).to(task.cast)


def _forward(task: ModelTask, model: nn.Module, call: Call) -> Any:
    with torch.no_grad():
        return task.run("forward()", model, *call.args, **call.kwargs)


def task(stamp: Stamp, original: OwnModel, device: str) -> ModelBackwardTask:
    """The backward task of the ``Model`` that a file has; raises InvalidTask where it is none, does not run, or has no gradient."""
    plain = own_references.untried_model(stamp, original, device)
    quick = device == "cpu"
    found = on_shapes_or_values(lambda: _derived(replace(plain, device="cpu")), quick)
    given = {each.name: getattr(plain, each.name) for each in fields(plain)}
    model = found.gradients
    given |= {"model": model, "reference": unbound(model), "differentiates": True, "derived": found}
    given["cases"] = [{"inputs": Asked(0, None, "")}]
    made = ModelBackwardTask(**given)
    try:
        tried = original_models.tried(replace(made, device="cpu"), quick)[0]
    except InvalidTask as error:
        if error.__cause__ is None:
            raise
        raise refusal(made, found.model.forward, error) from error.__cause__
    made = own_references.completed(replace(tried, device=device), device)
    if not may_be_tried(made, device):
        return made
    on_cpu = replace(made, device="cpu").seeded(SEED)
    return replace(made, rivals=rivals(made, on_cpu.call(made.cases[0], AS_DRAWN, SEED)))


def _derived(plain: OwnModelTask) -> Derived:
    return derived(plain, plain.plain_call(0, SEED, "cpu"), _requiring(plain))


def derived(plain: ModelTask, call: Call, asked: Collection[str]) -> Derived:
    """What is differentiated by what: by the inputs that are ``asked`` for, by all if none is."""
    model, named = original_models.constructed(plain, plain.model), plain.named_tensors(call)
    places = [i for i, (name, t) in enumerate(named) if is_differentiable(t) and (not asked or _of(name) in asked)]
    names = [named[i][0] for i in places] + [f"{STATE}.{name}" for name, _ in _weights(model)]
    made = Derived(plain.model, tuple(places), tuple(names))
    return replace(made, count=len(results_of(plain, made, call)))


def _of(name: str) -> str:
    return name.split("[")[0]


def _requiring(plain: OwnModelTask) -> set[str]:
    """Names of the arguments that ``get_inputs()`` makes with ``requires_grad``."""
    made = original_models.drawn(plain, plain.inputs, SEED, "cpu", place=lambda value, _: value)
    return {_of(name) for name, t in plain.named_tensors(Call(tuple(made))) if t.requires_grad}


def rivals(made: Differentiated, call: Call) -> dict[str, type[nn.Module]]:
    """Classic mistakes of backward kernels, those that change the gradients of a call on the CPU, as models."""
    bound, count = replace(made, device="cpu").seeded(SEED), made.derived.count
    backward = _OfModule(made.derived, bound.compilable)
    found: dict[str, Mistake] = mistakes(backward, list(call.args[:count]), Call(call.args[count:], call.kwargs))
    return {name: made.derived.module(mistake) for name, mistake in found.items()}
