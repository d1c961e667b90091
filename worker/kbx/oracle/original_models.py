"""Tasks of the original KernelBench: a file with ``Model``, ``get_inputs()`` and ``get_init_inputs()``, judged by kbx's error model.

Its sizes are the published ones and no others. Values are what ``get_inputs()`` draws, under another seed for every call: so they
keep the ranges that the author meant. Each file is first tried on shapes alone, which needs neither time nor memory.
"""

import contextlib
import importlib
import inspect
import io
import math
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from kbx.modes import arguments_of, without_dynamo
from kbx.oracle import faults, judge, namesakes, sendable, truth
from kbx.oracle.arithmetic import FlopCounterMode
from kbx.oracle.fakes import fake_tensors, needs_values
from kbx.oracle.gradients import differentiating_model
from kbx.oracle.models import BATCH, ENTRY, ROUNDS, STATE, ModelTask, bounded, other_size, unbound
from kbx.oracle.module_state import changed, held, written_buffers
from kbx.oracle.recording import beside, check_unchanged, placed, read, surroundings
from kbx.oracle.task import Function, InvalidTask, Parameters, Stamp, Task, TooLarge, deepest_line, said
from kbx.suite import Call, Inputs
from kbx.suite.drawn import drawn_on, seeded
from kbx.suite.original import OriginalModel, OwnFunction, OwnModel
from kbx.suite.readings import listed
from kbx.suite.values import leaves
from kbx.suite.values import tensors as tensors_of

_Seen = TypeVar("_Seen")


class Measured(Protocol):
    """A task of which one call was looked at."""

    @property
    def nbytes(self) -> int: ...

    @property
    def flops(self) -> float: ...

    @property
    def fits(self) -> bool: ...


SIZES = {"sizes": "published"}
DRAWN = "get_inputs()"
"""The name of the only distribution."""
MOST_BYTES, MOST_FLOPS = 64 << 20, 1e10
"""What a call may take where kernels run on the processor: a few minutes."""


@dataclass(frozen=True, eq=False)
class OriginalModelTask(ModelTask):
    """An imported module. ``path`` is the original file, where its errors are."""

    original: OriginalModel = field(kw_only=True)
    flops: float = field(kw_only=True)
    """Of a call's products and convolutions."""
    nbytes: int = field(kw_only=True)
    """Of a call's arguments together, or of the largest tensor that it makes."""
    updated: tuple[str, ...] = field(default=(), kw_only=True)
    """Arguments that a forward on shapes was seen to write to. Nobody asks for them, but for a user's own ``Model``."""

    @property
    def widens(self) -> bool:
        return False

    @property
    def may_rank(self) -> bool:
        return True

    def call(
        self,
        parameters: Parameters,
        distribution: str,
        seed: str,
        device: str | torch.device = "cpu",
        fast: bool = False,
    ) -> Call:
        """What ``get_inputs()`` draws under a seed; on a GPU it draws there."""
        with self.batched(parameters):
            made = drawn(self, self.inputs, seed, device)
        return self.as_cast(_checked_call(self.path, self.inputs, self.called, made))

    @property
    def called(self) -> type[nn.Module]:
        """What ``get_inputs()`` makes the arguments of."""
        return self.model

    def other_batch(self) -> Parameters | None:
        names = self.inputs.__globals__
        name = next((name for name in BATCH if name in names), None)
        other = None if name is None else other_size(names.get(name), self.device)
        return None if name is None or other is None else self.cases[0] | {name: other}

    @contextlib.contextmanager
    def batched(self, parameters: Parameters) -> Iterator[None]:
        """The file's own names for the size of a batch have the values that a case gives them."""
        names = self.inputs.__globals__
        given = {name: parameters[name] for name in BATCH if name in parameters}
        before = {name: names[name] for name in given}
        names.update(given)
        try:
            yield
        finally:
            names.update(before)

    def construct(self, kind: type[nn.Module], number: int) -> nn.Module:
        with surroundings(self.device):
            return super().construct(kind, number)

    @property
    def large(self) -> bool:
        return self.device != "cpu"

    def check_unchanged(self) -> None:
        check_unchanged(self.original)

    def check_repeats(self, known: truth.Known, again: Callable[[], tuple[Any, bool]]) -> None:
        """Asked once of each instance, at its first call: the candidate's has had other calls than the reference's."""
        stateful = STATE in known.call.kwargs
        if stateful in self._bound.repeats:
            return
        before = held(self._bound.give())
        result, drew = again()
        if drew:
            raise random_reference(self, self.model.forward, drawing(again))
        if not right(self, known, result):
            names = changed(before, held(self._bound.give()))
            what = f"keeps state between calls ({', '.join(names)}):" if names else "does not repeat:"
            text = f"forward() {what} the same inputs give another result the second time"
            text += (
                "; what is registered as a buffer is judged" if names and isinstance(self.original, OwnModel) else ""
            )
            raise InvalidTask(text, self.path, self.model.forward.__code__.co_firstlineno)
        self._bound.repeats.add(stateful)

    @property
    def fits(self) -> bool:
        """Whether a call takes no more than may be made without a GPU."""
        return self.nbytes <= MOST_BYTES and self.flops <= MOST_FLOPS

    def check_room(self) -> None:
        if self.device == "cpu" and not self.fits:
            raise TooLarge(
                f"an imported task has its published sizes only, and these ({taken(self)} a call) need a GPU; the suite"
                " kernelbench has smaller ones"
            )


_Module = TypeVar("_Module", bound=OriginalModelTask)


def task(stamp: Stamp, original: OriginalModel, device: str, bundled: ModelTask | None) -> OriginalModelTask:
    """The task of an original file; raises InvalidTask where it is none, or does not run. ``bundled`` is the task of its level and
    name, or None."""
    # Calls for a GPU may be traced where there is none.
    names = execute(original, device if torch.cuda.is_available() else "cpu")
    path, model = original.file, names.get("Model")
    if not (isinstance(model, type) and issubclass(model, nn.Module)):
        raise InvalidTask("defines no class Model that is a torch.nn.Module", path)
    names = original.defaults() | names
    for name in ("get_inputs", "get_init_inputs"):
        if not isinstance(names.get(name), types.FunctionType):
            raise InvalidTask(f"defines no function {name}()", path)
    made = OriginalModelTask(
        path=path, stamp=stamp, name=_stem(path), entry=ENTRY, dtype="float32",
        cases=[SIZES], sizes=[] if device == "cpu" else [SIZES], contract=bounded(namesakes.contract(bundled, model)), reference=unbound(model),
        inputs=names["get_inputs"], distributions=(DRAWN,), mutates=(), skip_controls={}, controls={}, rounds=ROUNDS,
        model=model, init=_init(path, names["get_init_inputs"]), rivals={}, device=device, original=original,
        flops=0, nbytes=0,
    )  # fmt: skip
    quick = isinstance(original, OwnModel) and device == "cpu"
    try:
        made, remembers = tried(replace(made, device="cpu"), quick)
    except InvalidTask as error:
        if error.__cause__ is None:
            raise
        model = differentiating_model(model)
        made = replace(made, model=model, reference=unbound(model), differentiates=True)
        made, remembers = tried(replace(made, device="cpu"), quick)
    made = replace(made, device=device)
    if remembers and made.fits and (device == "cpu" or torch.cuda.is_available()):
        # Only values tell whether results depend on it. Of a user's own, what its buffers hold is an argument.
        bound, call = made.seeded("0"), made.call(SIZES, DRAWN, "0", device)
        truth.know(bound, bound.with_state(call, 0) if isinstance(original, OwnModel) else call, "0")
    return made


def drawn(
    task: Task,
    function: Function,
    seed: str,
    device: str | torch.device,
    meaning: Callable[[object], object] = lambda made: made,
    place: Callable[[Any, str | torch.device], Any] = placed,
) -> Any:
    """What a function of the task's file draws from any generator under a seed, and ``meaning`` makes of it; on a GPU it draws there."""

    def draw() -> Any:
        made = task.run(f"{function.__name__}()", lambda: listed(function()))
        if (reason := sendable.named_tuple(made, f"{function.__name__}()")) is not None:
            raise InvalidTask(reason, task.path, function.__code__.co_firstlineno)
        return place(meaning(made), device)

    return drawn_on(device, Inputs(seed=seed).generator.initial_seed(), draw, lambda: surroundings(device))


def random_reference(task: Task, function: Function, operations: Sequence[str]) -> InvalidTask:
    """The error that ``function``, the reference, draws random numbers by these operations."""
    named = f" ({operations[0]})" if operations else ""
    text = f"{function.__name__}() draws random numbers{named}, which another process cannot repeat"
    return InvalidTask(text, task.path, function.__code__.co_firstlineno)


def drawing(again: Callable[[], object]) -> list[str]:
    """The operations of one more call that draw random numbers; none where it cannot be watched."""
    watch = _Watch()
    with contextlib.suppress(InvalidTask), watch:
        again()
    return watch.random


def right(task: Task, known: truth.Known, result: Any) -> bool:
    """Whether a result is one that a candidate may give."""
    forms = [
        [(path, leaf.shape, leaf.dtype) if isinstance(leaf, torch.Tensor) else path for path, leaf in leaves(value)]
        for value in (result, known.expected)
    ]
    if forms[0] != forms[1]:
        return False
    return judge.agrees(task, result, known) or judge.decide(task, known, [result], explained=False).status == "correct"


def taken(task: Measured) -> str:
    """What a call takes, in words."""
    return f"{task.nbytes / 2**20:.0f} MiB at once, {task.flops / 1e9:.0f} GFLOP"


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".py")


def execute(original: OriginalModel | OwnFunction, device: str) -> dict[str, Any]:
    """Runs the file as a module of its own; returns its names."""
    check_unchanged(original)
    source = read(original.file, original.sha256, original.CHANGED)
    if "triton" in source:  # before surroundings are made, which are Triton's, too, where there is such
        with contextlib.suppress(ImportError):
            importlib.import_module("triton")
    # torch.compile looks for the module of a class by its name.
    module = types.ModuleType(f"kbx_original_{original.sha256[:16]}")
    module.__file__ = original.file
    sys.modules[module.__name__] = module
    try:
        with surroundings(device), beside(original.file), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(source, original.file, "exec"), module.__dict__)
    except SyntaxError as error:
        raise InvalidTask(f"not valid Python: {error.msg}", original.file, error.lineno) from None
    except ModuleNotFoundError as error:
        text = f"needs the module {error.name!r}, which is neither beside the file nor installed in this Python"
        raise InvalidTask(text, original.file, deepest_line(error, original.file)) from error
    except SystemExit as error:
        text = "ends Python while it is imported: put what is to run only as a script below if __name__ == '__main__':"
        raise InvalidTask(text, original.file, deepest_line(error, original.file)) from error
    except Exception as error:
        if faults.of_device(error):
            raise
        text = f"importing the file raised {said(error)}"
        raise InvalidTask(text, original.file, deepest_line(error, original.file)) from error
    return module.__dict__


def _init(path: str, function: Function) -> list[Any]:
    line = function.__code__.co_firstlineno
    try:
        with seeded(0, "cpu"), surroundings("cpu"):
            made = function()
    except Exception as error:
        text = f"get_init_inputs() raised {said(error)}"
        raise InvalidTask(text, path, deepest_line(error, path)) from error
    if not isinstance(made, (list, tuple)):
        raise InvalidTask(f"get_init_inputs() must return a list, not {type(made).__name__}", path, line)
    for place, value in enumerate(made):
        for leaf_path, leaf in leaves(value, f"get_init_inputs()[{place}]"):
            if isinstance(leaf, torch.Tensor):
                text = "is a tensor, which cannot be sent to another process: make it in the constructor"
                raise InvalidTask(f"{leaf_path} {text}", path, line)
    check_sendable(path, line, "get_init_inputs()", list(made))
    return list(made)


def _checked_call(path: str, function: Function, model: type[nn.Module], made: object) -> Call:
    line = function.__code__.co_firstlineno
    if not isinstance(made, (list, tuple)):
        raise InvalidTask(f"{DRAWN} must return a list, not {type(made).__name__}", path, line)
    try:
        inspect.signature(model.forward).bind(None, *made)
    except TypeError as error:
        raise InvalidTask(f"{DRAWN} does not fit Model.forward(): {error}", path, line) from None
    check_sendable(path, line, DRAWN, list(made))
    return Call(tuple(made))


def check_sendable(path: str, line: int, what: str, values: list[Any]) -> None:
    """Raises InvalidTask where a leaf of ``values`` cannot be an argument in another process."""
    for place, leaf in leaves(values, what):
        if (reason := sendable.obstacle(leaf)) is not None:
            raise InvalidTask(f"{place} {reason}", path, line)


# ---------------------------------------------------------------- on shapes alone


@without_dynamo
class _Watch(TorchDispatchMode):
    """Notes the largest tensor that an operation makes, which operations draw random numbers, and which memory they write to."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's
        self.nbytes = 0
        self.random: list[str] = []
        self.result: Any = None
        self._written: set[int] = set()

    def updated(self, named: list[tuple[str, torch.Tensor]]) -> tuple[str, ...]:
        """Names of the arguments, pairs with tensors that lived as long as the watch, of which the memory was written to."""
        return tuple(dict.fromkeys(name.split("[")[0] for name, t in named if self.wrote(t)))

    def wrote(self, tensor: torch.Tensor) -> bool:
        """Whether the memory of a tensor that lived as long as the watch was written to."""
        return tensor.untyped_storage()._cdata in self._written

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        for tensor in tensors_of(_targets(function, args, kwargs or {})):
            self._written.add(tensor.untyped_storage()._cdata)
        result = function(*args, **(kwargs or {}))
        if _draws(function, args, kwargs or {}):
            self.random.append(str(function))
        sizes = [t.numel() * t.element_size() for t in tensors_of(result if isinstance(result, tuple) else [result])]
        self.nbytes = max(self.nbytes, *sizes, 0)
        return result


_UNDECLARED = ("running_mean", "running_var")
"""Parameters that batch normalizations write to, which their schemas do not say."""


def _targets(function: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments of an operation that it writes to."""
    parameters = function._schema.arguments
    given = dict(zip((p.name for p in parameters), args, strict=False)) | kwargs
    written = [p.name for p in parameters if p.alias_info is not None and p.alias_info.is_write]
    undeclared = _UNDECLARED if given.get("training", True) else ()
    return [given[name] for name in (*written, *undeclared) if name in given]


_SWITCHES = ("dropout_p", "dropout", "train", "training")
"""Parameters of torch's random operations that let them draw nothing: no dropout, or none outside training."""


def _draws(function: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an operation draws random numbers when it is called with values. On shapes alone no generator moves: its arguments
    tell. (With values those of the host and of a GPU stay where they are if one of the switches is off.)"""
    if torch.Tag.nondeterministic_seeded not in function.tags:
        return False
    given = arguments_of(function, args, kwargs)
    return all(given[name] for name in _SWITCHES if name in given)


def tried(made: _Module, quick: bool) -> tuple[_Module, bool]:
    """The task with what one forward on shapes says of it, of as much as does not depend on values; and whether the instance holds
    something else afterwards. ``quick`` as for ``on_shapes``."""

    def look() -> tuple[_Module, bool]:
        try:
            nbytes = 0
            call = made.call(made.cases[0], DRAWN, "shapes")
            nbytes = sum(t.numel() * t.element_size() for t in tensors_of(list(call.args)))
            model = constructed(made, made.model)
            before, buffers = held(model), dict(model.named_buffers())
            watch, flops = watched(made, "forward()", model, call)
        except InvalidTask as error:
            if needs_values(error):
                return replace(made, nbytes=nbytes), False
            raise
        if watch.random:
            raise random_reference(made, made.model.forward, watch.random)
        updated = watch.updated(made.named_tensors(call))
        state = written_buffers(buffers, model, watch.wrote)
        known = replace(made, flops=flops, nbytes=max(nbytes, watch.nbytes), updated=updated, state=state)
        return known, bool(changed(before, held(model)))

    return on_shapes(look, quick)


def constructed(made: ModelTask, kind: type[nn.Module]) -> nn.Module:
    """An instance without memory for its weights, where constructing one does not look at values."""
    try:
        return made.construct(kind, 0)
    except InvalidTask as error:
        if not needs_values(error):
            raise
    with torch._subclasses.fake_tensor.unset_fake_temporarily():
        return made.construct(kind, 0)


def on_shapes(look: Callable[[], _Seen], quick: bool) -> _Seen:
    """What ``look()`` returns on shapes alone. Where it is ``quick`` to do so, on values, unless these are large: fake tensors take
    seconds to import."""
    if quick:
        with contextlib.suppress(_TooLarge), _Small():  # type: ignore[no-untyped-call]  # torch's
            return look()
    with fake_tensors():
        return look()


class _TooLarge(BaseException):
    """A tensor is asked for that is larger than ``MOST_BYTES``. No exception of the code that asks: nothing may handle it."""


@without_dynamo
class _Small(TorchDispatchMode):
    """Lets no large tensor be made of sizes."""

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        sizes = [a for a in args if isinstance(a, (list, tuple)) and all(type(size) is int for size in a)]
        if any(math.prod(size) > MOST_BYTES // 4 for size in sizes):
            raise _TooLarge
        return function(*args, **(kwargs or {}))


def watched(made: Task, what: str, function: Callable[..., Any], call: Call) -> tuple[_Watch, int]:
    """A ``_Watch`` of one call, and the flops of its products and convolutions."""
    watch, counter = _Watch(), FlopCounterMode(display=False)
    with torch.random.fork_rng(devices=[]), torch.no_grad(), counter, watch:
        watch.result = made.run(what, function, *call.args, **call.kwargs)
    return watch, counter.get_total_flops()
