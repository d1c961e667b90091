"""The client for code that waits."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from time import sleep
from types import TracebackType
from typing import TypeVar

import httpx

from kbx import operations, sessions
from kbx.exchanges import Found, Operation, Outcome, Pause, Request
from kbx.models import Candidate, Event, Judgement, Options, Task, Verdict
from kbx.sessions import Session, SessionOptions
from kbx.settings import Settings, lost, reply
from kbx.shaping import RewardShaping, shape
from kbx.sse import Following

T = TypeVar("T")


class Client:
    """A connection to ``kbx serve``. Safe for several threads; close it, or use it in ``with``.

    ``url`` and ``token`` default to the environment's ``KBX_URL`` and ``KBX_TOKEN``, then to this machine.
    ``patience``: seconds for which a request is repeated while the server is away or busy, but ten at most
    where it has never answered. The logger ``kbx`` says so. Repeating never judges twice: each candidate has a
    key that the server knows again. ``timeout``: seconds without an answer
    after which a connection counts as lost.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, timeout: float = 30.0, patience: float = 300.0
    ) -> None:
        self._settings = Settings.of(url, token, timeout, patience)
        self._http = httpx.Client(
            base_url=self._settings.url, headers=self._settings.headers(), verify=self._settings.trust()
        )

    def judge(
        self,
        code: str | Candidate,
        *,
        task: str | None = None,
        suite: str | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> Verdict:
        """Judges one candidate and waits for the verdict, for ``timeout`` seconds or without end.

        Raises ``NoVerdict`` if nothing could be said about the candidate, ``WaitTimeout`` if it took too long.
        """
        candidate = Candidate.of(code, task, suite)
        operation = operations.judge(candidate, options or Options(), self._settings.retries, timeout)
        return self._carry_out(operation).result()

    def reward(
        self,
        code: str | Candidate,
        *,
        task: str | None = None,
        suite: str | None = None,
        shaping: RewardShaping | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> float:
        """The shaped reward of one candidate. Failures of the infrastructure raise; they are no reward of 0."""
        return shape(self.judge(code, task=task, suite=suite, options=options, timeout=timeout), shaping)

    def judge_many(
        self, candidates: Iterable[Candidate], *, options: Options | None = None, timeout: float | None = None
    ) -> list[Verdict]:
        """Judges candidates and returns their verdicts in order. Raises if there is none on any of them."""
        found = self._found(candidates, options, timeout, soon=False)
        return [judgement.result() for _, judgement in sorted(found, key=lambda item: item[0])]

    def stream(
        self, candidates: Iterable[Candidate], *, options: Options | None = None, timeout: float | None = None
    ) -> Iterator[tuple[int, Judgement]]:
        """Index and judgement of each candidate as it ends; ``judgement.result()`` is the verdict, or raises.

        ``candidates`` is read as earlier ones end, so it may be long.
        """
        return self._found(candidates, options, timeout, soon=True)

    def submit(self, candidates: Iterable[Candidate], *, options: Options | None = None) -> list[Judgement]:
        """Hands over candidates without waiting; the server has stored them when this returns."""
        return self._carry_out(operations.submit(candidates, options or Options(), self._settings.retries))

    def get(self, identity: str, *, wait: float = 0.0) -> Judgement:
        """The judgement with that id; with ``wait``, once it has ended or so many seconds (at most 60) passed."""
        return self._carry_out(operations.get(identity, self._settings.retries, wait))

    def cancel(self, identity: str) -> Judgement:
        """Cancels a queued judgement. Raises ``Conflict`` if it is done."""
        return self._carry_out(operations.cancel(identity, self._settings.retries))

    def session(
        self,
        task: str,
        *,
        suite: str | None = None,
        options: SessionOptions | None = None,
        shaping: RewardShaping | None = None,
        key: str | None = None,
    ) -> Session:
        """Begins a session: several turns at a task. ``key``: sent again it is the same session. ``shaping`` makes the rewards; the server's
        own are those of its defaults."""
        retries = self._settings.retries
        raw = self._carry_out(sessions.begin(task, suite, options, key, retries))
        return Session(self, raw, retries, shaping)

    def resume(self, identity: str, *, shaping: RewardShaping | None = None) -> Session:
        """The session with that id, as it is now."""
        raw = self._carry_out(sessions.resume(identity, self._settings.retries))
        return Session(self, raw, self._settings.retries, shaping)

    def tasks(self, suite: str | None = None, category: str | None = None) -> list[Task]:
        return self._carry_out(operations.tasks(suite, category, self._settings.retries))

    def prompt(self, task: Task, *, grade: str | None = None) -> str:
        """What a model is given for the task, at that grade."""
        return self._carry_out(operations.prompt(task, grade, self._settings.retries))

    def events(self, run: str, *, after: str | None = None) -> Iterator[Event]:
        """The events of a run up to its ``end``, from the first or from after an id, whatever connections break."""
        following = Following(run, after, self._settings.retries)
        while True:
            outcome: Outcome | None = None
            try:
                with self._open(following) as response:
                    if response.is_error:
                        response.read()
                        outcome = reply(response)
                    else:
                        for data in response.iter_bytes():
                            for event in following.received(data):
                                yield event
                                if event.kind == "end":
                                    return
            except httpx.TransportError as error:
                outcome = lost(error)
            sleep(following.pause(outcome))

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _found(
        self, candidates: Iterable[Candidate], options: Options | None, timeout: float | None, *, soon: bool
    ) -> Iterator[tuple[int, Judgement]]:
        retries = self._settings.retries
        for found in self._steps(operations.judge_each(candidates, options or Options(), retries, timeout, soon=soon)):
            yield found.index, found.judgement

    def _carry_out(self, operation: Operation[T]) -> T:
        """Runs an operation that finds nothing on the way."""
        steps = self._steps(operation)
        while True:
            try:
                next(steps)
            except StopIteration as done:
                result: T = done.value
                return result

    def _steps(self, operation: Operation[T]) -> Generator[Found, None, T]:
        outcome: Outcome | None = None
        while True:
            try:
                step = operation.send(outcome)
            except StopIteration as done:
                result: T = done.value
                return result
            outcome = None
            if isinstance(step, Found):
                yield step
            elif isinstance(step, Pause):
                sleep(step.seconds)
            else:
                outcome = self._send(step)

    def _send(self, request: Request) -> Outcome:
        try:
            response = self._http.request(
                request.method,
                request.path,
                params=request.parameters,
                json=request.body,
                timeout=self._settings.limits(request),
            )
        except httpx.TransportError as error:
            return lost(error)
        return reply(response)

    def _open(self, following: Following) -> AbstractContextManager[httpx.Response]:
        request = following.request
        limits = self._settings.limits(request)
        return self._http.stream(request.method, request.path, headers=following.headers(), timeout=limits)
