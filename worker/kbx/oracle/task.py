"""A task as the oracle works with it, whatever kind of file it was read from, and the errors that say what is wrong with one."""

from __future__ import annotations

import functools
import inspect
import math
import re
import traceback
import types
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import torch

from kbx.messages import Module
from kbx.messages.oracle import Precision
from kbx.oracle import faults, sendable
from kbx.suite import Call, Contract, Inputs, published
from kbx.suite.original import TOLERANCES, OriginalRules
from kbx.suite.values import leaves, transform

if TYPE_CHECKING:
    from typing_extensions import Self

    from kbx.oracle.envelope import Envelope
    from kbx.oracle.truth import Known

OWN = "own"
"""The tag of a task that is a user's reference, or was made of one."""
ROUNDS = 3
"""Times that each case is called, every time with fresh values of another distribution."""


_REFERENCE = re.compile(
    r"(?:ref|reference|torch|pytorch|naive|eager)_(\w+)|(\w+)_(?:ref|reference|torch|pytorch|naive|eager)"
)
_NO_GPU = re.compile(r"Found no NVIDIA driver|No CUDA GPUs|not compiled with CUDA|CUDA_HOME environment|libcuda\.so")
"""What PyTorch, its extensions and Triton say where there is none."""
_SAID = 500
"""Characters of an exception that are told."""
Parameters: TypeAlias = dict[str, Any]
"""An entry of ``CASES`` or ``SIZES``."""
Stamp: TypeAlias = tuple[str, int, int]
"""Path, time of the last change, and size of a task file."""


class Function(Protocol):
    """A function of a task file, or one in its place."""

    __name__: str
    __code__: types.CodeType

    @property
    def __globals__(self) -> dict[str, Any]: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


class InvalidTask(Exception):
    """The task file is wrong; ``line`` is the line to look at, where one is known."""

    def __init__(self, message: str, file: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message, self.file, self.line = message, file, line


class Unsupported(Exception):
    """This device cannot do what was asked."""


class TooLarge(Unsupported):
    """This device cannot judge the task in any useful time."""


@dataclass(frozen=True, eq=False)
class Task:
    """A task file that was checked. ``stamp`` changes whenever the file does."""

    path: str
    stamp: Stamp
    name: str
    entry: str
    dtype: str
    cases: list[Parameters]
    sizes: list[Parameters]
    contract: Contract
    reference: Function
    inputs: Function
    distributions: tuple[str, ...]
    mutates: tuple[str, ...]
    skip_controls: dict[str, str]
    controls: dict[str, Function]
    """``positive_*`` and ``negative_*`` functions by name."""
    rounds: int = ROUNDS
    note: str = ""
    """What whoever verifies the task should know of it."""
    tags: tuple[str, ...] = ()
    tested: tuple[str, ...] | None = None
    """Properties, as in ``kbx.oracle.properties``, of a user's own calls, of which others are variations; None where every call decides."""
    envelope: Envelope | None = None
    """What the published tests pass, where that is known: a call that leaves it decides at the general grade only."""
    promised: tuple[str, ...] = ()
    """Properties beyond the envelope that the published statement promises all the same."""
    products: Precision | None = None
    """What its products may run in, where the reference computes them in a wider type; None where their operands tell."""
    magnitudes: tuple[int, ...] = ()
    """Powers of two by which the arguments of further calls are multiplied."""
    unjudged: frozenset[str] = frozenset()
    """Arguments that the call may change, and of which nothing is asked afterwards."""
    differentiates: bool = False
    """Whether the reference computes gradients, for which PyTorch must note how its results come about. A candidate need not compute what
    they are gradients of."""
    marked: frozenset[str] = frozenset()
    """Arguments that require a gradient when reference and candidate are given them."""
    shares: tuple[float, ...] = ()
    """Parts of the reference's time that ``sizes`` stand for, which add up to 1; empty where none are stated."""
    unpublished: bool = False
    """Whether nobody has published tests of its suite, by whose tolerances results could be judged."""

    tolerances = TOLERANCES
    """The constant ones that its suite's authors publish, by dtype."""

    @functools.cached_property
    def published_rule(self) -> OriginalRules | None:
        """What its suite's authors judge results by; None where the contract takes its place."""
        return None if self.unpublished else published.rule(self.name, self.contract, self.tolerances)

    @property
    def widens(self) -> bool:
        """Whether the reference must run in float64; where one need not and does not, its own result is the truth."""
        return OWN not in self.tags

    @property
    def rounds_operands(self) -> bool:
        """Whether a candidate may round the operands of products where the reference has them in float32: see ``kbx.oracle.operands``."""
        return OWN in self.tags

    @property
    def plain(self) -> str:
        """The distribution of timed calls."""
        return "standard"

    @property
    def scaled(self) -> bool:
        """Whether the calls are smaller than what the task is about."""
        return False

    @property
    def constant(self) -> bool:
        """Whether every call has the same values, whatever its seed."""
        return False

    @property
    def may_rank(self) -> bool:
        """Whether nobody has looked at what the reference returns, which may be indices: see ``kbx.oracle.ties``."""
        return "own" in self.tags and not self.contract.random

    @property
    def large(self) -> bool:
        """Whether calls may have gigabytes: their values are drawn on the device, and checking them takes what room there is."""
        return False

    @property
    def cast(self) -> torch.dtype | None:
        """The dtype that weights and floating-point arguments are cast to; None where they stay what the file makes them."""
        return None

    @property
    def entries(self) -> list[str]:
        """Names under which a candidate may define the entry, best first."""
        return list(dict.fromkeys((self.entry, *self._own_entry(), "kernel_function")))

    def _own_entry(self) -> list[str]:
        """What a candidate calls that which a user's reference calls ``softmax_ref``."""
        marked = _REFERENCE.fullmatch(self.entry) if OWN in self.tags else None
        if marked is None:
            return []
        return ["custom_kernel" if self.entry == "ref_kernel" else marked[1] or marked[2]]

    def call(
        self,
        parameters: Parameters,
        distribution: str,
        seed: str,
        device: str | torch.device = "cpu",
        fast: bool = False,
    ) -> Call:
        """The arguments of one call from an entry of ``CASES`` or ``SIZES``; raises InvalidTask."""
        make = Inputs(self.dtype, distribution, seed, device, fast or self.large)
        made = self.run(f"inputs(make, {describe(parameters)})", self.inputs, make, **parameters)
        line = self.inputs.__code__.co_firstlineno
        if not isinstance(made, Call):
            raise InvalidTask(f"inputs() must return call(...), not {type(made).__name__}", self.path, line)
        try:
            self.bound(made)
        except TypeError as error:
            text = f"inputs(make, {describe(parameters)}) does not fit {self.entry}(): {error}"
            raise InvalidTask(text, self.path, line) from None
        for path, leaf in leaves([*made.args, *made.kwargs.values()], "argument"):
            if (reason := sendable.obstacle(leaf)) is not None:
                raise InvalidTask(f"{path} {reason}", self.path, line)
        return without_gradients(made) if self.marked else made

    def inside(self, call: Call) -> Call:
        """The call with its values in the range of the published tests, where that is known."""
        if self.envelope:
            self.envelope.pull_in(self.bound(call), matrices="linear-algebra" not in self.tags)
        return call

    def bound(self, call: Call) -> inspect.BoundArguments:
        """The arguments of a call by the names of the reference's parameters."""
        return signature(self.reference).bind(*call.args, **call.kwargs)

    @property
    def unread(self) -> frozenset[str]:
        """Arguments that the call updates, and that no published test looks at afterwards."""
        return self.envelope.unread & set(self.mutates) if self.envelope else frozenset()

    def without(self, unjudged: frozenset[str]) -> Self:
        """The task that asks nothing of some arguments that the call may change."""
        if not unjudged:
            return self
        kept = tuple(name for name in self.mutates if name not in unjudged)
        return replace(self, mutates=kept, unjudged=unjudged)

    def spoken(self, call: Call, turn: int) -> Call:
        """The call as it is made on its ``turn``: every other time, keyword arguments that equal their defaults are left out."""
        defaults = {name: p.default for name, p in signature(self.reference).parameters.items()}
        if turn % 2 == 0:
            return call
        return Call(
            call.args, {k: v for k, v in call.kwargs.items() if not _same(v, defaults.get(k, inspect.Parameter.empty))}
        )

    def run(self, what: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Runs a function of the task file; what it raises becomes an InvalidTask with its deepest line in the file. Not so
        what is the device's fault: candidates may have filled it."""
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if faults.of_device(error):
                raise
            text = f"{what} raised {said(error)}"
            raise InvalidTask(text, self.path, deepest_line(error, self.path)) from error

    def named_tensors(self, call: Call) -> list[tuple[str, torch.Tensor]]:
        """``(path, tensor)`` of every tensor argument in order of appearance; paths read ``param`` or ``params[0]``."""
        return named_tensors(self.reference, call)

    def operands(self, call: Call) -> dict[str, torch.Tensor]:
        """All that a result is made of, by name."""
        return dict(self.named_tensors(call))

    def rounds_of(self, parameters: Parameters) -> int:
        """Times that this case is called with fresh values."""
        return self.rounds

    def asked(self, parameters: Parameters) -> frozenset[str]:
        """Properties of a case's calls that its arguments do not show."""
        return frozenset()

    def seeded(self, seed: str) -> Self:
        """The task with everything of the reference's own that is random, as weights are."""
        return self

    def begun(self, schemes: Sequence[int] = ()) -> Self:
        """The task for the results of one candidate; ``schemes`` as in ``messages.oracle.Open``."""
        contract = self.contract.begun(schemes)
        return self if contract is self.contract else replace(self, contract=contract)

    @property
    def compilable(self) -> Callable[..., Any]:
        """What ``torch.compile`` is to make the reference of."""
        return self.reference

    @property
    def constants(self) -> list[torch.Tensor]:
        """Tensors that the reference reads besides its arguments."""
        return []

    def module(self, seed: str) -> Module | None:
        """What a class that stands in for the reference is constructed with, as in ``messages.oracle.Opened``; None for a function."""

    def traced(self) -> tuple[Callable[..., Any], list[torch.Tensor]]:
        """The reference for a call on shapes alone, and the tensors that it holds besides its arguments."""
        return self.reference, []

    @property
    def judges_state(self) -> bool:
        """Whether what the reference holds between calls decides at the published grade."""
        return False

    def with_state(self, call: Call, turn: int) -> Call:
        """The call with what the reference holds before it, where calls change that: as another argument, which is updated. On even turns
        it is as constructed, on odd ones as this call leaves that."""
        return call

    def given(self, call: Call) -> Call:
        """The call as ``inputs`` made it, without what ``with_state`` adds."""
        return call

    def change_weights(self) -> dict[str, list[int]]:
        """Gives the reference other weights; returns the shapes of its parameters by name, which a function has none of."""
        return {}

    def check_unchanged(self) -> None:
        """Raises InvalidTask where the task rests on another file, and that one is no longer what it was."""

    def check_room(self) -> None:
        """Raises TooLarge where the task needs another device."""

    def check_updates(self, call: Call, after: Call) -> None:
        """Raises InvalidTask where the reference, whose arguments were ``call`` and are ``after`` now, has changed one that it is not
        known to change and need not be trusted with."""

    def check_repeats(self, known: Known, again: Callable[[], tuple[Any, bool]]) -> None:
        """Raises InvalidTask where the reference is not trusted to repeat, and one more call draws random numbers or is not right by
        what is ``known`` of the same one. ``again()`` makes it: its result, and whether it drew."""

    def updates(self, path: str) -> bool:
        """Whether the call may change this argument: the task says so, or it is the usual ``out``."""
        return path.split("[")[0] in (*self.mutates, "out")

    def may_change(self, path: str) -> bool:
        """Whether the call may leave this argument changed, be it judged or not."""
        return self.updates(path) or path.split("[")[0] in self.unjudged


_SIGNATURES: weakref.WeakKeyDictionary[Callable[..., Any], inspect.Signature] = weakref.WeakKeyDictionary()
"""Of functions as long as they live: that of a module holds its weights."""


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """``inspect.signature`` of a function, which takes longer than launching a kernel and is asked for with every timed call, worked out once."""
    found = _SIGNATURES.get(function)
    if found is None:
        found = _SIGNATURES[function] = inspect.signature(function)
    return found


def named_tensors(function: Callable[..., Any], call: Call) -> list[tuple[str, torch.Tensor]]:
    """As ``Task.named_tensors``, of any function's arguments; those of ``*args`` read ``args[0]``."""
    parameters = list(signature(function).parameters.values())
    rest = next((i for i, p in enumerate(parameters) if p.kind == p.VAR_POSITIONAL), len(parameters))
    names = [p.name for p in parameters[:rest]]
    names += [f"{parameters[rest].name}[{i}]" for i in range(len(call.args) - rest)]
    named = [*zip(names, call.args, strict=False), *call.kwargs.items()]
    return [(path, t) for name, v in named for path, t in leaves(v, name) if isinstance(t, torch.Tensor)]


def without_gradients(call: Call) -> Call:
    """The call with tensors that require no gradient, over the same memory."""

    def detached(leaf: Any) -> Any:
        return leaf.detach() if isinstance(leaf, torch.Tensor) else leaf

    return Call(transform(call.args, detached), transform(call.kwargs, detached))


def _same(value: object, default: object) -> bool:
    return type(value) is type(default) and not isinstance(value, torch.Tensor) and value == default


def shares(weights: object, sizes: int) -> tuple[float, ...]:
    """Weights of sizes as parts of 1. Raises ValueError, which says what is wrong with them."""
    if not isinstance(weights, (list, tuple)) or not all(type(w) in (int, float) and 0 < w < math.inf for w in weights):
        raise ValueError("must be a list of positive numbers")
    if len(weights) != sizes:
        raise ValueError(f"has {len(weights)} entries, and there are {sizes} sizes")
    return tuple(weight / sum(weights) for weight in weights)


def describe(parameters: Parameters) -> str:
    """An entry of ``CASES`` or ``SIZES`` as text: ``shape=(37,), approximate='tanh'``."""
    return ", ".join(f"{k}={v!r}" for k, v in parameters.items())


def said(error: BaseException) -> str:
    """An exception in one line: ``ValueError: no such size``; or that there is no GPU, where that is what it says at length."""
    text = " ".join(str(error).split())
    if _NO_GPU.search(text):
        return f"{type(error).__name__}: this needs a GPU, and there is none; PyTorch operations and Triton kernels run without"
    return f"{type(error).__name__}: {text[:_SAID]}" if text else type(error).__name__


def deepest_line(error: BaseException, path: str) -> int | None:
    """The line of ``path`` that is deepest in what an exception passed through, or None."""
    frames = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return frames[-1] if frames else None
