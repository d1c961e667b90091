"""Task files: loading one, and saying plainly what is wrong with it."""

import ast
import contextlib
import functools
import inspect
import itertools
import os
import sys
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from kbx import tensors
from kbx.messages.oracle import Precision
from kbx.oracle import (
    backward,
    backward_files,
    definitions,
    envelope,
    faults,
    gradients,
    models,
    module_backward,
    namesakes,
    original_models,
    own_references,
    recording,
    suite_backward,
)
from kbx.oracle.task import OWN, Function, InvalidTask, Parameters, Stamp, Task, deepest_line, describe, shares
from kbx.suite import DISTRIBUTIONS, Contract
from kbx.suite.definitions import Definition
from kbx.suite.original import Original, OriginalModel, OwnFunction, OwnModel
from kbx.suite.values import articled

if TYPE_CHECKING:
    import torch

_Kind = TypeVar("_Kind")


_NUMBERS = itertools.count(1)

MIN_CASES, MIN_SIZES = 5, 4
"""Of a suite's task; one that a user made of a reference may have one of each."""
PRECISIONS: tuple[str, ...] = typing.get_args(Precision)
AROUND_ONE = ("standard", "uniform")
"""Distributions whose values have the size for which constant tolerances are meant."""
CONTROLS = (
    "zeros",
    "constant",
    "permuted",
    "corrupted_1pct",
    "lower_precision",
    "tail_missing",
    "wrong_shape",
    "wrong_dtype",
)
"""The automatic negative controls, which ``SKIP_CONTROLS`` may name."""


def load(path: str | os.PathLike[str], device: "str | torch.device" = "cpu") -> Task:
    """The task in a file, from memory if the file is unchanged; raises InvalidTask.

    An imported task's calls are recorded on ``device``; they must not be asked for on another.
    """
    path = os.fspath(path)  # torch.compile wants the names of source files to be text
    try:
        state = os.stat(path)
    except OSError as error:
        raise InvalidTask(f"cannot read the task file: {error.strerror}", path) from None
    task = _load((path, state.st_mtime_ns, state.st_size), str(device))
    task.check_unchanged()
    return task


@functools.lru_cache(maxsize=1024)
def published(task: Task) -> Task:
    """The task judged by the rule that its suite's authors publish, on values around one, for which their tolerances are made."""
    around_one = tuple(d for d in task.distributions if d in AROUND_ONE)
    contract = task.published_rule or task.contract
    return replace(task, contract=contract, distributions=around_one or task.distributions)


@functools.lru_cache(maxsize=1024)
def _load(stamp: Stamp, device: str) -> Task:
    path = stamp[0]
    module, lines = _execute(path, device)
    original = module.get("ORIGINAL")
    if isinstance(original, Original):
        return recording.task(stamp, original, module.get("ENTRY"), device)
    if isinstance(module.get("DEFINITION"), Definition):
        return definitions.task(stamp, module["DEFINITION"], module, device)
    if isinstance(original, OwnFunction):
        make = own_references.function_task if original.forward is None else backward.task
        return make(stamp, original, str(module.get("ENTRY")), device)
    if isinstance(original, OwnModel):
        make_model = module_backward.task if original.backward else own_references.model_task
        return make_model(stamp, original, device)
    if isinstance(original, OriginalModel):
        bundled = namesakes.file(original.file)
        return original_models.task(
            stamp, original, device, cast("models.ModelTask", load(bundled)) if bundled else None
        )
    stem = os.path.splitext(os.path.basename(path))[0]
    reader = _Reader(path, module, lines)
    derived = backward_files.MARK in module
    if suite_backward.MARK in module:
        suite_backward.check_forward(path, module.get(backward_files.MARK), gradients.computes_gradients(module))
    if "Model" in module:
        made_model = models.task(stamp, stem, module, reader, device)
        if not reader.asks_for_model(derived):
            return made_model
        return backward_files.model_task(made_model, device, of_suite=suite_backward.MARK in module)
    entry = reader.get("ENTRY", str, stem)
    reference, inputs = reader.function(reader.get(backward_files.MARK, str, entry)), reader.function("inputs")
    parameters = list(inspect.signature(reference).parameters)
    reader.check_statement()
    reader.get("DIFFICULTY", int)
    own = OWN in reader.get("TAGS", tuple)
    least = (1, 1) if own else (MIN_CASES, MIN_SIZES)
    contract = reader.get("CONTRACT", Contract)
    skippable = (*CONTROLS, *contract.controls(), *(backward.MISTAKES if derived else ()))
    reader.each("SKIP_CONTROLS", reader.get("SKIP_CONTROLS", dict, {}), skippable)
    sizes = reader.calls("SIZES", least[1], inputs)
    recorded = envelope.of_task(path)
    made = Task(
        path=path, stamp=stamp, name=stem, entry=entry, dtype=reader.dtype(),
        cases=reader.calls("CASES", least[0], inputs), sizes=sizes, shares=reader.shares(len(sizes)),
        contract=contract, reference=own_references.anywhere(reference, device) if own else reference,
        inputs=own_references.anywhere(inputs, device) if own else inputs,
        distributions=reader.each("DISTRIBUTIONS", reader.get("DISTRIBUTIONS", tuple, DISTRIBUTIONS), DISTRIBUTIONS),
        mutates=reader.each("MUTATES", reader.get("MUTATES", tuple, ()), parameters),
        skip_controls=reader.get("SKIP_CONTROLS", dict, {}), controls={} if derived else reader.controls(parameters),
        tags=reader.get("TAGS", tuple), envelope=recorded, promised=reader.get("PROMISED", tuple, ()),
        magnitudes=reader.magnitudes(), unpublished=recorded is None and not own, products=reader.products(),
    )  # fmt: skip
    if derived:
        return backward_files.function_task(made, reader, device)
    if not gradients.computes_gradients(module):
        return made
    return gradients.computing(made)


def _execute(path: str, device: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Runs the file as a module of its own; returns its names and the line where each is defined."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            source = file.read()
        tree = ast.parse(source, path)
        if "ORIGINAL" in _targets(tree):
            # The entry is the original's; the def lines here are for those who read it without running Python.
            tree.body = [s for s in tree.body if not isinstance(s, (ast.FunctionDef, ast.ClassDef))]
        # Compilers of PyTorch look for the module of a function by its name, and remember what they find.
        module = types.ModuleType(f"kbx_task_{next(_NUMBERS)}")
        module.__file__ = path
        sys.modules[module.__name__] = module
        with recording.surroundings(device) if _is_own(tree) else contextlib.nullcontext():
            exec(compile(tree, path, "exec"), module.__dict__)
    except SyntaxError as error:
        raise InvalidTask(f"not valid Python: {error.msg}", path, error.lineno) from None
    except (OSError, ValueError) as error:
        raise InvalidTask(f"cannot read the task file: {error}", path) from None
    except Exception as error:
        if faults.of_device(error):
            raise
        text = f"importing the file raised {type(error).__name__}: {error}"
        raise InvalidTask(text, path, deepest_line(error, path)) from error
    return module.__dict__, _targets(tree)


def _is_own(tree: ast.Module) -> bool:
    """Whether the file was made of a user's reference, which may name a GPU that is not there."""
    tags = [s.value for s in tree.body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "TAGS"]
    return any(isinstance(each, ast.Constant) and each.value == OWN for value in tags for each in ast.walk(value))


def _targets(tree: ast.Module) -> dict[str, int]:
    """Names that the module assigns, with the line."""
    targets = [(t, s.lineno) for s in tree.body if isinstance(s, ast.Assign) for t in s.targets]
    return {t.id: line for t, line in targets if isinstance(t, ast.Name)}


class _Reader:
    """Takes the parts of a task out of its module and complains with a line."""

    def __init__(self, path: str, module: dict[str, Any], lines: dict[str, int]) -> None:
        self.path, self.module, self.lines = path, module, lines

    def fail(self, name: str, text: str) -> NoReturn:
        raise InvalidTask(f"{name} {text}", self.path, self.lines.get(name))

    def check_statement(self) -> None:
        if not (self.module.get("__doc__") or "").strip():
            raise InvalidTask("the file must begin with the statement, a docstring", self.path, 1)

    def get(self, name: str, kind: type[_Kind], default: _Kind | None = None) -> _Kind:
        value = self.module.get(name, default)
        if value is None:
            self.fail(name, "is missing")
        if not isinstance(value, kind):
            self.fail(name, f"must be {articled(kind.__name__)}, not {articled(type(value).__name__)}")
        return value

    def each(self, name: str, values: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
        unknown = [v for v in values if v not in allowed]
        if unknown:
            self.fail(name, f"names {unknown[0]!r}, which is none of {', '.join(allowed)}")
        return tuple(values)

    def dtype(self) -> str:
        name = self.get("DTYPE", str)
        if name not in tensors.DTYPES:
            self.fail("DTYPE", f"is {name!r}, which is none of {', '.join(tensors.DTYPES)}")
        return name

    def magnitudes(self) -> tuple[int, ...]:
        powers = self.get("MAGNITUDES", tuple, ())
        if not all(type(power) is int and power for power in powers) or len({power > 0 for power in powers}) < len(
            powers
        ):
            self.fail("MAGNITUDES", f"is {powers!r}, not a negative and a positive power of two, or one of them")
        return powers

    def calls(self, name: str, least: int, inputs: Callable[..., Any]) -> list[Parameters]:
        entries = self.get(name, list)
        if len(entries) < least:
            self.fail(name, f"has {len(entries)} entries, at least {least} are needed")
        for entry in entries:
            if not isinstance(entry, dict):
                self.fail(name, f"must hold dicts, not {entry!r}")
            try:
                inspect.signature(inputs).bind(None, **entry)
            except TypeError as error:
                self.fail(name, f"holds {describe(entry)}, which inputs() does not take: {error}")
        return entries

    def shares(self, sizes: int) -> tuple[float, ...]:
        if "WEIGHTS" not in self.module:
            return ()
        try:
            return shares(self.module["WEIGHTS"], sizes)
        except ValueError as error:
            self.fail("WEIGHTS", str(error))

    def products(self) -> Precision | None:
        name = self.get("PRODUCTS", str, "")
        if name and name not in PRECISIONS:
            self.fail("PRODUCTS", f"must be one of {', '.join(PRECISIONS)}")
        return cast("Precision", name) if name else None

    def function(self, name: str) -> types.FunctionType:
        function = self.module.get(name)
        if not isinstance(function, types.FunctionType):
            self.fail(name, "is missing: the file must define a function of this name")
        return function

    def asks_for_model(self, derived: bool) -> bool:
        """Whether the file asks for the gradients of its ``Model``."""
        if derived and self.get(backward_files.MARK, str) != "Model":
            self.fail(
                backward_files.MARK, f"is {self.module[backward_files.MARK]!r}: of a file with Model it is 'Model'"
            )
        return derived

    def check_stub(self, name: str, parameters: list[str]) -> None:
        """Raises InvalidTask unless a function that is only there to be read has these parameters."""
        stub = self.function(name)
        found = list(inspect.signature(stub).parameters)
        if found != parameters:
            text = f"{name}() takes ({', '.join(found)}), and what {backward_files.MARK} makes of it ({', '.join(parameters)})"
            raise InvalidTask(text, self.path, stub.__code__.co_firstlineno)

    def controls(self, parameters: list[str]) -> dict[str, Function]:
        found: dict[str, Function] = {}
        for name, function in self.module.items():
            if name.startswith(("positive_", "negative_")) and isinstance(function, types.FunctionType):
                own = list(inspect.signature(function).parameters)
                if own[: len(parameters)] != parameters:
                    text = f"{name}() takes ({', '.join(own)}), the reference ({', '.join(parameters)})"
                    raise InvalidTask(text, self.path, function.__code__.co_firstlineno)
                found[name] = function
        return found
