"""Compares one result with the truth of its call: form first, then memory, then values.

A wrong shape explains wrong values, so it is reported first. Values are read, and memory is allocated for copies, only after every
shape was found to be the reference's: so a claim cannot demand more memory than the reference takes.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import torch

from kbx.messages import Origin, Tree
from kbx.messages.oracle import Mismatch
from kbx.oracle import claims, ties, truth
from kbx.oracle.claims import ClaimError, TensorClaim
from kbx.oracle.patterns import pattern_of
from kbx.oracle.task import Task
from kbx.oracle.truth import Known
from kbx.suite import Call
from kbx.suite.contracts import EQUIVALENT, Outcome
from kbx.suite.values import Named, leaves, tensors, transform
from kbx.tensors import Arena, dtype_name

_Pair: TypeAlias = tuple[str, torch.Tensor, TensorClaim]
"""Path, expected and claimed tensor."""


_WORD = torch.int64.itemsize

TRIED = 4
"""Outputs with wrong elements of which is tried to say what these have in common."""

DIFFERENT = 16
"""Bytes by which the results of two calls must differ before a result is said to be the other one's."""


@dataclass
class Judgement:
    """The verdict on one result; the fields are those of ``messages.oracle.Checked``, and the result where it has the reference's
    form, which ``read`` says.
    """

    status: str
    message: str | None = None
    mismatches: list[Mismatch] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    published: bool = False
    elsewhere: str | None = None
    account: Origin | None = None
    digest: str | None = None
    value: Any = None
    read: bool = False


class _Rejected(Exception):
    """The result is wrong in ``status``'s way."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def examine(
    task: Task,
    known: Known,
    claim: Any,
    fetch: Callable[[TensorClaim], torch.Tensor],
    changed: Callable[[], list[str]],
    updated: Callable[[], dict[int, tuple[str, torch.Tensor]]],
) -> Judgement:
    """Compares form, reads the result, and compares memory: ``correct`` here says only that values may be compared.

    ``changed()`` names the argument tensors that are not as they were lent; ``updated()`` gives ``{position: (name, contents)}``
    of those whose contents are judged.
    """
    try:
        pairs = _pairs(known.returned, claim)
        _compare_form(pairs, known)
        returned = transform(claim, lambda v: fetch(v) if isinstance(v, TensorClaim) else v)
    except _Rejected as rejection:
        return Judgement(rejection.status, rejection.message)
    except ClaimError as error:
        return forged(error)
    contents = updated()
    value = Named.of(returned, [pair for i, pair in contents.items() if i not in known.selves])
    judgement = Judgement("correct", value=value, read=True)
    try:
        for name in changed():
            if not task.may_change(name):
                raise _Rejected("input_mutated", f"the call changed its argument {name!r}")
        _compare_memory(task, pairs, known)
        _compare_updated(pairs, known, returned, contents)
    except _Rejected as rejection:
        judgement.status, judgement.message = rejection.status, rejection.message
    return judgement


def updated_in(
    arena: Arena, task: Task, call: Call, leaves: Sequence[Tree]
) -> Callable[[], dict[int, tuple[str, torch.Tensor]]]:
    """``updated`` of ``examine`` for arguments of a call that lie at these leaves of an arena."""

    def updated() -> dict[int, tuple[str, torch.Tensor]]:
        pairs = enumerate(zip(task.named_tensors(call), leaves, strict=True))
        return {i: (name, arena.kept(arena.view(leaf))) for i, ((name, _), leaf) in pairs if task.updates(name)}

    return updated


def examine_own(task: Task, known: Known, value: Any, call: Call) -> Judgement:
    """``examine`` for what trusted code in this process returned; ``call`` holds the arguments as the call left them."""
    named, originals = task.named_tensors(call), task.named_tensors(known.call)
    claim = claims.of(value, truth.argument_tensors(call), truth.alias)

    def changed() -> list[str]:
        return [name for (name, a), (_, b) in zip(named, originals, strict=True) if not equal_bits(a, b)]

    def updated() -> dict[int, tuple[str, torch.Tensor]]:
        return {i: pair for i, pair in enumerate(named) if task.updates(pair[0])}

    return examine(task, known, claim, lambda c: cast(torch.Tensor, c.place), changed, updated)


def judge_made(task: Task, make: Callable[[], Call], seed: str, examined: Callable[[Known], Judgement]) -> Judgement:
    """Judges a result of the call that ``make()`` makes, with float64 only where the reference's result does not settle it.

    ``examined(known)`` reads the result, as ``examine`` does.
    """
    known = truth.know(task, make(), seed, wide=False)
    judgement = examined(known)
    if judgement.status != "correct" or agrees(task, judgement.value, known):
        return judgement
    del known  # before there is more of the same
    return decide(task, truth.know_where_there_is_room(task, make(), seed), [judgement.value])


def decide(task: Task, known: Known, values: list[Any], explained: bool = True) -> Judgement:
    """Asks the task's contract about the values of one call, or of all its draws; ``explained``: what wrong elements have in common, too."""
    return _decided(task, known, values, explained)[0]


def _decided(task: Task, known: Known, values: list[Any], explained: bool = True) -> tuple[Judgement, list[Any]]:
    """``decide``, and the values with the reference's indices where others are as right."""
    home = known.on_host
    values = values if home is known else truth.to_host(values)
    outcome = _compared(task, home, values)
    notes: list[str] = []
    if not outcome.right and task.may_rank:
        settled, notes = ties.settled(task, known, values[0])
        values = [settled]
        outcome = _compared(task, home, values)
    if outcome.right:
        return Judgement("correct", metrics=outcome.metrics), values
    pattern = _pattern(task, home.call, outcome) if explained else []
    message = "; ".join([*outcome.complaints, *notes, *pattern])
    return Judgement("wrong_values", message, outcome.mismatches, outcome.metrics), values


def _compared(task: Task, known: Known, values: list[Any]) -> Outcome:
    kept = {"kept": known.kept} if task.contract.keeps else {}
    if known.rounded is not None:
        known.kept[EQUIVALENT] = known.rounded
    return task.contract.compare(task.given(known.call), values, known.expected, known.truth, **kept)


def _pattern(task: Task, call: Call, outcome: Outcome) -> list[str]:
    """What the wrong elements of one output have in common: of the first where anything is found."""
    arguments = task.operands(call)
    for output in outcome.outputs[:TRIED]:
        if (wrong := output.wrong) is None:
            continue
        with contextlib.suppress(torch.OutOfMemoryError):
            others = {other.path: other.expected for other in outcome.outputs if other is not output}
            if found := pattern_of(output.got, output.expected, wrong, arguments, others):
                return [found if len(outcome.outputs) == 1 else f"of {output.path} {found}"]
    return []


def decide_both(task: Task, known: Known, values: list[Any]) -> Judgement:
    """``decide``, with what the published rule makes of the same values; a task without one is asked once."""
    (judgement, values), rule = _decided(task, known, values), task.published_rule
    judgement.published = judgement.status == "correct"
    if rule is not None and rule is not task.contract:
        home = known.on_host
        values = values if home is known else truth.to_host(values)
        judgement.published = all(rule.right(task.given(home.call), value, home.expected) for value in values)
    return judgement


def agrees(task: Task, value: Any, known: Known) -> bool:
    """Whether a result of the reference's form is so near the reference's that its contract need not be asked."""
    if task.contract.random or task.contract.remembers:
        return False
    with contextlib.suppress(torch.OutOfMemoryError):  # the contract itself takes less
        return same_bits(value, known.expected) or task.contract.agrees(value, known.expected)
    return False


def differs(known: Known, other: Known) -> bool:
    """Whether two calls have results of one form that differ so much that one is not taken for the other by chance."""
    forms = [
        [(path, v.shape, v.dtype) if isinstance(v, torch.Tensor) else (path, type(v)) for path, v in leaves(k.expected)]
        for k in (known, other)
    ]
    if forms[0] != forms[1]:
        return False
    pairs = zip(tensors(known.expected), tensors(other.expected), strict=True)
    return sum(int((_raw(a) != _raw(b)).count_nonzero()) for a, b in pairs) >= DIFFERENT


def forged(error: BaseException) -> Judgement:
    """The verdict on a tree that no honest runner sends."""
    return Judgement("wrong_structure", str(error), flags=["forged_result"])


def lacking(arguments: list[tuple[str, torch.Tensor]], claim: claims.Lacking) -> Judgement:
    """The verdict on a module without some of the buffers that the reference's changes, which are among the ``arguments``."""
    for name, buffer in arguments:
        if name.removeprefix("self.") in claim.names:
            form = f"{dtype_name(buffer.dtype)}{list(buffer.shape)}"
            text = f"the module has no buffer {name} of {form}, which forward() of the reference changes: register it under that name"
            return Judgement("wrong_structure", text)
    return forged(ClaimError("the result is missing"))


def same_bits(one: object, other: object) -> bool:
    """Whether two results of one form agree bit for bit."""
    pairs = zip(leaves(one), leaves(other), strict=True)
    return all(equal_bits(a, b) if isinstance(a, torch.Tensor) else _scalar_bits(a) == _scalar_bits(b)
               for (_, a), (_, b) in pairs)  # fmt: skip


def digest(value: object) -> str:
    """SHA-256 of the bits of a result: equal where ``same_bits`` holds of results of one form."""
    made = hashlib.sha256()
    for path, leaf in leaves(value):
        made.update(f"{path} ".encode())
        made.update(
            _raw(leaf).cpu().numpy().tobytes() if isinstance(leaf, torch.Tensor) else _scalar_bits(leaf).encode()
        )
    return made.hexdigest()


def _pairs(want: Any, got: Any, path: str = "output") -> list[_Pair]:
    """``(path, expected tensor, claimed tensor)`` in order; rejects another structure."""
    if isinstance(want, torch.Tensor) and isinstance(got, TensorClaim):
        return [(path, want, got)]
    if isinstance(want, (list, tuple)) and not isinstance(want, torch.Size):
        kind = list if isinstance(want, list) else tuple
        if type(got) is kind and len(got) == len(want):
            items = enumerate(zip(want, got, strict=True))
            return [pair for i, (w, g) in items for pair in _pairs(w, g, f"{path}[{i}]")]
    elif isinstance(want, dict):
        if type(got) is dict and got.keys() == want.keys():
            return [pair for key in want for pair in _pairs(want[key], got[key], f"{path}[{key!r}]")]
    elif type(got) is type(want):
        return []
    raise _Rejected("wrong_structure", f"{path} must be {_named(want)}, not {_named(got)}")


def _compare_form(pairs: list[_Pair], known: Known) -> None:
    for path, want, got in pairs:
        if got.shape != tuple(want.shape):
            raise _Rejected("wrong_shape", f"{path} has shape {_short(list(got.shape))}, expected {list(want.shape)}")
    for path, want, got in pairs:
        if got.dtype != want.dtype:
            text = f"{path} is {dtype_name(got.dtype)}, expected {dtype_name(want.dtype)}"
            raise _Rejected("wrong_dtype", text)
    for path, _, got in pairs:
        if got.device != claims.DEVICE:
            raise _Rejected("wrong_device", f"{path} is on {_short(got.device)}, expected {claims.DEVICE}")


def _compare_memory(task: Task, pairs: list[_Pair], known: Known) -> None:
    for (path, want, got), alias in zip(pairs, known.aliases, strict=True):
        if want.numel() and got.alias is not None and got.alias != alias:
            raise _Rejected("wrong_structure", f"{path} shares memory with argument tensor {got.alias}")
    for (path, want, got), stride in zip(pairs, known.strides, strict=True):
        promised = {"contiguous": claims.contiguous(want.shape), "reference": stride}.get(task.contract.strides)
        if promised and not claims.same_layout(got.shape, got.stride, promised):
            text = f"{path} has strides {_short(list(got.stride))}, the task requires {list(promised)}"
            raise _Rejected("wrong_structure", text)


def _compare_updated(
    pairs: list[_Pair], known: Known, returned: Any, contents: dict[int, tuple[str, torch.Tensor]]
) -> None:
    """Updated arguments that the reference returns must hold the very bits that were returned: a candidate may return a copy, but
    must update the argument too.
    """
    for (path, _, _), output, position in zip(pairs, tensors(returned), known.selves, strict=True):
        if position in contents:
            name, held = contents[position]
            if not equal_bits(output, held):
                raise _Rejected(
                    "wrong_values",
                    f"{path} was returned, and argument {name!r}, which must be updated to the same values, holds others",
                )


def _named(value: Any) -> str:
    """A value's kind for a message, whoever chose the value."""
    if isinstance(value, (torch.Tensor, TensorClaim)):
        return "a tensor"
    if isinstance(value, claims.Opaque):
        return f"an object of type {_short(value.name)}"
    if value is None:
        return "None"
    if isinstance(value, dict):
        return f"a dict with keys {_short(sorted(value))}"
    if isinstance(value, (list, tuple)):
        return f"a {'list' if isinstance(value, list) else 'tuple'} of {len(value)}"
    return f"of type {type(value).__name__}"


def _short(value: object) -> str:
    """Text from the runner, printable and bounded."""
    text = value if isinstance(value, str) else repr(value)
    return "".join(c if c.isprintable() else "?" for c in text[:80])


def equal_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Compares bytes: NaN equals itself, 0.0 does not equal -0.0."""
    pair = [_raw(a), _raw(b)]
    if all(n % _WORD == 0 for t in pair for n in (t.numel(), t.data_ptr(), t.storage_offset())):
        pair = [t.view(torch.int64) for t in pair]  # several times as fast
    return torch.equal(*pair)


def _raw(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor's elements as a flat run of bytes."""
    flat = tensor.resolve_conj().contiguous().reshape(-1)
    # A single element counts as contiguous whatever its stride, yet cannot be viewed as bytes.
    flat = flat if flat.stride(0) == 1 else flat.clone(memory_format=torch.contiguous_format)
    return flat.view(torch.uint8)


def _scalar_bits(value: object) -> str:
    return value.hex() if isinstance(value, float) else repr(value)
