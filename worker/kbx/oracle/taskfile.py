"""Task files: loading one, and saying plainly what is wrong with it."""

import ast
import functools
import inspect
import itertools
import os
import sys
import traceback
import types
import weakref
from dataclasses import dataclass, replace

import torch

from kbx import tensors
from kbx.oracle import faults
from kbx.suite import DISTRIBUTIONS, Call, Contract, Inputs
from kbx.suite.original import TOLERANCES, Original, OriginalModel, by_published_tolerances
from kbx.suite.values import leaves

_NUMBERS = itertools.count(1)

MIN_CASES, MIN_SIZES = 5, 4
AROUND_ONE = ("standard", "uniform")
"""Distributions whose values have the size for which constant tolerances are meant."""
ROUNDS = 3
"""Times that each case is called, every time with fresh values of another distribution."""
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


class InvalidTask(Exception):
    """The task file is wrong; ``line`` is the line to look at, where one is known."""

    def __init__(self, message, file, line=None):
        super().__init__(message)
        self.message, self.file, self.line = message, file, line


class TooLarge(Exception):
    """This device cannot judge the task in any useful time."""


@dataclass(frozen=True, eq=False)
class Task:
    """A task file that was checked. ``stamp`` changes whenever the file does."""

    path: str
    stamp: tuple
    name: str
    entry: str
    dtype: str
    cases: list
    sizes: list
    contract: Contract
    reference: types.FunctionType
    inputs: types.FunctionType
    distributions: tuple
    mutates: tuple
    skip_controls: dict
    controls: dict
    """``positive_*`` and ``negative_*`` functions by name."""
    rounds: int = ROUNDS
    note: str = ""
    """What whoever verifies the task should know of it."""

    scaled = False
    """Whether the calls are smaller than what the task is about."""
    large = False
    """Whether calls may have gigabytes: their values are drawn on the device, and checking them takes what room there is."""
    tolerances = TOLERANCES
    """The constant ones that its suite's authors publish, by dtype."""
    widens = True
    """Whether the reference must run in float64; where one need not and does not, its own result is the truth."""

    @property
    def entries(self):
        """Names under which a candidate may define the entry, best first."""
        return list(dict.fromkeys((self.entry, "kernel_function")))

    def call(self, parameters, distribution, seed, device="cpu", fast=False):
        """The arguments of one call from an entry of ``CASES`` or ``SIZES``; raises InvalidTask."""
        make = Inputs(self.dtype, distribution, seed, device, fast or self.large)
        made = self.run(f"inputs(make, {describe(parameters)})", self.inputs, make, **parameters)
        line = self.inputs.__code__.co_firstlineno
        if not isinstance(made, Call):
            raise InvalidTask(f"inputs() must return call(...), not {type(made).__name__}", self.path, line)
        try:
            signature(self.reference).bind(*made.args, **made.kwargs)
        except TypeError as error:
            text = f"inputs(make, {describe(parameters)}) does not fit {self.entry}(): {error}"
            raise InvalidTask(text, self.path, line) from None
        for path, leaf in leaves([*made.args, *made.kwargs.values()], "argument"):
            tree = {} if isinstance(leaf, torch.Tensor) else tensors.encode(leaf, None)
            if tree.get("t") == "opaque":
                raise InvalidTask(f"{path} is a {tree['v']}, which no call can carry", self.path, line)
        return made

    def spoken(self, call, turn):
        """The call as it is made on its ``turn``: every other time, keyword arguments that equal their defaults are left out."""
        defaults = {name: p.default for name, p in signature(self.reference).parameters.items()}
        if turn % 2 == 0:
            return call
        return Call(
            call.args, {k: v for k, v in call.kwargs.items() if not _same(v, defaults.get(k, inspect.Parameter.empty))}
        )

    def run(self, what, function, *args, **kwargs):
        """Runs a function of the task file; what it raises becomes an InvalidTask with its deepest line in the file. Not so
        what is the device's fault: candidates may have filled it."""
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if faults.of_device(error):
                raise
            text = f"{what} raised {type(error).__name__}: {error}"
            raise InvalidTask(text, self.path, deepest_line(error, self.path)) from error

    def named_tensors(self, call):
        """``(path, tensor)`` of every tensor argument in order of appearance; paths read ``param`` or ``params[0]``."""
        return named_tensors(self.reference, call)

    def seeded(self, seed):
        """The task with everything of the reference's own that is random, as weights are."""
        return self

    @property
    def compilable(self):
        """What ``torch.compile`` is to make the reference of."""
        return self.reference

    @property
    def constants(self):
        """Tensors that the reference reads besides its arguments."""
        return []

    def module(self, seed):
        """What a class that stands in for the reference is constructed with, as in ``messages.oracle.Opened``; None for a function."""

    def change_weights(self):
        """Gives the reference other weights; returns the shapes of its parameters by name, which a function has none of."""
        return {}

    def check_unchanged(self):
        """Raises InvalidTask where the task rests on another file, and that one is no longer what it was."""

    def check_room(self):
        """Raises TooLarge where the task needs another device."""

    def check_repeats(self, known, again):
        """Raises InvalidTask where the reference is not trusted to have no memory, and ``again()``, its result of one more call, is
        not right by what is ``known`` of the same one."""

    def updates(self, path):
        """Whether the call may change this argument: the task says so, or it is the usual ``out``."""
        return path.split("[")[0] in (*self.mutates, "out")

    def may_change(self, path):
        """Whether the call may leave this argument changed, be it judged or not."""
        return self.updates(path)


_SIGNATURES = weakref.WeakKeyDictionary()
"""Of functions as long as they live: that of a module holds its weights."""


def signature(function):
    """``inspect.signature`` of a function, which takes longer than launching a kernel and is asked for with every timed call, worked out once."""
    found = _SIGNATURES.get(function)
    if found is None:
        found = _SIGNATURES[function] = inspect.signature(function)
    return found


def named_tensors(function, call):
    """As ``Task.named_tensors``, of any function's arguments; those of ``*args`` read ``args[0]``."""
    parameters = list(signature(function).parameters.values())
    rest = next((i for i, p in enumerate(parameters) if p.kind == p.VAR_POSITIONAL), len(parameters))
    names = [p.name for p in parameters[:rest]]
    names += [f"{parameters[rest].name}[{i}]" for i in range(len(call.args) - rest)]
    named = [*zip(names, call.args, strict=False), *call.kwargs.items()]
    return [(path, t) for name, v in named for path, t in leaves(v, name) if isinstance(t, torch.Tensor)]


def _same(value, default):
    return type(value) is type(default) and not isinstance(value, torch.Tensor) and value == default


def describe(parameters):
    """An entry of ``CASES`` or ``SIZES`` as text: ``shape=(37,), approximate='tanh'``."""
    return ", ".join(f"{k}={v!r}" for k, v in parameters.items())


def load(path, device="cpu"):
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
def published(task):
    """The task judged by the tolerances that its suite's authors publish, on values around one, for which they are made."""
    around_one = tuple(d for d in task.distributions if d in AROUND_ONE)
    contract = by_published_tolerances(task.contract, task.tolerances)
    return replace(task, contract=contract, distributions=around_one or task.distributions)


@functools.lru_cache(maxsize=1024)
def _load(stamp, device):
    path = stamp[0]
    module, lines = _execute(path)
    if isinstance(module.get("ORIGINAL"), Original):
        from kbx.oracle import recording  # which builds on this module

        return recording.task(stamp, module["ORIGINAL"], module.get("ENTRY"), device)
    if isinstance(module.get("ORIGINAL"), OriginalModel):
        from kbx.oracle import original_models  # which builds on this module

        return original_models.task(stamp, module["ORIGINAL"], device)
    stem = os.path.splitext(os.path.basename(path))[0]
    reader = _Reader(path, module, lines)
    if "Model" in module:
        from kbx.oracle import models  # which builds on this module

        return models.task(stamp, stem, module, reader, device)
    entry = reader.get("ENTRY", str, stem)
    reference, inputs = reader.function(entry), reader.function("inputs")
    parameters = list(inspect.signature(reference).parameters)
    reader.check_statement()
    reader.get("DIFFICULTY", int)
    reader.get("TAGS", tuple)
    reader.each("SKIP_CONTROLS", reader.get("SKIP_CONTROLS", dict, {}), CONTROLS)
    return Task(
        path=path, stamp=stamp, name=stem, entry=entry, dtype=reader.dtype(),
        cases=reader.calls("CASES", MIN_CASES, inputs), sizes=reader.calls("SIZES", MIN_SIZES, inputs),
        contract=reader.get("CONTRACT", Contract), reference=reference, inputs=inputs,
        distributions=reader.each("DISTRIBUTIONS", reader.get("DISTRIBUTIONS", tuple, DISTRIBUTIONS), DISTRIBUTIONS),
        mutates=reader.each("MUTATES", reader.get("MUTATES", tuple, ()), parameters),
        skip_controls=reader.get("SKIP_CONTROLS", dict, {}), controls=reader.controls(parameters),
    )  # fmt: skip


def _execute(path):
    """Runs the file as a module of its own; returns its names and the line where each is defined."""
    try:
        with open(path, encoding="utf-8") as file:
            source = file.read()
        tree = ast.parse(source, path)
        if "ORIGINAL" in _targets(tree):
            # The entry is the original's; the def lines here are for those who read it without running Python.
            tree.body = [s for s in tree.body if not isinstance(s, (ast.FunctionDef, ast.ClassDef))]
        # Compilers of PyTorch look for the module of a function by its name, and remember what they find.
        module = types.ModuleType(f"kbx_task_{next(_NUMBERS)}")
        module.__file__ = path
        sys.modules[module.__name__] = module
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


def _targets(tree):
    """Names that the module assigns, with the line."""
    targets = [(t, s.lineno) for s in tree.body if isinstance(s, ast.Assign) for t in s.targets]
    return {t.id: line for t, line in targets if isinstance(t, ast.Name)}


class _Reader:
    """Takes the parts of a task out of its module and complains with a line."""

    def __init__(self, path, module, lines):
        self.path, self.module, self.lines = path, module, lines

    def fail(self, name, text):
        raise InvalidTask(f"{name} {text}", self.path, self.lines.get(name))

    def check_statement(self):
        if not (self.module.get("__doc__") or "").strip():
            raise InvalidTask("the file must begin with the statement, a docstring", self.path, 1)

    def get(self, name, kind, default=None):
        value = self.module.get(name, default)
        if value is None:
            self.fail(name, "is missing")
        if not isinstance(value, kind):
            self.fail(name, f"must be a {kind.__name__}, not a {type(value).__name__}")
        return value

    def each(self, name, values, allowed):
        unknown = [v for v in values if v not in allowed]
        if unknown:
            self.fail(name, f"names {unknown[0]!r}; there are {', '.join(allowed)}")
        return tuple(values)

    def dtype(self):
        name = self.get("DTYPE", str)
        if name not in tensors.DTYPES:
            self.fail("DTYPE", f"is {name!r}; there are {', '.join(tensors.DTYPES)}")
        return name

    def calls(self, name, least, inputs):
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

    def function(self, name):
        function = self.module.get(name)
        if not isinstance(function, types.FunctionType):
            self.fail(name, "is missing: the file must define a function of this name")
        return function

    def controls(self, parameters):
        found = {}
        for name, function in self.module.items():
            if name.startswith(("positive_", "negative_")) and isinstance(function, types.FunctionType):
                own = list(inspect.signature(function).parameters)
                if own[: len(parameters)] != parameters:
                    text = f"{name}() takes ({', '.join(own)}), the reference ({', '.join(parameters)})"
                    raise InvalidTask(text, self.path, function.__code__.co_firstlineno)
                found[name] = function
        return found


def deepest_line(error, path):
    """The line of ``path`` that is deepest in what an exception passed through, or None."""
    frames = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return frames[-1] if frames else None
