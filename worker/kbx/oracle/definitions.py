"""Tasks of imported definitions: an own reference, whose calls are a definition's workloads."""

from __future__ import annotations

import functools
import hashlib
import inspect
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from kbx.oracle import own_files, own_references, truth
from kbx.oracle.gradients import in_place_of
from kbx.oracle.original_models import check_sendable, drawn
from kbx.oracle.own_references import OwnFunctionTask
from kbx.oracle.own_variations import AS_DRAWN, SEED, may_be_tried
from kbx.oracle.task import Function, InvalidTask, Stamp
from kbx.suite import Call, Inputs
from kbx.suite.definitions import DefinitionRules
from kbx.suite.original import OwnFunction

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbx.suite.definitions import Definition, Workload

_Seen = TypeVar("_Seen")

ENTRY = "run"
"""What every definition calls its reference."""


@dataclass(frozen=True, eq=False)
class DefinedTask(OwnFunctionTask):
    """The task of a definition. ``inputs`` is the function that makes the inputs of a workload, where they are custom; else the
    reference."""

    definition: Definition = field(kw_only=True)

    @functools.cached_property
    def published_rule(self) -> DefinitionRules:
        return DefinitionRules(strides=self.contract.strides, definition=self.definition)

    def plain_call(self, number: int, seed: str, device: str | torch.device) -> Call:
        workload, seed = self.definition.workloads[number], f"{seed} {number}"
        if self.definition.custom is None:
            make = Inputs("float32", "standard", seed, device, fast=self.large)
            return self._stated(lambda: self.definition.call(workload, make))
        return self._custom_call(workload, seed, device)

    def _custom_call(self, workload: Workload, seed: str, device: str | torch.device) -> Call:
        sizes = self._stated(lambda: self.definition.sizes(workload))

        def made() -> Any:
            return self.inputs({**sizes, **workload.scalars}, torch.device(device))

        def meant(returned: object) -> tuple[Any, ...]:
            return self._stated(lambda: self.definition.ordered(workload, returned), self.inputs).args

        args = drawn(self, in_place_of(self.inputs, made), seed, device, meant)
        check_sendable(self.path, self.inputs.__code__.co_firstlineno, f"{self.inputs.__name__}()", list(args))
        return Call(tuple(args))

    def plain_calls(self, seed: str, device: str | torch.device) -> list[Call]:
        return [self.plain_call(number, seed, device) for number in range(len(self.definition.workloads))]

    def requiring(self) -> frozenset[str]:
        return frozenset()

    def check_results(self) -> None:
        """Raises InvalidTask where the reference's results are not as the definition says."""
        least = self.cases[0]
        call = self.call(least, AS_DRAWN, SEED)
        with torch.no_grad():
            results = self.run(f"{ENTRY}()", self.reference, *truth.copy_call(call).args)
        wrong = self.definition.mistaken(self.definition.workloads[least["inputs"].number], results)
        if wrong is not None:
            raise InvalidTask(wrong, self.path, self.function.__code__.co_firstlineno)

    def _stated(self, look: Callable[[], _Seen], of: Function | None = None) -> _Seen:
        """What ``look`` returns; raises InvalidTask where the definition does not allow it."""
        try:
            return look()
        except ValueError as error:
            said = f"{of.__name__}() {error}" if of else str(error)
            raise InvalidTask(said, self.path, of.__code__.co_firstlineno if of else None) from None


def task(stamp: Stamp, definition: Definition, names: dict[str, Any], device: str) -> DefinedTask:
    """The task of a file that has a definition and the names of its reference's code; raises InvalidTask where it is none, or does not
    run."""
    path = stamp[0]
    with open(path, encoding="utf-8-sig") as file:
        source = file.read()
    function = own_files.function(names, source, ENTRY, path)
    parameters = list(inspect.signature(function).parameters)
    if parameters != list(definition.inputs):
        text = (
            f"{ENTRY}() takes ({', '.join(parameters)}); the definition's inputs are ({', '.join(definition.inputs)})"
        )
        raise InvalidTask(text, path, function.__code__.co_firstlineno)
    inputs = own_files.function(names, source, definition.custom, path) if definition.custom else None
    original = OwnFunction(path, hashlib.sha256(source.encode()).hexdigest())
    plain = own_references.of_function(stamp, original, ENTRY, device, _reference(definition, function), inputs)
    given = {each.name: getattr(plain, each.name) for each in fields(plain)}
    made = own_references.completed_function(DefinedTask(**given, definition=_ordered(definition, path)), device)
    if may_be_tried(made, device):
        made.on("cpu").check_results()
    # Only outputs are asked for: a solution may write them elsewhere, or into the argument that the reference updates.
    return made.without(made.unjudged | frozenset(made.mutates))


def _ordered(definition: Definition, path: str) -> Definition:
    """The definition with its smallest workload first, which is tried and varied."""
    try:
        return replace(definition, workloads=sorted(definition.workloads, key=definition.nbytes))
    except ValueError as error:
        raise InvalidTask(str(error), path) from None


def _reference(definition: Definition, function: Function) -> Any:
    """The reference with results as candidates return them."""

    def reference(*args: Any, **kwargs: Any) -> Any:
        return definition.results(function(*args, **kwargs))

    return in_place_of(function, reference)
