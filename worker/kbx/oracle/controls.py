"""A task judged by its own controls: honest results must pass everywhere, spoiled ones must fail somewhere.

The controls go the way of a candidate's result, from claims to the contract, only without a runner between.
"""

from dataclasses import dataclass

import torch

from kbx.oracle import judge, truth
from kbx.oracle.plan import plan
from kbx.oracle.taskfile import CONTROLS, InvalidTask
from kbx.suite.values import Named, transform

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


@dataclass
class _Trial:
    """One call in the matrix: what is known of it and some draws of the reference."""

    known: truth.Known
    draws: list
    text: str
    turn: int


def verify(task, seed, device):
    """Runs all controls; returns them as in ``messages.TaskVerified``."""
    trials = [_trial(task, planned, seed, device) for planned in plan(task, seed) if planned.repeats is None]
    report = [_at(task.reference, _positive(task, "reference", trials, _reference(task)))]
    if task.note:
        report.append(_row("left_out", "positive", True, "skipped", task.note))
    for name in CONTROLS:
        if name in task.skip_controls:
            detail = f"skipped: {task.skip_controls[name]}"
            report.append(_row(name, "negative", True, "skipped", detail))
        elif any(_applies(name, t.draws[0]) for t in trials):
            report.append(_negative(task, name, trials, _spoiler(task, name)))
    for name, function in task.controls.items():
        kind = _positive if name.startswith("positive_") else _negative
        report.append(_at(function, kind(task, name, trials, _own(task, function))))
    return report


def _trial(task, planned, seed, device):
    made = task.call(planned.parameters, planned.distribution, planned.seed, device)
    known = truth.know(task, made, seed)
    draws = [known.expected]
    if task.contract.random:
        draws = [truth.know(task, made, f"{k + 1:x}").expected for k in range(task.contract.draws)]
    return _Trial(known, draws, planned.message()["case"] + f", {planned.distribution}", planned.turn)


def _positive(task, name, trials, results):
    for trial in trials:
        judgement = _judge(task, trial, results)
        if judgement.status != "correct":
            return _row(name, "positive", False, judgement.status, f"{trial.text}: {judgement.message}")
        if task.contract.random and _judge(task, trial, lambda t: results(t)[:1]).status != "correct":
            return _row(name, "positive", False, "wrong_values", f"{trial.text}: the check rejects one draw alone")
    return _row(name, "positive", True, "correct", f"passed {len(trials)} calls")


def _negative(task, name, trials, results):
    rejected = []
    for trial in trials:
        judgement = _judge(task, trial, results)
        if judgement.status == "raised":
            return _row(name, "negative", False, "raised", f"{trial.text}: {judgement.message}")
        if judgement.status != "correct":
            rejected.append((trial, judgement))
    detail = f"rejected in {len(rejected)} of {len(trials)} calls"
    if not rejected:
        return _row(name, "negative", False, "correct", detail)
    # Where a kernel may fail in several ways, the automatic controls must fail in theirs.
    reason = REASONS.get(name, "wrong_values") if name in CONTROLS else None
    trial, judgement = next(((t, j) for t, j in rejected if reason in (None, j.status)), rejected[0])
    right = reason in (None, judgement.status)
    return _row(name, "negative", right, judgement.status, f"{detail}; {trial.text}: {judgement.message}")


def _row(name, kind, ok, status, detail):
    return {"name": name, "kind": kind, "ok": ok, "status": status, "detail": detail, "line": None}


def _at(function, row):
    """The row with the line of the task file where the control is defined."""
    return {**row, "line": function.__code__.co_firstlineno}


def _judge(task, trial, results):
    """Judges a control's results of one call: ``results(trial)`` lists ``(value, arguments after the call)``."""
    values = []
    try:
        answers = results(trial)
    except InvalidTask as error:
        return judge.Judgement("raised", error.message)
    for value, call in answers:
        judgement = judge.examine_own(task, trial.known, value, call)
        if judgement.status != "correct":
            return judgement
        values.append(judgement.value)
    return judge.decide(task, trial.known, values)


def _own(task, function):
    """Results of a control that is a function of the task file."""

    def results(trial):
        answers = []
        for draw in range(task.contract.draws):
            torch.manual_seed(draw + 1)
            call = truth.copy_call(trial.known.call)
            made = task.spoken(call, trial.turn)
            with torch.no_grad():
                answers.append((task.run(f"{function.__name__}()", function, *made.args, **made.kwargs), call))
        return answers

    return results


def _reference(task):
    return _own(task, task.reference)


def _spoiler(task, name):
    """Results of an automatic control: the reference's own, spoiled."""

    def results(trial):
        draws = _lowered(task, trial) if name == "lower_precision" else trial.draws
        return [_as_answer(task, trial, transform(d, lambda leaf: _spoil(name, leaf))) for d in draws]

    return results


def _as_answer(task, trial, value):
    """A judged result as an entry would leave it: the returned value, and a call whose updated arguments hold the rest."""
    call = truth.copy_call(trial.known.call)
    updated = value if isinstance(value, Named) else {}
    returned = updated.get("output", value)
    for position, output in zip(trial.known.selves, truth.tensors(returned), strict=True):
        if position is not None:
            updated = {**updated, task.named_tensors(call)[position][0]: output}
    for path, tensor in task.named_tensors(call):
        # No argument can hold a result of another shape; there the returned value alone is spoiled.
        if task.updates(path) and path in updated and updated[path].shape == tensor.shape:
            tensor.copy_(updated[path])
    return returned, call


def _lowered(task, trial):
    """Draws of the reference from arguments that were rounded; where it cannot take them, its plain draws."""
    call = truth.copy_call(trial.known.call)
    rounded = type(call)(transform(call.args, _round), transform(call.kwargs, _round))
    try:
        with torch.no_grad():
            returned = task.run("the reference", task.reference, *rounded.args, **rounded.kwargs)
        return [truth.after(task, rounded, returned, trial.known.selves)] * len(trial.draws)
    except InvalidTask:
        return trial.draws


def _applies(name, value):
    found = [v for v in truth.tensors(value)]
    if name == "lower_precision":
        return any(t.dtype in LOWER for t in found)
    if name in ("constant", "permuted"):
        return any(t.numel() > 1 for t in found)  # of a single number both are the number
    return bool(found)


def _spoil(name, leaf):
    """One leaf of a result spoiled in the control's way; what is no tensor is left alone."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    if name == "wrong_shape":
        return leaf.clone().unsqueeze(0)
    if name == "wrong_dtype":
        other = torch.float32 if leaf.is_floating_point() or leaf.is_complex() else torch.int64
        return leaf.to(OTHER_DTYPE.get(leaf.dtype, other))
    if name == "lower_precision":
        return _round(leaf)
    flat = leaf.clone().reshape(-1)
    if flat.numel():
        flat = {"zeros": torch.zeros_like, "constant": _constant, "permuted": lambda t: t.roll(1),
                "corrupted_1pct": _corrupted, "tail_missing": _tail_missing}[name](flat)  # fmt: skip
    # The layout stays the reference's: a control must fail by its values.
    return torch.empty_like(leaf).copy_(flat.reshape(leaf.shape))


def _constant(flat):
    middle = flat.mean() if flat.is_floating_point() or flat.is_complex() else flat[0]
    return torch.full_like(flat, middle.item()) if middle.isfinite() else flat[:1].expand(flat.numel())


def _corrupted(flat):
    count = max(1, flat.numel() // CORRUPTED)
    places = torch.arange(count, device=flat.device) * (flat.numel() // count)
    if flat.dtype == torch.bool:
        flat[places] = ~flat[places]
    elif flat.is_floating_point() or flat.is_complex():
        size = flat.abs().nan_to_num(0, 0, 0).double().square().mean().sqrt().to(flat.dtype)
        flat[places] += 0.25 * (flat[places].abs() + size)
    else:
        flat[places] += 1
    return flat


def _tail_missing(flat):
    flat[-max(1, flat.numel() // TAIL) :] = 0
    return flat


def _round(leaf):
    """A floating tensor rounded to one precision lower and back."""
    if not isinstance(leaf, torch.Tensor) or leaf.dtype not in LOWER:
        return leaf
    lower = LOWER[leaf.dtype]
    if leaf.is_complex():
        return leaf.to(lower).to(leaf.dtype)
    limit = torch.finfo(lower).max
    return torch.where(leaf.isfinite(), leaf.clamp(-limit, limit).to(lower).to(leaf.dtype), leaf)
