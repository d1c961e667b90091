"""Backward tasks of task files: one that names its forward in ``FORWARD``, a function or ``Model``, as ``kbx tasks new --backward`` writes it.

Everything else in such a file says what it says of the forward: ``inputs`` makes the forward's arguments, to which the gradients of its results
are added here. The entry's definition holds no code, since the derived function takes its place.
"""

from __future__ import annotations

import contextlib
import inspect
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import torch

from kbx.oracle import suite_backward
from kbx.oracle.backward import Backward, BackwardTask, controls, results_of
from kbx.oracle.gradients import in_place_of
from kbx.oracle.models import ModelTask, unbound
from kbx.oracle.module_backward import Derived, Differentiated, derived, rivals
from kbx.oracle.original_models import MOST_BYTES
from kbx.oracle.own_references import anywhere, on_shapes_or_values
from kbx.oracle.own_variations import SEED
from kbx.oracle.recording import surroundings
from kbx.oracle.task import OWN, Function, InvalidTask, Parameters, Task, named_tensors, signature, without_gradients
from kbx.oracle.truth import argument_tensors
from kbx.suite import Call, Inputs
from kbx.suite.drawn import varied
from kbx.suite.inputs import PUBLISHED
from kbx.suite.values import tensors

if TYPE_CHECKING:
    from kbx.oracle.taskfile import _Reader

MARK = "FORWARD"
"""The constant of a file that names the forward."""


@dataclass(frozen=True, eq=False)
class FunctionFileTask(Task):
    """Calls are those of ``forward`` after ``count`` upstream gradients."""

    forward: Function = field(kw_only=True)
    count: int = field(kw_only=True)
    by: frozenset[str] = field(kw_only=True)
    """Arguments that it is differentiated by; empty for all that can be."""

    def bound(self, call: Call) -> inspect.BoundArguments:
        """Of the forward: its arguments are what published tests pass."""
        return signature(self.forward).bind(*call.args[self.count :], **call.kwargs)


def upstream(task: Task) -> list[str]:
    """Names of the parameters of a ``NAME_backward`` that are gradients of results; empty for other tasks."""
    if not isinstance(task, (BackwardTask, FunctionFileTask)):
        return []
    return list(signature(task.reference).parameters)[: task.count]


def function_task(plain: Task, reader: _Reader, device: str) -> Task:
    """The backward task of a file; ``plain`` is that of its forward, without controls. Raises InvalidTask where there is no gradient, or the
    definition of the entry has other parameters."""
    forward = reader.function(reader.get(MARK, str))

    def look() -> tuple[Backward, int]:
        call = _example(plain)
        found = Backward(forward, _requiring(named_tensors(forward, call)))
        return found, len(results_of(plain, found, call, "cpu"))

    if suite_backward.MARK in reader.module:
        return _of_function(*suite_backward.forward(plain), {}, device)
    backward, count = on_shapes_or_values(look, device == "cpu")
    made = backward.derived(count)
    parameters = list(inspect.signature(made).parameters)
    reader.check_stub(plain.entry, parameters)
    made.__name__ = plain.entry
    reader.module[plain.entry] = made  # which the file's own controls may call
    return _of_function(plain, backward, count, reader.controls(parameters), device)


def _of_function(
    plain: Task, backward: Backward, count: int, own: dict[str, Function], device: str
) -> FunctionFileTask:
    """The task of the ``count`` gradients of a function, with the file's ``own`` controls."""

    def placed(function: Function) -> Function:
        return anywhere(function, device) if OWN in plain.tags else function

    made = backward.derived(count)
    made.__name__ = plain.entry
    given = {each.name: getattr(plain, each.name) for each in fields(plain)} | {
        "reference": placed(made),
        "inputs": _with_upstream(plain, backward, count),
        "differentiates": True,
    }
    task = FunctionFileTask(**given, forward=backward.forward, count=count, by=backward.asked)
    call = _small_example(task, device == "cpu")
    found = {} if call is None else controls(backward, count, call)
    return replace(task, controls={name: placed(each) for name, each in (found | own).items()})


def _with_upstream(plain: Task, backward: Backward, count: int) -> Function:
    """``inputs`` of the forward's arguments as one of the entry's."""
    given = plain.inputs

    def inputs(make: Inputs, **parameters: Any) -> Any:
        call = given(make, **parameters)
        if not isinstance(call, Call):
            return call
        with surroundings(make.device) if OWN in plain.tags else contextlib.nullcontext():
            results = backward.results(call)[0]
        if len(results) != count:
            text = f"{backward.forward.__name__}() returns {len(results)} tensors that PyTorch can differentiate, and {count} in the first case"
            raise ValueError(text)
        upstream = Call(tuple(make.floats(*t.shape, dtype=t.dtype) for t in results))
        variation = parameters.get("variation")
        if variation is not None:
            upstream = varied(upstream, variation, make) or upstream
        call = without_gradients(call)
        return Call((*upstream.args, *call.args), call.kwargs)

    return in_place_of(given, inputs)


def _requiring(named: list[tuple[str, torch.Tensor]]) -> frozenset[str]:
    """Names of the arguments that ``inputs`` makes with ``requires_grad``."""
    return frozenset(name.split("[")[0] for name, t in named if t.requires_grad)


def _example(task: Task) -> Call:
    return task.call(task.cases[0], task.distributions[0], SEED)


def _small_example(task: Task, quick: bool) -> Call | None:
    """An example on values; None where it is large, as one for a GPU may be."""
    call = on_shapes_or_values(lambda: _example(task), quick)
    nbytes = sum(t.numel() * t.element_size() for t in argument_tensors(call))
    return _example(task) if nbytes <= MOST_BYTES else None


# ---------------------------------------------------------------- of a Model


@dataclass(frozen=True, eq=False)
class ModelFileTask(Differentiated, ModelTask):
    """``of_forward`` is the task of the file's ``Model``, bound to no weights and never cast."""

    of_forward: ModelTask = field(kw_only=True)

    def call(
        self,
        parameters: Parameters,
        distribution: str,
        seed: str,
        device: str | torch.device = "cpu",
        fast: bool = False,
    ) -> Call:
        def given(device: str | torch.device, seed: str = SEED) -> Call:
            return self.as_cast(without_gradients(self.of_forward.call(parameters, distribution, seed, device, fast)))

        values = "standard" if distribution == PUBLISHED else distribution
        make = Inputs("float32", values, f"{seed} {MARK}", device, fast or self.large)
        return self.from_above(given(device, seed), make, lambda: given("cpu"))

    def weights_seed(self, seed: str) -> int:  # type: ignore[override]  # which remembers them; usable() wants a model of the file
        return self.of_forward.weights_seed(seed)


def _returned(plain: ModelTask) -> Any:
    """What a ``Model`` returns on the CPU."""
    bound = replace(plain, device="cpu").seeded(SEED)
    call = _example(bound)
    with torch.no_grad():
        return bound.run("forward()", bound.reference, *call.args, **call.kwargs)


def model_task(plain: ModelTask, device: str, of_suite: bool = False) -> ModelFileTask:
    """The backward task of a file with ``Model``, whose task is ``plain``. Raises InvalidTask where there is no gradient."""
    quick = device == "cpu"
    if of_suite:
        plain = suite_backward.model(plain)

    def look() -> Derived:
        call = _example(plain)
        return derived(plain, without_gradients(call), _requiring(plain.named_tensors(call)))

    try:
        found = on_shapes_or_values(look, quick)
    except InvalidTask as error:
        if of_suite:
            suite_backward.explain(plain, _returned(plain), error)
        raise
    given = {each.name: getattr(plain, each.name) for each in fields(plain)}
    model = found.gradients
    given |= {"model": model, "reference": unbound(model), "differentiates": True}
    if of_suite:
        given["contract"] = suite_backward.contract(plain.contract, found.count)
    given["rivals"] = {name: replace(found, model=kind).gradients for name, kind in plain.rivals.items()}
    made = ModelFileTask(**given, derived=found, of_forward=plain)
    call = _small_example(made, quick)
    if call is None:
        return made
    if of_suite:
        suite_backward.check_zero(made, tensors(made.seeded(SEED).reference(*call.args, **call.kwargs)))
    return replace(made, rivals=rivals(made, call) | made.rivals)
