"""The operations of the API, for ``exchanges`` to carry out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic
from urllib.parse import quote

from kbx.errors import Conflict, ProtocolError, WaitTimeout
from kbx.exchanges import Found, Operation, Request, Retries, exchange
from kbx.models import Candidate, Judgement, Options, Task
from kbx.reading import Reader

LONG_POLL = 20.0
"""Seconds that one request waits at the server."""
CHUNK = 64
"""Candidates of one submission, and ids of one poll for all of them."""
CHUNK_CHARACTERS = 1_000_000
WINDOW = 256
"""Candidates that a batch has at the server at once: more wait here, so a batch of any size is bounded there."""


def submit(candidates: Iterable[Candidate], options: Options, retries: Retries) -> Operation[list[Judgement]]:
    """Hands over candidates and returns their judgements, in order; done are those known from memory."""
    judgements = []
    for chunk in _chunks(iter(candidates)):
        judgements += yield from _submit(chunk, options, retries)
    return judgements


def judge(candidate: Candidate, options: Options, retries: Retries, timeout: float | None) -> Operation[Judgement]:
    """Judges one candidate and returns when the judgement has ended."""
    until = Until(timeout)
    (judgement,) = yield from _submit([candidate], options, retries, until.wait([]))
    while not judgement.ended:
        judgement = yield from get(judgement.id, retries, until.wait([judgement.id]))
    return judgement


def judge_each(
    candidates: Iterable[Candidate], options: Options, retries: Retries, timeout: float | None, *, soon: bool
) -> Operation[None]:
    """Judges candidates and yields each as ``Found`` when its judgement has ended.

    ``soon``: each at once. Otherwise, with fewer requests, when those that were handed over with it have ended, too.
    """
    until = Until(timeout)
    chunks = _numbered(_chunks(iter(candidates)))
    pending: dict[str, list[int]] = {}
    more = True
    while more or pending:
        while more and len(pending) <= WINDOW - CHUNK:
            chunk = next(chunks, None)
            more = chunk is not None
            if chunk is None:
                break
            for index, judgement in zip(
                (index for index, _ in chunk),
                (yield from _submit([candidate for _, candidate in chunk], options, retries)),
                strict=True,
            ):
                if judgement.ended:
                    yield Found(index, judgement)
                else:
                    pending.setdefault(judgement.id, []).append(index)
        for ids, wait in _polls(list(pending), until, WINDOW if soon else CHUNK):
            for judgement in (yield from get_many(ids, retries, wait, soon=soon)):
                if judgement.ended:
                    for index in pending.pop(judgement.id, []):
                        yield Found(index, judgement)


def get(identity: str, retries: Retries, wait: float) -> Operation[Judgement]:
    return Judgement.from_json((yield from exchange(Request("GET", _judgement(identity), wait=wait), retries)))


def get_many(ids: list[str], retries: Retries, wait: float, *, soon: bool) -> Operation[list[Judgement]]:
    """Answered when all are done, with ``soon`` one of them, or ``wait`` seconds passed."""
    query = {"ids": ",".join(ids), "until": "any" if soon else "all"}
    request = Request("GET", "/v1/judgements", query, wait=wait)
    return _judgements((yield from exchange(request, retries)), len(set(ids)))


def cancel(identity: str, retries: Retries) -> Operation[Judgement]:
    """Cancels a queued judgement. Sent again after a lost answer, it finds its own work done."""
    request = Request("DELETE", _judgement(identity))
    try:
        answer = yield from exchange(request, retries)
    except Conflict:
        judgement = yield from get(identity, retries, 0.0)
        if judgement.state == "cancelled":
            return judgement
        raise
    if answer is None:
        return (yield from get(identity, retries, 0.0))
    return Judgement.from_json(answer)


def tasks(suite: str | None, category: str | None, retries: Retries) -> Operation[list[Task]]:
    query = {name: value for name, value in (("suite", suite), ("category", category)) if value is not None}
    answer = yield from exchange(Request("GET", "/v1/tasks", query), retries)
    return [Task.from_json(task) for task in Reader(answer, "answer").elements("tasks")]


def prompt(task: Task, grade: str | None, retries: Retries) -> Operation[str]:
    """What a model is given for the task."""
    path = "/v1/tasks/" + "/".join(quote(part, safe="") for part in (task.suite, task.category, task.name) if part)
    request = Request("GET", path + "/prompt", {"grade": grade} if grade else {})
    return Reader((yield from exchange(request, retries)), "prompt").required("prompt")


class Until:
    """The end of the time that a caller would wait."""

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._end = None if timeout is None else monotonic() + timeout

    def wait(self, ids: list[str]) -> float:
        """Seconds of the next poll. Raises ``WaitTimeout`` if none are left."""
        if self._end is None:
            return LONG_POLL
        left = self._end - monotonic()
        if left <= 0 and ids:
            raise WaitTimeout(f"not done after {self._timeout:g} s: {len(ids)} candidates, first {ids[0]}", ids)
        return max(0.0, min(LONG_POLL, left))


def _submit(
    chunk: list[Candidate], options: Options, retries: Retries, wait: float = 0.0
) -> Operation[list[Judgement]]:
    # The keys are drawn once, before the first try: that is what makes trying again harmless.
    body = {"candidates": [candidate.to_json() for candidate in chunk], **options.to_json()}
    answer = yield from exchange(Request("POST", "/v1/judgements", body=body, wait=wait), retries)
    return _judgements(answer, len(chunk))


def _judgements(answer: object, expected: int) -> list[Judgement]:
    judgements = [Judgement.from_json(raw) for raw in Reader(answer, "answer").elements("judgements")]
    if len(judgements) != expected:
        raise ProtocolError(f"answer.judgements: expected {expected}, got {len(judgements)}")
    return judgements


def _polls(ids: list[str], until: Until, size: int) -> Iterator[tuple[list[str], float]]:
    """All ids in chunks. The oldest are waited for; the others are only looked at."""
    wait = until.wait(ids)
    for start in range(0, len(ids), size):
        yield ids[start : start + size], wait if start == 0 else 0.0


def _chunks(candidates: Iterator[Candidate]) -> Iterator[list[Candidate]]:
    chunk: list[Candidate] = []
    characters = 0
    for candidate in candidates:
        if chunk and (len(chunk) == CHUNK or characters + len(candidate.code) > CHUNK_CHARACTERS):
            yield chunk
            chunk, characters = [], 0
        chunk.append(candidate)
        characters += len(candidate.code)
    if chunk:
        yield chunk


def _numbered(chunks: Iterator[list[Candidate]]) -> Iterator[list[tuple[int, Candidate]]]:
    index = 0
    for chunk in chunks:
        yield list(enumerate(chunk, index))
        index += len(chunk)


def _judgement(identity: str) -> str:
    return "/v1/judgements/" + quote(identity, safe="")
