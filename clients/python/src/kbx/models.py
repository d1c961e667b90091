"""What is sent and what comes back. A field that the server left out is None: not measured, never 0."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from kbx.errors import Cancelled, Expired, Infrastructure, InvalidTask, JudgementFailed, NoVerdict, ProtocolError
from kbx.reading import Reader

_REFUTED = frozenset({
    "wrong_structure", "wrong_shape", "wrong_dtype", "wrong_device", "wrong_values", "out_of_bounds", "race",
    "order_dependent", "undefined_value", "nondeterministic", "input_mutated", "not_a_kernel", "cheating",
})  # fmt: skip

STATUSES = _REFUTED | {
    "correct", "rejected_static", "no_code", "no_entry", "syntax_error", "import_error", "compile_error",
    "runtime_error", "timeout", "out_of_memory", "crashed", "failed", "invalid_task", "infrastructure",
}  # fmt: skip
"""The statuses of verdicts that this client knows."""

_OPEN = frozenset({"queued", "judging"})
_ENDED = frozenset({"done", "cancelled", "expired", "failed"})


@dataclass(frozen=True)
class Candidate:
    """A source to judge. ``code`` may be a model's whole reply: the server takes the code from its fences.

    ``key`` makes sending it again harmless: the server judges one key once. Left out, each candidate object
    gets a key of its own when it is sent.
    """

    code: str
    task: str
    suite: str | None = None
    method: str | None = None
    model: str | None = None
    sample: int | None = None
    round: int | None = None
    conditions: Mapping[str, str] | None = None
    key: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {**_present(self), "key": self.key or uuid.uuid4().hex}

    @staticmethod
    def of(code: str | Candidate, task: str | None, suite: str | None) -> Candidate:
        """A candidate as it is, or made of a source and its task."""
        if isinstance(code, Candidate):
            if task is not None or suite is not None:
                raise TypeError("task, suite: a Candidate already names its own")
            return code
        if task is None:
            raise TypeError("task: must be given with a source")
        return Candidate(code, task, suite)


@dataclass(frozen=True)
class Plan:
    """How to judge, as the options of ``kbx eval`` of the same names; None leaves the choice to the server."""

    stages: Sequence[str] | None = None
    grade: str | None = None
    policy: str | None = None
    precision: str | None = None
    timeout: int | None = None
    baseline: str | None = None
    cache: str | None = None
    tolerance: str | None = None
    arch: str | None = None
    published_accounting: bool | None = None
    memory_checks: bool | None = None
    properties: Sequence[str] | None = None

    def to_json(self) -> dict[str, Any]:
        return _present(self)


@dataclass(frozen=True)
class Options:
    """What holds for all candidates of a request.

    ``run``: a name; the verdicts of one name and plan are one run of the store. ``priority``: -10 to 10, higher first.
    ``deadline``: seconds after which a candidate that is still queued expires.
    """

    run: str | None = None
    plan: Plan | None = None
    priority: int | None = None
    deadline: int | None = None

    def to_json(self) -> dict[str, Any]:
        body = {"run": self.run, "priority": self.priority, "deadline_seconds": self.deadline}
        plan = self.plan.to_json() if self.plan else None
        return {name: value for name, value in {**body, "plan": plan}.items() if value is not None}


@dataclass(frozen=True)
class Speedup:
    """Baseline time over candidate time. ``low`` and ``high`` are the ends of its 95 % interval."""

    value: float
    low: float | None
    high: float | None
    baseline: str | None

    @staticmethod
    def from_json(read: Reader | None) -> Speedup | None:
        if read is None:
            return None
        value = read.number("value")
        if value is None:
            raise ProtocolError("verdict.speedup: no 'value'")
        return Speedup(value, read.number("low"), read.number("high"), read.text("baseline"))


@dataclass(frozen=True)
class Verdict:
    """A line of ``results.jsonl``; ``raw`` has all of its fields. See docs/verdicts.md."""

    status: str
    stage: str
    task: str
    suite: str | None = None
    category: str | None = None
    run: str | None = None
    candidate: str | None = None
    sample: int | None = None
    method: str | None = None
    model: str | None = None
    round: int | None = None
    call_ok: bool | None = None
    exe_ok: bool | None = None
    perf_ok: bool | None = None
    grade: str | None = None
    policy: str | None = None
    precision: str | None = None
    published_ok: bool | None = None
    general_ok: bool | None = None
    without_policy: str | None = None
    message: str | None = None
    rule: str | None = None
    evidence: str | None = None
    flags: tuple[str, ...] = ()
    speedup: Speedup | None = None
    kernel_share: float | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def correct(self) -> bool | None:
        """Whether the values are right by kbx's rules and the candidate computed them; None if that was not asked.

        A kernel that was right and only timed out or crashed while it was timed counts as correct. What the published rules say is
        ``exe_ok``.
        """
        if self.without_policy is not None or self.status in _REFUTED:
            return False
        if self.exe_ok is None:
            return None
        return self.status == "correct" or (self.stage == "perf" and self.call_ok is True)

    @staticmethod
    def from_json(raw: object) -> Verdict:
        read = Reader(raw, "verdict")
        origin, without = read.nested("origin"), read.nested("without_policy")
        return Verdict(
            status=read.required("status"),
            stage=read.required("stage"),
            task=read.required("task"),
            suite=read.text("suite"),
            category=read.text("category"),
            run=read.text("run"),
            candidate=read.text("candidate"),
            sample=read.whole("sample"),
            method=read.text("method"),
            model=read.text("model"),
            round=read.whole("round"),
            call_ok=read.flag("call_ok"),
            exe_ok=read.flag("exe_ok"),
            perf_ok=read.flag("perf_ok"),
            grade=read.text("grade"),
            policy=read.text("policy"),
            precision=read.text("precision"),
            published_ok=read.flag("published_ok"),
            general_ok=read.flag("general_ok"),
            without_policy=without.text("status") if without else None,
            message=read.text("message"),
            rule=read.text("rule"),
            evidence=read.text("evidence"),
            flags=read.texts("flags") or (),
            speedup=Speedup.from_json(read.nested("speedup")),
            kernel_share=origin.number("kernel_share") if origin else None,
            raw=read.raw,
        )


@dataclass(frozen=True)
class Judgement:
    """A candidate that the server has accepted, and its verdict once ``state`` is ``done``."""

    id: str
    state: str
    run: str | None = None
    position: int | None = None
    task: str | None = None
    suite: str | None = None
    candidate: str | None = None
    ahead: int | None = None
    queued_seconds: float | None = None
    cached: bool | None = None
    message: str | None = None
    verdict: Verdict | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def ended(self) -> bool:
        return self.state in _ENDED

    def result(self) -> Verdict:
        """The verdict on the candidate.

        Raises ``NoVerdict`` where there is none: not done, failed, expired, cancelled, or a verdict that
        says nothing about the candidate (``infrastructure``, ``invalid_task``).
        """
        if self.state in _OPEN:
            raise NoVerdict(f"judgement {self.id} is not done: {self.state}", self)
        if self.state != "done" or self.verdict is None:
            kind = {"expired": Expired, "cancelled": Cancelled}.get(self.state, JudgementFailed)
            raise kind(f"judgement {self.id} of {self.task} {self.state}{_reason(self.message)}", self)
        check_judged(self.verdict, self)
        return self.verdict

    @staticmethod
    def from_json(raw: object) -> Judgement:
        read = Reader(raw, "judgement")
        state = read.required("state")
        if state not in _OPEN and state not in _ENDED:
            raise ProtocolError(f"judgement.state: {state!r} is unknown; is this client older than the server?")
        verdict = read.raw.get("verdict")
        return Judgement(
            id=read.required("id"),
            state=state,
            run=read.text("run"),
            position=read.whole("position"),
            task=read.text("task"),
            suite=read.text("suite"),
            candidate=read.text("candidate"),
            ahead=read.whole("ahead"),
            queued_seconds=read.number("queued_seconds"),
            cached=read.flag("cached"),
            message=read.text("message"),
            verdict=None if verdict is None else Verdict.from_json(verdict),
            raw=read.raw,
        )


@dataclass(frozen=True)
class Task:
    """A task of a suite; ``name`` alone or with its category names it in a ``Candidate``."""

    name: str
    suite: str | None
    category: str | None
    signature: str | None
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def path(self) -> str:
        """``Category/name``, which is unique in a suite."""
        return f"{self.category}/{self.name}" if self.category else self.name

    @staticmethod
    def from_json(raw: object) -> Task:
        read = Reader(raw, "task")
        return Task(read.required("name"), read.text("suite"), read.text("category"), read.text("signature"), read.raw)


@dataclass(frozen=True)
class Event:
    """An event of a run: ``kind`` is ``verdict``, ``progress`` or ``end``; ``id`` resumes after it."""

    kind: str
    id: str | None
    data: Mapping[str, Any]

    @property
    def verdict(self) -> Verdict | None:
        return Verdict.from_json(self.data) if self.kind == "verdict" else None


def check_judged(verdict: Verdict, judgement: Judgement | None = None) -> None:
    """Raises ``NoVerdict`` for a verdict that says nothing about the candidate."""
    kind = {"infrastructure": Infrastructure, "invalid_task": InvalidTask}.get(verdict.status)
    if kind is not None:
        raise kind(f"{verdict.task}: {verdict.status}{_reason(verdict.message)}", judgement)


def _reason(message: str | None) -> str:
    return f": {message}" if message else ""


def _present(record: Candidate | Plan) -> dict[str, Any]:
    pairs = ((item.name, getattr(record, item.name)) for item in fields(record))
    return {name: _plain(value) for name, value in pairs if value is not None}


def _plain(value: Any) -> Any:
    """What JSON can hold of any mapping or sequence."""
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
