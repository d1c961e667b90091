"""A user's own reference, of ``kbx eval --reference``: a function with its inputs, or a ``Model`` as KernelBench has them.

The calls that its file draws make up the published grade. Beyond it, one of them is varied in each way that the reference takes:
other layouts and values, never other shapes (``own_variations``).
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import torch

from kbx import tensors
from kbx.oracle import judge, namesakes, original_models, own_files, truth
from kbx.oracle.fakes import needs_values
from kbx.oracle.gradients import differentiating, in_place_of
from kbx.oracle.module_state import written_buffers
from kbx.oracle.original_models import (
    MOST_BYTES,
    MOST_FLOPS,
    SIZES,
    OriginalModelTask,
    check_sendable,
    drawing,
    drawn,
    execute,
    on_shapes,
    random_reference,
    right,
    taken,
    watched,
)  # fmt: skip
from kbx.oracle.own_variations import AS_DRAWN, SEED, Asked, extended, masked, may_be_tried
from kbx.oracle.recording import check_unchanged, placed, read, surroundings
from kbx.oracle.task import ROUNDS, Function, InvalidTask, Parameters, Stamp, Task, TooLarge, named_tensors, signature
from kbx.shapes import ValuesNeeded
from kbx.suite import Call, Inputs, notation
from kbx.suite.drawn import varied
from kbx.suite.original import OwnFunction, OwnModel
from kbx.suite.readings import calls
from kbx.suite.sharing import shared
from kbx.suite.values import leaves

if TYPE_CHECKING:
    from typing_extensions import Self


def _case(number: int, variation: str | None, text: str, nbytes: int = 0, masked: int = 0) -> Parameters:
    return {"inputs": Asked(number, variation, f"({text})", nbytes, masked)}


class Varied(Task):
    """A task whose cases are drawn calls, as they are and varied. ``plain_call(number, seed, device)`` draws one; ``code`` is the
    function of the user's that they are calls of."""

    if TYPE_CHECKING:  # what the classes have that are made of this one

        @property
        def code(self) -> Function: ...

        @property
        def device(self) -> str: ...

        @property
        def fits(self) -> bool: ...

        @property
        def nbytes(self) -> int: ...

        @property
        def flops(self) -> float: ...

        def plain_call(self, number: int, seed: str, device: str | torch.device) -> Call: ...

    def call(
        self,
        parameters: Parameters,
        distribution: str,
        seed: str,
        device: str | torch.device = "cpu",
        fast: bool = False,
    ) -> Call:
        asked = parameters["inputs"]
        call = self.plain_call(asked.number, seed, device)
        if asked.variation is None:
            return call
        try:
            return varied(call, asked.variation, Inputs(seed=seed)) or call
        except ValuesNeeded:  # by what changes values alone, where shapes are traced
            return call

    def rounds_of(self, parameters: Parameters) -> int:
        return self.rounds if parameters["inputs"].variation is None else 1

    def asked(self, parameters: Parameters) -> frozenset[str]:
        return frozenset(filter(None, [parameters["inputs"].variation]))

    def check_updates(self, call: Call, after: Call) -> None:
        unknown = [name for name in _changed(self, call, after) if not self.may_change(name)]
        if unknown:
            text = f"{self.code.__name__}() changes its argument {unknown[0]!r}, which no smaller call showed and shapes do not tell: add one"
            raise InvalidTask(text, self.path, self.code.__code__.co_firstlineno)

    def check_room(self) -> None:
        if self.device == "cpu" and not self.fits:
            raise TooLarge(
                f"the inputs are too large without a GPU, where kernels run on the processor ({taken(self)} a call,"
                f" at most {MOST_BYTES >> 20} MiB and {MOST_FLOPS / 1e9:.0f} GFLOP): give smaller ones"
            )


@dataclass(frozen=True, eq=False)
class OwnModelTask(Varied, OriginalModelTask):
    """A ``Model`` of the user's."""

    constant: bool = field(default=False, kw_only=True)

    @property
    def judges_state(self) -> bool:
        return bool(self.state)

    @property
    def code(self) -> Function:
        return self.model.forward

    def call(
        self,
        parameters: Parameters,
        distribution: str,
        seed: str,
        device: str | torch.device = "cpu",
        fast: bool = False,
    ) -> Call:
        with self.batched(parameters):
            return super().call(parameters, distribution, seed, device, fast)

    def plain_call(self, number: int, seed: str, device: str | torch.device) -> Call:
        return OriginalModelTask.call(self, SIZES, AS_DRAWN, seed, device)


@dataclass(frozen=True, eq=False)
class OwnFunctionTask(Varied, Task):
    """A function of the user's. ``path`` is the user's file. On a CPU the calls that need a GPU are left out, if any are left."""

    original: OwnFunction = field(kw_only=True)
    function: types.FunctionType = field(kw_only=True)
    """As the file has it; ``reference`` runs it where there is no GPU as well, though it may name one."""
    noted: tuple[notation.Notation, ...] = field(kw_only=True)
    """What makes the calls that comments describe, as ``notation.parse`` returns it; empty where ``inputs`` draws them."""
    device: str = field(kw_only=True)
    scaled: bool = field(default=False, kw_only=True)
    constant: bool = field(default=False, kw_only=True)
    flops: float = field(default=0, kw_only=True)
    nbytes: int = field(default=0, kw_only=True)
    """Of the smallest plain call: of its products and convolutions, and of its arguments or the largest tensor that it makes."""
    seen: list[bool] = field(default_factory=list, kw_only=True)
    """Not empty once the reference was seen to give a result twice."""

    @property
    def code(self) -> Function:
        return self.function

    @property
    def large(self) -> bool:
        return self.device != "cpu"

    @property
    def fits(self) -> bool:
        return self.nbytes <= MOST_BYTES and self.flops <= MOST_FLOPS

    def plain_call(self, number: int, seed: str, device: str | torch.device) -> Call:
        if self.noted:  # the others may be large
            return self._noted_call(number, seed, device)
        all_ = self.plain_calls(seed, device)
        if number >= len(all_):
            raise InvalidTask(
                f"inputs() returned {len(all_)} calls, and more another time: their number must not vary",
                self.path, self.inputs.__code__.co_firstlineno,
            )  # fmt: skip
        return all_[number]

    def plain_calls(self, seed: str, device: str | torch.device) -> list[Call]:
        """Every call that the file asks for under a seed."""
        if self.noted:
            return [self._noted_call(number, seed, device) for number in range(len(self.noted))]
        try:
            made = drawn(self, self.inputs, seed, device, self._meant)
        except ValueError as error:
            raise InvalidTask(f"inputs() {error}", self.path, self.inputs.__code__.co_firstlineno) from None
        found = [Call(tuple(args), kwargs) for args, kwargs in made]
        for call in found:
            self._check(call)
        return found

    def _meant(self, made: object) -> list[tuple[list[Any], dict[str, Any]]]:
        return [(list(call.args), call.kwargs) for call in calls(made, self.function)]

    def _noted_call(self, number: int, seed: str, device: str | torch.device) -> Call:
        """One that a comment describes: each is drawn by a generator of its own."""
        call = self.noted[number](Inputs("float32", "standard", f"{seed} {number}", device, fast=self.large))
        self._check(call)
        return call

    def _check(self, call: Call) -> None:
        line = self.inputs.__code__.co_firstlineno
        try:
            signature(self.function).bind(*call.args, **call.kwargs)
        except TypeError as error:
            given = "'# inputs:'" if self.noted else "inputs()"
            text = f"{given} does not fit {self.function.__name__}(): {error}"
            raise InvalidTask(text, self.path, line) from None
        check_sendable(self.path, line, "inputs()", [*call.args, *call.kwargs.values()])

    def check_unchanged(self) -> None:
        check_unchanged(self.original)

    def check_repeats(self, known: truth.Known, again: Callable[[], tuple[Any, bool]]) -> None:
        if self.seen:
            return
        result, drew = again()
        if drew:
            raise random_reference(self, self.function, drawing(again))
        # Not by the truth, which another call made: where a call depends on those before, it is anything.
        if not right(self, replace(known, truth=known.expected), result):
            text = f"{self.entry}() does not repeat: the same inputs give another result the second time"
            raise InvalidTask(text, self.path, self.function.__code__.co_firstlineno)
        self.seen.append(True)

    def requiring(self) -> frozenset[str]:
        """Names of the arguments that ``inputs()`` makes with ``requires_grad``."""
        if self.noted:
            return frozenset()
        found = drawn(self, self.inputs, SEED, "cpu", self._meant, place=lambda value, _: value)
        named = [pair for args, kwargs in found for pair in named_tensors(self.function, Call(tuple(args), kwargs))]
        return frozenset(name.split("[")[0] for name, t in named if t.requires_grad)

    @property
    def judged(self) -> Function:
        """What is the reference where there is a GPU."""
        return differentiating(self.function, self.marked) if self.differentiates else self.function

    def on(self, device: str) -> Self:
        """The task on another device."""
        return replace(self, device=device, reference=anywhere(self.judged, device))


def numbers(task: Task) -> list[int]:
    """Which calls of those that a user's function asks for are judged; empty for every other task."""
    if not isinstance(task, OwnFunctionTask):
        return []
    return [each["inputs"].number for each in task.cases if each["inputs"].variation is None]


OTHER_SEED = "1"
"""To see whether calls differ."""
_Own: TypeAlias = OwnModelTask | OwnFunctionTask
_OwnFunction = TypeVar("_OwnFunction", bound=OwnFunctionTask)
_OwnModel = TypeVar("_OwnModel", bound=OwnModelTask)
_Seen = TypeVar("_Seen")


def anywhere(function: Function, device: str) -> Function:
    """The function as it is on a GPU, where nothing may come between; without one, ``cuda`` means the CPU while it runs."""
    if torch.device(device).type != "cpu":
        return function

    def reference(*args: Any, **kwargs: Any) -> Any:
        with surroundings(device):
            return placed(function(*args, **kwargs), device)

    return in_place_of(function, reference)


def function_task(stamp: Stamp, original: OwnFunction, entry: str, device: str) -> OwnFunctionTask:
    """The task of a file with a function ``entry``; raises InvalidTask where it is none, or does not run."""
    return completed_function(untried(stamp, original, entry, device), device)


def completed_function(made: _OwnFunction, device: str) -> _OwnFunction:
    """The task as ``tried``, or as ``tried`` of a reference that computes gradients; raises InvalidTask where neither runs."""
    try:
        return tried(made, device)
    except InvalidTask as error:
        if error.__cause__ is None:
            raise
    # Few references compute gradients, and noting for all how their results come about would take memory.
    marked = on_shapes_or_values(made.requiring, device == "cpu")
    return tried(replace(made, differentiates=True, marked=marked), device)


def tried(made: _OwnFunction, device: str) -> _OwnFunction:
    """The task for a device, after its calls were tried; raises InvalidTask where they do not run."""
    return _with_cases(made.on("cpu"), device).on(device)


def untried(stamp: Stamp, original: OwnFunction, entry: str, device: str) -> OwnFunctionTask:
    """The task of a function ``entry`` without cases; raises InvalidTask where the file has none."""
    # Calls for a GPU may be traced where there is none.
    names, path = execute(original, device if torch.cuda.is_available() else "cpu"), original.file
    source = read(original.file, original.sha256, original.CHANGED)
    function = own_files.function(names, source, entry, path)
    inputs = own_files.inputs(names, source, path)
    noted = _noted(original, source, function) if inputs is None else ()
    return of_function(stamp, original, entry, device, function, inputs, noted)


def of_function(
    stamp: Stamp,
    original: OwnFunction,
    entry: str,
    device: str,
    function: types.FunctionType,
    inputs: types.FunctionType | None,
    noted: tuple[notation.Notation, ...] = (),
) -> OwnFunctionTask:
    """The task of a reference and what makes its arguments, without cases."""
    return OwnFunctionTask(
        path=original.file, stamp=stamp, name=entry, entry=entry, dtype="float32", cases=[], sizes=[],
        contract=namesakes.contract(None, None), reference=function, inputs=inputs or function, distributions=(AS_DRAWN,),
        mutates=(), skip_controls={}, controls={}, rounds=ROUNDS, tags=("own",),
        original=original, function=function, noted=noted, device=device,
    )  # fmt: skip


def _noted(original: OwnFunction, source: str, function: Function) -> tuple[notation.Notation, ...]:
    line = function.__code__.co_firstlineno
    found = own_files.noted(source, original.file, line)
    if not found:
        text = f"defines no function inputs(), and no comment '# inputs: f32[64, 64]' above {function.__name__}() says its arguments"
        raise InvalidTask(text, original.file, line)
    return tuple(found)


def _with_cases(made: _OwnFunction, device: str) -> _OwnFunction:
    """The task, which is on the CPU, with its calls for ``device``, judged there."""
    plain = _measured(made, device == "cpu")
    fitting = [one for one in plain if replace(made, **one.needs).fits]
    judged = fitting if device == "cpu" and fitting else plain
    least = min(judged, key=lambda one: one.needs["nbytes"])
    made = replace(
        made, **least.needs, dtype=least.dtype, cases=[one.case for one in judged], scaled=len(judged) < len(plain),
        sizes=[] if device == "cpu" else [one.case for one in plain], shares=_shares(made, len(plain)),
        mutates=tuple(dict.fromkeys(name for one in plain for name in one.updated)),
    )  # fmt: skip
    if may_be_tried(made, device):
        call = made.call(least.case, AS_DRAWN, SEED)
        made = replace(made, mutates=tuple(dict.fromkeys((*made.mutates, *_updated(made, call)))))
        made = made.without(_bits(made, call) & set(made.mutates))
        # One that does not repeat is no reference: it says so before any candidate is judged.
        truth.know(made, call, SEED)
        made = replace(made, constant=_is_constant(made, call, made.call(least.case, AS_DRAWN, OTHER_SEED)))
    return extended(made, least.case, device, lambda: made)


def _shares(made: OwnFunctionTask, calls: int) -> tuple[float, ...]:
    described = made.function if made.noted else made.inputs
    source = read(made.original.file, made.original.sha256, made.original.CHANGED)
    return own_files.noted_shares(source, made.path, described.__code__.co_firstlineno, calls)


@dataclass(frozen=True)
class _Plain:
    """A drawn call as a case, with what it needs, the dtype of its first floating-point argument, and the arguments that it was seen
    to update."""

    case: Parameters
    needs: dict[str, Any]
    dtype: str
    updated: tuple[str, ...]


def _measured(made: OwnFunctionTask, quick: bool) -> list[_Plain]:
    """Every drawn call as a ``_Plain``, by one call of the reference on shapes alone as far as these do not depend on values."""

    def look() -> list[_Plain] | None:
        try:
            found = made.plain_calls(SEED, "cpu")
        except InvalidTask as error:
            if needs_values(error):
                return None
            raise
        return [_plain(number, call, *_needs(made, call)) for number, call in enumerate(found)]

    found = on_shapes(look, quick)
    return found or [
        _plain(number, call, _nbytes(call), 0, ()) for number, call in enumerate(made.plain_calls(SEED, "cpu"))
    ]


def _plain(number: int, call: Call, nbytes: int, flops: float, updated: tuple[str, ...]) -> _Plain:
    floating = (t for t in truth.argument_tensors(call) if t.is_floating_point() or t.is_complex())
    dtype = tensors.dtype_name(next((t.dtype for t in floating), torch.float32))
    return _Plain(
        _case(number, None, notation.shown(call), nbytes, masked(call)),
        {"nbytes": nbytes, "flops": flops},
        dtype,
        updated,
    )


def _needs(made: OwnFunctionTask, call: Call) -> tuple[int, float, tuple[str, ...]]:
    """Bytes and flops of a call on shapes alone, and the arguments that it updates; raises InvalidTask where that leaves nothing to
    judge."""
    mine = truth.copy_call(call)
    try:
        watch, flops = watched(made, f"{made.entry}()", made.reference, mine)
    except InvalidTask as error:
        if not needs_values(error):
            raise
        return _nbytes(call), 0, ()
    if watch.random:
        raise random_reference(made, made.function, watch.random)
    updated = watch.updated(made.named_tensors(mine))
    _check_leaves_something(made, watch.result, updated)
    return max(_nbytes(call), watch.nbytes), flops, updated


def _nbytes(call: Call) -> int:
    return sum(t.numel() * t.element_size() for t in truth.argument_tensors(call))


def _updated(made: _Own, call: Call) -> tuple[str, ...]:
    """Names of the arguments that the reference changes, in which case these are judged too; raises InvalidTask where it leaves
    nothing to judge."""
    mine = truth.copy_call(call)
    with torch.no_grad():
        result = made.run(f"{made.code.__name__}()", made.reference, *mine.args, **mine.kwargs)
    changed = _changed(made, call, mine)
    _check_leaves_something(made, result, (*made.mutates, *changed, *getattr(made, "state", ())))
    return changed


def _bits(made: Task, call: Call) -> frozenset[str]:
    """Arguments that are the bits of floating-point ones, as integers in the same memory: these are compared, and rounding changes those."""
    names = {id(tensor): name.split("[")[0] for name, tensor in made.named_tensors(call)}
    mixed = [memory.members for memory in shared(truth.argument_tensors(call)) if memory.dtype is None]
    return frozenset(
        names[id(t)]
        for found in mixed
        if any(t.is_floating_point() for t in found)
        for t in found
        if not t.is_floating_point()
    )


def _is_constant(made: Task, call: Call, other: Call) -> bool:
    """Whether calls under two seeds have the same values: of floating-point numbers, which nobody draws twice by chance."""
    floating = any(t.is_floating_point() and t.numel() for t in truth.argument_tensors(call))
    return (
        floating
        and len(truth.argument_tensors(call)) == len(truth.argument_tensors(other))
        and not _changed(made, call, other)
    )


def _changed(made: Task, call: Call, after: Call) -> tuple[str, ...]:
    """Names of the arguments of ``call`` that have other contents ``after``."""
    pairs = zip(made.named_tensors(call), made.named_tensors(after), strict=True)
    return tuple(dict.fromkeys(name.split("[")[0] for (name, a), (_, b) in pairs if not judge.equal_bits(a, b)))


def _check_leaves_something(made: _Own, result: Any, updated: tuple[str, ...]) -> None:
    found = [leaf for _, leaf in leaves(result)]
    other = next((t for t in found if isinstance(t, torch.Tensor) and t.dtype not in tensors.DTYPES.values()), None)
    if other is not None:
        text = f"{made.code.__name__}() returns a tensor of {other.dtype}, which is not compared: return a view of it as torch.uint8"
        raise InvalidTask(text, made.path, made.code.__code__.co_firstlineno)
    if not updated and not any(isinstance(leaf, (torch.Tensor, int, float, complex)) for leaf in found):
        kinds = ", ".join(dict.fromkeys(type(leaf).__name__ for leaf in found if leaf is not None)) or "nothing"
        text = f"{made.code.__name__}() returns {kinds} and changes no argument, so there is nothing to compare"
        raise InvalidTask(text, made.path, made.code.__code__.co_firstlineno)


def model_task(stamp: Stamp, original: OwnModel, device: str) -> OwnModelTask:
    """The task of a file with ``Model``; raises as ``original_models.task`` does."""
    return completed(untried_model(stamp, original, device), device)


def untried_model(stamp: Stamp, original: OwnModel, device: str) -> OwnModelTask:
    """The task without variations, of which nothing was tried but ``forward`` on shapes."""
    given = original_models.task(stamp, original, device, None)
    return OwnModelTask(**{each.name: getattr(given, each.name) for each in fields(given)})


def completed(made: _OwnModel, device: str) -> _OwnModel:
    """The task with its case and what is varied, after it was tried; raises InvalidTask where its call cannot be judged."""
    case = _case(0, None, _text(made, device == "cpu"))
    made = replace(
        made, cases=[case], sizes=[case] if made.sizes else [], tags=("own",), distributions=(AS_DRAWN,), mutates=made.updated,
    )  # fmt: skip
    if may_be_tried(made, device):
        call = made.call(case, AS_DRAWN, SEED)
        made = _with_updates(made, call)
        bound = replace(made, device="cpu").seeded(SEED)
        truth.know(bound, bound.with_state(call, 1), SEED)
        if made.sizes and not _is_timed(bound, call):
            made = replace(made, sizes=[])
        made = replace(made, constant=_is_constant(bound, call, made.call(case, AS_DRAWN, OTHER_SEED)))
    return extended(made, case, device, lambda: replace(made, device="cpu").seeded(SEED))


def _with_updates(made: _OwnModel, call: Call) -> _OwnModel:
    """The task that also judges what only values show a call to change."""
    bound = replace(made, device="cpu").seeded(SEED)
    model = bound.compilable
    buffers = dict(model.named_buffers())
    contents = {id(buffer): buffer.clone() for buffer in buffers.values()}
    updated = _updated(bound, call)
    state = written_buffers(buffers, model, lambda t: not judge.equal_bits(t, contents[id(t)]))
    names = [name for name in buffers if name in state or name in made.state]
    return replace(made, mutates=tuple(dict.fromkeys((*made.mutates, *updated))), state=tuple(names))


def _is_timed(bound: OwnModelTask, call: Call) -> bool:
    """Whether results do not depend on earlier calls: in timed ones nobody restores what a module holds."""
    try:
        truth.know(bound, call, SEED, wide=False)
    except InvalidTask:
        return False
    return True


def _text(made: OwnModelTask, quick: bool) -> str:
    """The arguments of ``forward`` in words."""
    return on_shapes_or_values(lambda: notation.shown(made.plain_call(0, SEED, "cpu")), quick)


def on_shapes_or_values(look: Callable[[], _Seen], quick: bool) -> _Seen:
    """As ``on_shapes``, and on values where these are needed."""

    def without_values() -> _Seen | None:
        try:
            return look()
        except InvalidTask as error:
            if needs_values(error):
                return None
            raise

    found = on_shapes(without_values, quick)
    return look() if found is None else found
