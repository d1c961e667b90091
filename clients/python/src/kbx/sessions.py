"""Sessions: several turns at one task, each with feedback on development inputs, and an answer that held-out inputs judge."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kbx.errors import Cancelled, Expired, Infrastructure, InvalidTask, JudgementFailed
from kbx.exchanges import Operation, Request, Retries, exchange
from kbx.models import Judgement, Plan, Speedup, Verdict, check_judged
from kbx.operations import Until
from kbx.reading import Reader
from kbx.shaping import RewardShaping, shape

if TYPE_CHECKING:
    from kbx.aio import AsyncClient
    from kbx.client import Client


@dataclass(frozen=True)
class Budget:
    """What a session may spend; None leaves it to the server. ``judgements``: turns with a verdict. ``wall_seconds``: since it began."""

    judgements: int | None = None
    device_seconds: float | None = None
    wall_seconds: float | None = None


@dataclass(frozen=True)
class SessionOptions:
    """What a session is begun with; None leaves it to the server.

    ``run``, ``plan``: as of ``Options``. ``method``, ``model``: names in the run. ``conditions``: what prompt and feedback hold, as the
    options of ``kbx generate`` (``shots``, ``hardware``, ``advice``, ``language``, ``feedback``, ``format``). ``answer``: which turn's kernel
    counts (``best``, ``last``, ``first``). ``start``: a kernel to begin from.
    """

    run: str | None = None
    plan: Plan | None = None
    method: str | None = None
    model: str | None = None
    conditions: Mapping[str, Any] | None = None
    answer: str | None = None
    budget: Budget | None = None
    start: str | None = None

    def to_json(self) -> dict[str, Any]:
        known = {item.name: getattr(self, item.name) for item in fields(self)}
        plain = {
            "plan": self.plan.to_json() if self.plan else None,
            "conditions": dict(self.conditions) if self.conditions is not None else None,
            "budget": _budget(self.budget) if self.budget else None,
        }
        return {name: value for name, value in {**known, **plain}.items() if value is not None}


@dataclass(frozen=True)
class Left:
    """What is left of a session's budget; ``device_seconds`` is None without a limit."""

    judgements: int
    device_seconds: float | None
    wall_seconds: float

    @property
    def spent(self) -> bool:
        """Whether a limit is reached, so that a further turn would be refused."""
        return (
            self.judgements <= 0
            or self.wall_seconds <= 0
            or (self.device_seconds is not None and self.device_seconds <= 0)
        )

    @staticmethod
    def from_json(raw: object) -> Left:
        read = Reader(raw, "left")
        return Left(read.whole("judgements") or 0, read.number("device_seconds"), read.number("wall_seconds") or 0.0)


@dataclass(frozen=True)
class Turn:
    """A kernel of a session and what development inputs say of it. ``feedback`` is Markdown for a model; empty where the session gives none.

    ``reward`` is None where there is no verdict: never take it for 0.
    """

    number: int
    state: str
    judgement: str
    status: str | None = None
    correct: bool | None = None
    reward: float | None = None
    feedback: str = ""
    speedup: Speedup | None = None
    message: str | None = None
    left: Left | None = None
    verdict: Verdict | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def from_json(raw: object) -> Turn:
        read = Reader(raw, "turn")
        verdict, left, speedup = read.raw.get("verdict"), read.raw.get("left"), read.nested("speedup")
        return Turn(
            number=read.whole("number") or 0,
            state=read.required("state"),
            judgement=read.required("judgement"),
            status=read.text("status"),
            correct=read.flag("correct"),
            reward=read.number("reward"),
            feedback=read.text("feedback") or "",
            speedup=Speedup.from_json(speedup),
            message=read.text("message"),
            left=None if left is None else Left.from_json(left),
            verdict=None if verdict is None else Verdict.from_json(verdict),
            raw=read.raw,
        )


@dataclass(frozen=True)
class Answer:
    """The end of a session. ``turn``: whose kernel it is, None if there was none; ``verdict`` and ``reward`` are of held-out inputs."""

    turn: int | None
    why: str
    state: str
    judgement: str | None = None
    reward: float | None = None
    message: str | None = None
    verdict: Verdict | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def from_json(raw: object) -> Answer:
        read = Reader(raw, "final")
        verdict = read.raw.get("verdict")
        return Answer(
            turn=read.whole("turn"),
            why=read.required("why"),
            state=read.required("state"),
            judgement=read.text("judgement"),
            reward=read.number("reward"),
            message=read.text("message"),
            verdict=None if verdict is None else Verdict.from_json(verdict),
            raw=read.raw,
        )


class _Known:
    """What is known of a session, and the operations that it consists of."""

    def __init__(self, raw: object, retries: Retries, shaping: RewardShaping | None) -> None:
        self._retries = retries
        self._shaping = shaping
        read = Reader(raw, "session")
        self.id = read.required("id")
        self.run = read.required("run")
        self.task = read.required("task")
        self.raw: Mapping[str, Any] = read.raw
        self.messages: list[dict[str, str]] = [
            {"role": str(each["role"]), "content": str(each["content"])} for each in read.elements("messages")
        ]
        """The prompt, as chat models take it."""
        self.turns: list[Turn] = [Turn.from_json(each) for each in read.elements("turns")]
        self.left = Left.from_json(read.raw.get("left"))
        final = read.raw.get("final")
        self.answer: Answer | None = None if final is None else Answer.from_json(final)
        self.open = read.required("state") == "open"

    @property
    def prompt(self) -> str:
        """The prompt as one text."""
        return "\n\n".join(message["content"] for message in self.messages)

    def _take(self, code: str, key: str | None, timeout: float | None) -> Operation[Turn]:
        until = Until(timeout)
        # Drawn before the first try: sent again, it is the same turn.
        body = {"code": code, "key": key or uuid.uuid4().hex}
        turn = Turn.from_json((yield from self._post("turns", body, until.wait([]))))
        while turn.state == "judging":
            turn = Turn.from_json((yield from self._post("turns", body, until.wait([turn.judgement]))))
        self._note(turn)
        _check(turn.state, turn.judgement, turn.message)
        if turn.reward is None and turn.verdict is None:
            kind = InvalidTask if turn.status == "invalid_task" else Infrastructure
            raise kind(f"turn {turn.number} of session {self.id}: {turn.status}")
        return self._shaped(turn)

    def _note(self, turn: Turn) -> None:
        self.turns = [*(each for each in self.turns if each.number != turn.number), turn]
        self.left = turn.left or self.left

    def _shaped(self, turn: Turn) -> Turn:
        if turn.verdict is not None:
            check_judged(turn.verdict)
        if self._shaping is None:
            return turn
        if turn.verdict is None:
            raise ValueError("shaping: a session without feedback tells no verdict to shape a reward from")
        return Turn(**{**_members(turn), "reward": shape(turn.verdict, self._shaping)})

    def _finish(self, turn: int | None, timeout: float | None) -> Operation[Answer]:
        until = Until(timeout)
        body = {} if turn is None else {"turn": turn}
        answer = Answer.from_json((yield from self._post("final", body, until.wait([]))))
        while answer.state == "judging":
            waits = until.wait([answer.judgement or self.id])
            answer = Answer.from_json((yield from self._post("final", body, waits)))
        self.open = False
        self.answer = answer
        _check(answer.state, answer.judgement or self.id, answer.message)
        if answer.verdict is not None:
            check_judged(answer.verdict)
            if self._shaping is not None:
                self.answer = Answer(**{**_members(answer), "reward": shape(answer.verdict, self._shaping)})
        return self.answer

    def _end(self) -> Operation[None]:
        yield from exchange(Request("DELETE", _path(self.id)), self._retries)
        self.open = False

    def _post(self, what: str, body: Mapping[str, Any], wait: float) -> Operation[Any]:
        return exchange(Request("POST", f"{_path(self.id)}/{what}", body=body, wait=wait), self._retries)


class Session(_Known):
    """Several turns at one task; ``Client.session`` begins one. In ``with`` it is ended where it has no answer."""

    def __init__(self, client: Client, raw: object, retries: Retries, shaping: RewardShaping | None) -> None:
        super().__init__(raw, retries, shaping)
        self._client = client

    def turn(self, code: str, *, key: str | None = None, timeout: float | None = None) -> Turn:
        """Has a kernel, or a model's reply with one, judged on development inputs.

        Raises ``NoVerdict`` if nothing could be said about it, which costs no judgement, and ``Conflict`` if the budget is spent.
        """
        return self._client._carry_out(self._take(code, key, timeout))

    def final(self, *, turn: int | None = None, timeout: float | None = None) -> Answer:
        """The verdict on held-out inputs, of the best turn's kernel or of the one named. Raises ``NoVerdict`` if there is none."""
        return self._client._carry_out(self._finish(turn, timeout))

    def close(self) -> None:
        """Ends a session without an answer."""
        if self.open:
            self._client._carry_out(self._end())

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncSession(_Known):
    """As ``Session``, to ``await``; ``AsyncClient.session`` begins one."""

    def __init__(self, client: AsyncClient, raw: object, retries: Retries, shaping: RewardShaping | None) -> None:
        super().__init__(raw, retries, shaping)
        self._client = client

    async def turn(self, code: str, *, key: str | None = None, timeout: float | None = None) -> Turn:
        """As ``Session.turn``."""
        return await self._client._carry_out(self._take(code, key, timeout))

    async def final(self, *, turn: int | None = None, timeout: float | None = None) -> Answer:
        """As ``Session.final``."""
        return await self._client._carry_out(self._finish(turn, timeout))

    async def close(self) -> None:
        """Ends a session without an answer."""
        if self.open:
            await self._client._carry_out(self._end())

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def begin(
    task: str, suite: str | None, options: SessionOptions | None, key: str | None, retries: Retries
) -> Operation[Any]:
    """Begins a session and returns it in JSON."""
    names = {"task": task, "key": key or uuid.uuid4().hex, **({} if suite is None else {"suite": suite})}
    body = {**(options or SessionOptions()).to_json(), **names}
    return exchange(Request("POST", "/v1/sessions", body=body), retries)


def resume(identity: str, retries: Retries) -> Operation[Any]:
    """A session in JSON."""
    return exchange(Request("GET", _path(identity)), retries)


def _path(identity: str) -> str:
    return "/v1/sessions/" + quote(identity, safe="")


def _budget(budget: Budget) -> dict[str, Any]:
    return {name: value for name, value in _members(budget).items() if value is not None}


def _members(record: Budget | Turn | Answer) -> dict[str, Any]:
    return {item.name: getattr(record, item.name) for item in fields(record)}


def _check(state: str, judgement: str, message: str | None) -> None:
    """Raises ``NoVerdict`` for what ended otherwise than judged."""
    if state == "done":
        return
    kind = {"expired": Expired, "cancelled": Cancelled}.get(state, JudgementFailed)
    raise kind(f"judgement {judgement} {state}{f': {message}' if message else ''}", Judgement(judgement, state))
