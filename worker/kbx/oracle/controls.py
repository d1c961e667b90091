"""A task judged by its own controls: honest results must pass everywhere, spoiled ones must fail somewhere.

The controls go the way of a candidate's result, from claims to the contract, only without a runner between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import torch

from kbx.messages.oracle import Control
from kbx.oracle import judge, truth
from kbx.oracle.module_variations import BATCH_SIZE, OTHER_WEIGHTS
from kbx.oracle.plan import PlannedCall, plan
from kbx.oracle.task import Function, InvalidTask, Task
from kbx.oracle.taskfile import CONTROLS
from kbx.suite import Call, errors
from kbx.suite.values import RETURNED, Named, tensors, transform, wide

_Results: TypeAlias = Callable[["_Trial"], list[tuple[Any, Call]]]
"""Values that a control returns in one call, each with the arguments after the call."""


LOWER = {
    torch.float64: torch.float32, torch.float32: torch.float16, torch.complex128: torch.complex64,
    torch.float16: torch.float8_e4m3fn, torch.bfloat16: torch.float8_e4m3fn,
}  # fmt: skip
"""One precision lower."""
OTHER_DTYPE = {torch.float32: torch.float64, torch.int64: torch.int32, torch.bool: torch.uint8}
"""What ``wrong_dtype`` turns a result into; other dtypes become float32 or, if they hold integers, int64."""
REASONS = {"wrong_shape": "wrong_shape", "wrong_dtype": "wrong_dtype"}
"""What an automatic control must be rejected for, if not for its values."""
TAIL = 8
"""``tail_missing`` leaves out the last eighth of the elements, at least one."""
CORRUPTED = 100
"""``corrupted_1pct`` spoils one element in this many, at least one."""
LARGE = 1 << 30
"""A call of which more bytes are known takes seconds for each control."""
CALLS_OF_LARGE = 2
"""Calls of such a size that controls are judged in, of another distribution each."""
PUBLISHED, GENERAL, NOWHERE = "published", "general", "special"
"""The grade from which on a call decides; one with special values decides at none."""
ONLY = {GENERAL: "at the general grade only, ", NOWHERE: "by special values only, "}
"""What is said of a negative control that no call of the published grade rejects as it must."""


@dataclass
class _Trial:
    """One call in the matrix: what is known of it and some draws of the reference. ``decides`` is the grade from which on it decides."""

    planned: PlannedCall
    known: truth.Known
    draws: list[Any]
    text: str
    turn: int
    decides: str


def verify(
    task: Task,
    seed: str,
    device: torch.device,
    alone: bool = False,
    more: dict[str, Callable[..., Any]] | None = None,
    met: Callable[[str, judge.Judgement], None] | None = None,
) -> list[Control]:
    """Runs all controls; returns them as in ``messages.oracle.TaskVerified``. ``alone`` as in ``messages.oracle.Open``.

    ``more`` are further controls by name, functions as those of a task file, which are not returned. ``met`` is told of each
    judgement under the control's name.

    One call at a time is known, and every control has it: some have gigabytes. Of such a task there are fewer calls, and a
    control that was rejected as it must be is done: what each distribution does to it shows on smaller sizes.
    """
    planned = [call for call in plan(task, seed) if call.repeats is None and not _is_beyond_the_file(call)]
    task = task.seeded(seed)
    skipped = _skipped(task)
    controls = [_Control(task, "reference", _reference(task), task.reference)]
    controls += [_Control(task, name, _spoiler(task, name)) for name in CONTROLS if name not in skipped]
    own = {name: each for name, each in task.controls.items() if name not in skipped}
    controls += [_Control(task, name, _own(task, name, function), function) for name, function in own.items()]
    by_contract = {name: each for name, each in task.contract.controls().items() if name not in skipped} | (more or {})
    controls += [_Control(task, name, _own(task, name, function)) for name, function in by_contract.items()]
    large_calls: set[str] = set()
    for call in planned:
        if len(large_calls) == CALLS_OF_LARGE:
            break
        if call.distribution in large_calls:
            continue
        trial = _trial(task, call, seed, device, truth.know_where_there_is_room if alone else truth.know)
        large = task.large and trial.known.nbytes > LARGE
        large_calls |= {call.distribution} if large else set()
        for control in controls:
            judgement = None if large and control.settled else control.meet(trial)
            if met and judgement:
                met(control.name, judgement)
        del trial  # before the next one is made
    return _report(task, controls)


def _skipped(task: Task) -> dict[str, str]:
    """Controls that are not run, with the reason. What a task file computes in another way is right, or wrong enough, in the dtypes of
    the file; in half precision each of its steps rounds."""
    if task.cast is None:
        return task.skip_controls
    reason = f"written for the file's own dtypes, not for {task.dtype}"
    return task.skip_controls | dict.fromkeys(task.controls, reason)


def _is_beyond_the_file(call: PlannedCall) -> bool:
    """Whether it is one beyond those of a module's file: controls are honest or spoiled for the weights, shapes and dtype there."""
    return call.dtype is not None or bool(call.properties & {BATCH_SIZE, OTHER_WEIGHTS})


def _report(task: Task, controls: list[_Control]) -> list[Control]:
    """The rows: the reference, what was left out, the automatic controls in order, and the task's own."""
    rows = {control.name: control.row() for control in controls if control.applied}
    notes = [_row("left_out", "positive", True, "skipped", task.note)] if task.note else []
    skipped = {
        name: _row(name, _kind(name), True, "skipped", f"skipped: {reason}") for name, reason in _skipped(task).items()
    }
    names = (*CONTROLS, *task.controls, *task.contract.controls())
    return [rows["reference"], *notes, *filter(None, (rows.get(name) or skipped.get(name) for name in names))]


def _kind(name: str) -> Literal["positive", "negative"]:
    """What is asked of a control: to pass all calls, or to fail in one."""
    return "positive" if name == "reference" or name.startswith("positive_") else "negative"


class _Control:
    """One control and what became of it in each call: ``results(trial)`` as in ``_judge``; ``function`` is the task file's."""

    def __init__(self, task: Task, name: str, results: _Results, function: Function | None = None) -> None:
        self.task, self.name, self.results, self.function = task.begun(), name, results, function
        self.positive = _kind(name) == "positive"
        # Where a kernel may fail in several ways, the automatic controls must fail in theirs.
        self.reason = REASONS.get(name, "wrong_values") if name in CONTROLS else None
        self.met = 0
        self.rejected: list[tuple[str, str, str]] = []
        self.failure: tuple[str, str] | None = None

    @property
    def applied(self) -> bool:
        """Whether there was a call that it says something about."""
        return self.met > 0

    @property
    def settled(self) -> bool:
        """Whether further calls cannot change what is said of it."""
        return self.failure is not None or any(self._as_it_must(status) for _, status, _ in self.rejected)

    def meet(self, trial: _Trial) -> judge.Judgement | None:
        """Judges the control in one call; None where it has nothing to say."""
        if self.failure or (self.name in CONTROLS and not self.met and not _applies(self.name, trial.draws[0])):
            return None
        if trial.decides == NOWHERE and not self._meets_special_values:
            return None
        self.met += 1
        judgement = _judge(self.task, trial, self.results)
        said = trial.decides, judgement.status, f"{trial.text}: {judgement.message}"
        if self.positive:
            self._must_pass(trial, said)
        elif judgement.status == "raised":
            self.failure = "raised", said[2]
        elif judgement.status != "correct":
            self.rejected.append(said)
        return judgement

    @property
    def _meets_special_values(self) -> bool:
        """The reference, as it must know what it expects, and what the task file says is wrong. Honest ways to compute differ in what
        they make of such values, and automatic controls must fail where it decides."""
        return self.name == "reference" or not (self.positive or self.name in CONTROLS)

    def _must_pass(self, trial: _Trial, said: tuple[str, str, str]) -> None:
        if said[1] != "correct":
            self.failure = said[1:]
        elif self.task.contract.random and _judge(self.task, trial, lambda t: self.results(t)[:1]).status != "correct":
            self.failure = (
                "wrong_values",
                f"{trial.text}: the check passes all draws together and rejects the first one alone",
            )

    def row(self) -> Control:
        """As in ``messages.oracle.TaskVerified``."""
        line = self.function.__code__.co_firstlineno if self.function else None
        ok, status, detail = self._said()
        return {"name": self.name, "kind": _kind(self.name), "ok": ok, "status": status, "detail": detail, "line": line}

    def _said(self) -> tuple[bool, str, str]:
        if self.failure:
            return False, *self.failure
        if self.positive:
            return True, "correct", f"passed {self.met} calls"
        detail = f"rejected in {len(self.rejected)} of {self.met} calls"
        if not self.rejected:
            return False, "correct", detail
        # Calls of the published grade come first, those that decide nowhere last.
        where, status, text = next((r for r in self.rejected if self._as_it_must(r[1])), self.rejected[0])
        only = ONLY.get(where, "")
        return self._as_it_must(status), status, f"{only}{detail}; {text}"

    def _as_it_must(self, status: str) -> bool:
        return self.reason in (None, status)


def _trial(
    task: Task, planned: PlannedCall, seed: str, device: torch.device, know: Callable[[Task, Call, str], truth.Known]
) -> _Trial:
    task = planned.judging(task)
    made = planned.made(task, device)
    known = know(task, made, seed)
    draws = [known.expected]
    if task.contract.random:
        draws = [truth.know(task, made, f"{k + 1:x}").expected for k in range(task.contract.draws)]
    decides = NOWHERE if planned.special else GENERAL if planned.properties else PUBLISHED
    return _Trial(
        planned, known, draws, planned.message(task)["case"] + f", {planned.distribution}", planned.turn, decides
    )


def _row(name: str, kind: Literal["positive", "negative"], ok: bool, status: str, detail: str) -> Control:
    return {"name": name, "kind": kind, "ok": ok, "status": status, "detail": detail, "line": None}


def _judge(task: Task, trial: _Trial, results: _Results) -> judge.Judgement:
    """Judges a control's results of one call: ``results(trial)`` lists ``(value, arguments after the call)``."""
    values, task = [], trial.planned.judging(task)
    try:
        answers = results(trial)
    except InvalidTask as error:
        return judge.Judgement("raised", error.message)
    for value, call in answers:
        judgement = judge.examine_own(task, trial.known, value, call)
        if judgement.status != "correct":
            return judgement
        values.append(judgement.value)
    return judge.decide(task, trial.known, values, explained=False)


def _own(task: Task, name: str, function: Callable[..., Any]) -> _Results:
    """Results of a control that is a function as the reference is."""

    def results(trial: _Trial) -> list[tuple[Any, Call]]:
        answers = []
        for draw in range(task.contract.draws):
            truth.reseed(draw + 1)
            call = truth.copy_call(trial.known.call)
            made = task.spoken(call, trial.turn)
            with torch.no_grad():
                answers.append((task.run(f"{name}()", function, *made.args, **made.kwargs), call))
        return answers

    return results


def _reference(task: Task) -> _Results:
    return _own(task, task.entry, task.reference)


def _spoiler(task: Task, name: str) -> _Results:
    """Results of an automatic control: the reference's own, spoiled."""

    def results(trial: _Trial) -> list[tuple[Any, Call]]:
        draws = _lowered(task, trial) if name == "lower_precision" else trial.draws
        return [_as_answer(task, trial, transform(d, lambda leaf: _spoil(name, leaf))) for d in draws]

    return results


def _as_answer(task: Task, trial: _Trial, value: Any) -> tuple[Any, Call]:
    """A judged result as an entry would leave it: the returned value, and a call whose updated arguments hold the rest."""
    call = truth.copy_call(trial.known.call)
    updated = value if isinstance(value, Named) else {}
    returned = updated.get(RETURNED, value)
    for position, output in zip(trial.known.selves, tensors(returned), strict=True):
        if position is not None:
            updated = {**updated, Named.key(task.named_tensors(call)[position][0]): output}
    for path, tensor in task.named_tensors(call):
        # No argument can hold a result of another shape; there the returned value alone is spoiled.
        contents = updated.get(Named.key(path))
        if task.updates(path) and contents is not None and contents.shape == tensor.shape:
            tensor.copy_(contents)
    return returned, call


def _lowered(task: Task, trial: _Trial) -> list[Any]:
    """Draws of the reference from arguments that were rounded; where it cannot take them, its plain draws."""
    call = truth.copy_call(trial.known.call)
    rounded = type(call)(transform(call.args, _round), transform(call.kwargs, _round))
    try:
        with torch.no_grad():
            returned = task.run("the reference", task.reference, *rounded.args, **rounded.kwargs)
        return [truth.after(task, rounded, returned, trial.known.selves)] * len(trial.draws)
    except InvalidTask:
        return trial.draws


def _applies(name: str, value: Any) -> bool:
    if name in REASONS and isinstance(value, Named):
        value = value[RETURNED]  # an argument that is updated keeps its shape and dtype
    found = [v for v in tensors(value)]
    if name == "lower_precision":
        return any(t.dtype in LOWER for t in found)
    if name in ("constant", "permuted"):
        return any(t.numel() > 1 for t in found)  # of a single number both are the number
    return bool(found)


def _spoil(name: str, leaf: Any) -> Any:
    """One leaf of a result spoiled in the control's way; what is not a tensor is left alone."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    if name == "wrong_shape":
        return leaf.clone().unsqueeze(0)
    if name == "wrong_dtype":
        other = torch.float32 if leaf.is_floating_point() or leaf.is_complex() else torch.int64
        return leaf.to(OTHER_DTYPE.get(leaf.dtype, other))
    if name == "lower_precision":
        return _round(leaf)
    flat = wide(leaf.clone()).reshape(-1)
    if flat.numel():
        spoilers: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
            "zeros": torch.zeros_like, "constant": _constant, "permuted": lambda t: t.roll(1),
            "corrupted_1pct": _corrupted, "tail_missing": _tail_missing,
        }  # fmt: skip
        flat = spoilers[name](flat)
    # The layout stays the reference's: a control must fail by its values.
    return torch.empty_like(leaf).copy_(flat.reshape(leaf.shape))


def _constant(flat: torch.Tensor) -> torch.Tensor:
    middle = flat.mean() if flat.is_floating_point() or flat.is_complex() else flat[0]
    return torch.full_like(flat, middle.item()) if middle.isfinite() else flat[:1].expand(flat.numel())


def _corrupted(flat: torch.Tensor) -> torch.Tensor:
    count = max(1, flat.numel() // CORRUPTED)
    step = flat.numel() // count
    some = flat[: count * step : step]
    if flat.dtype == torch.bool:
        some.logical_not_()
    elif flat.is_floating_point() or flat.is_complex():
        some += 0.25 * (some.abs() + _size(flat))
    else:
        some.copy_(some.long() + 1)  # PyTorch adds no unsigned integers
    return flat


def _size(flat: torch.Tensor) -> torch.Tensor:
    """Root mean square of the finite elements, of the tensor's dtype; a part at a time, since float64 of all may not fit."""
    parts = (part.abs().nan_to_num(0, 0, 0).double().square().sum() for _, (part,) in errors.stretches(flat))
    size: torch.Tensor = (sum(parts) / flat.numel()).sqrt().to(flat.dtype)
    return size


def _tail_missing(flat: torch.Tensor) -> torch.Tensor:
    flat[-max(1, flat.numel() // TAIL) :] = 0
    return flat


def _round(leaf: Any) -> Any:
    """A floating tensor rounded to one precision lower and back."""
    if not isinstance(leaf, torch.Tensor) or leaf.dtype not in LOWER:
        return leaf
    lower = LOWER[leaf.dtype]
    if leaf.is_complex():
        return leaf.to(lower).to(leaf.dtype)
    limit = torch.finfo(lower).max
    return torch.where(leaf.isfinite(), leaf.clamp(-limit, limit).to(lower).to(leaf.dtype), leaf)
