"""What happens when the server is busy, away, broken or something else."""

from __future__ import annotations

import asyncio
import re

import pytest
from fault_server import Fault, FaultServer, busy, drop, lose_answer, say

import kbx
from kbx import Candidate, Client

MANY = [Candidate(f"code {i}", "relu") for i in range(300)]


@pytest.mark.parametrize("fault", [busy(429), busy(503), busy(502), drop, lose_answer])
def test_a_request_is_repeated_and_judged_once(
    server: FaultServer, client: Client, pauses: list[float], fault: Fault
) -> None:
    server.faults.extend([fault, fault])

    assert client.judge("x", task="relu").message == "x"
    assert server.judged == ["x"]
    assert len(pauses) == 2


@pytest.mark.parametrize("fault", [busy(429), drop, lose_answer])
def test_a_batch_is_repeated_and_judged_once(
    server: FaultServer, client: Client, pauses: list[float], fault: Fault
) -> None:
    server.polls_until_done = 2
    server.faults.extend([fault, None] * 10)

    verdicts = client.judge_many(MANY)

    assert [verdict.message for verdict in verdicts] == [candidate.code for candidate in MANY]
    assert sorted(server.judged) == sorted(candidate.code for candidate in MANY)


def test_async_client_repeats_requests_too(server: FaultServer, pauses: list[float]) -> None:
    server.polls_until_done = 2
    server.faults.extend([busy(429), drop, lose_answer, None] * 3)

    async def judge() -> list[kbx.Verdict]:
        async with kbx.AsyncClient(server.url) as client:
            return await client.judge_many(MANY)

    verdicts = asyncio.run(judge())

    assert [verdict.message for verdict in verdicts] == [candidate.code for candidate in MANY]
    assert sorted(server.judged) == sorted(candidate.code for candidate in MANY)


def test_retry_after_is_honoured(server: FaultServer, client: Client, pauses: list[float]) -> None:
    server.faults.extend([busy(429, "7"), busy(503, "Thu, 01 Jan 1970 00:00:00 GMT"), busy(503, "soon")])

    client.judge("x", task="relu")

    assert pauses[:2] == [7.0, 0.0]
    assert 0.5 <= pauses[2] <= 1.0


def test_pauses_double_to_half_a_minute(server: FaultServer, pauses: list[float]) -> None:
    server.faults.extend([busy(503, None)] * 12)

    with Client(server.url, patience=1000) as client:
        client.judge("x", task="relu")

    ends = [min(30.0, 0.25 * 2**attempt) for attempt in range(12)]
    assert all(end / 2 <= pause <= end for pause, end in zip(pauses, ends, strict=True))


def test_retries_end_at_the_limit(server: FaultServer, client: Client, pauses: list[float]) -> None:
    server.faults.extend([busy(429, "25")] * 5)

    with pytest.raises(kbx.Unavailable, match="busy .429.: the queue is full; gave up after 3 tries"):
        client.judge("x", task="relu")
    assert server.judged == []


def test_a_server_that_never_answered_is_given_up_soon(pauses: list[float], caplog: pytest.LogCaptureFixture) -> None:
    server = FaultServer()
    server.close()

    told = f"{server.url}: connection lost .*: start it with 'kbx serve', or name another one by url or KBX_URL"
    with Client(server.url) as client, pytest.raises(kbx.Unavailable, match=told):
        client.judge("x", task="relu")

    assert 4 < sum(pauses) <= 10
    assert len(caplog.records) == 1
    assert re.search(f"{told}; trying again for 10 s", caplog.records[0].message)


def test_a_server_that_answered_is_waited_for(server: FaultServer, client: Client, pauses: list[float]) -> None:
    client.judge("x", task="relu")
    server.faults.extend([drop] * 7)

    client.judge("y", task="relu")

    assert sum(pauses) > 10


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, kbx.Invalid), (401, kbx.Unauthorized), (403, kbx.Forbidden), (413, kbx.Invalid), (418, kbx.Refused)],
)
def test_refused_requests_are_not_repeated(
    server: FaultServer, client: Client, status: int, kind: type[kbx.Refused]
) -> None:
    server.faults.append(say(b'{"detail": "no", "pointer": "/candidates/0/task"}', status))

    with pytest.raises(kind, match=f"refused with {status}: no ./candidates/0/task.") as refusal:
        client.judge("x", task="relu")
    assert refusal.value.pointer == "/candidates/0/task"
    assert server.requests == []


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>a proxy's page</html>",
        b"",
        b"[]",
        b'{"judgements": 3}',
        b'{"judgements": []}',
        b'{"judgements": [3]}',
        b'{"judgements": [{"id": "j"}]}',
        b'{"judgements": [{"id": "j", "state": "lost"}]}',
        b'{"judgements": [{"id": 3, "state": "done"}]}',
        b'{"judgements": [{"id": "j", "state": "done", "verdict": {"status": "correct"}}]}',
        b'{"judgements": [{"id": "j", "state": "done", "verdict": {"status": 1, "stage": "call", "task": "t"}}]}',
    ],
)
def test_malformed_answers_are_reported(server: FaultServer, client: Client, answer: bytes) -> None:
    server.faults.append(say(answer))

    with pytest.raises(kbx.ProtocolError):
        client.judge("x", task="relu")


def test_failing_server_is_reported(server: FaultServer, client: Client) -> None:
    server.faults.append(say(b"oops", 500))

    with pytest.raises(kbx.ServerFault, match="500: oops"):
        client.judge("x", task="relu")


@pytest.mark.parametrize(
    ("state", "kind"), [("failed", kbx.JudgementFailed), ("expired", kbx.Expired), ("cancelled", kbx.Cancelled)]
)
def test_judgement_without_a_verdict_gives_no_reward(
    server: FaultServer, client: Client, state: str, kind: type[kbx.NoVerdict]
) -> None:
    server.states["x"] = state

    with pytest.raises(kind) as error:
        client.reward("x", task="relu")
    assert error.value.judgement is not None
    assert error.value.judgement.state == state


@pytest.mark.parametrize(
    ("status", "kind"), [("infrastructure", kbx.Infrastructure), ("invalid_task", kbx.InvalidTask)]
)
def test_infrastructure_verdict_gives_no_reward(
    server: FaultServer, client: Client, status: str, kind: type[kbx.NoVerdict]
) -> None:
    server.verdicts["x"] = {"status": status, "message": "the device is gone"}

    with pytest.raises(kind, match="the device is gone"):
        client.reward("x", task="relu")
    with pytest.raises(kind):
        client.judge_many([Candidate("y", "relu"), Candidate("x", "relu")])


def test_stream_continues_after_a_judgement_without_verdict(server: FaultServer, client: Client) -> None:
    server.states["y"] = "failed"
    server.polls_until_done = 1

    ended = dict(client.stream([Candidate("x", "relu"), Candidate("y", "relu"), Candidate("z", "relu")]))

    assert ended[0].result().message == "x"
    assert ended[2].result().message == "z"
    with pytest.raises(kbx.JudgementFailed):
        ended[1].result()


def test_waiting_ends_at_the_callers_limit(server: FaultServer, client: Client) -> None:
    server.polls_until_done = 10**9

    with pytest.raises(kbx.WaitTimeout) as late:
        client.judge("x", task="relu", timeout=0.05)
    assert client.get(late.value.ids[0]).state == "queued"

    with pytest.raises(kbx.WaitTimeout):
        client.judge_many([Candidate("y", "relu")], timeout=0.05)


def test_cancelling_again_after_a_lost_answer(server: FaultServer, client: Client, pauses: list[float]) -> None:
    server.polls_until_done = 10**9
    (judgement,) = client.submit([Candidate("x", "relu")])
    server.faults.append(lose_answer)

    assert client.cancel(judgement.id).state == "cancelled"


def test_finished_judgements_are_not_cancelled(server: FaultServer, client: Client) -> None:
    (judgement,) = client.submit([Candidate("x", "relu")])

    with pytest.raises(kbx.Conflict):
        client.cancel(judgement.id)


def test_a_batch_is_bounded_at_the_server(server: FaultServer, client: Client) -> None:
    server.polls_until_done = 10**9
    read = 0

    def endless() -> kbx.Candidate:
        nonlocal read
        read += 1
        return Candidate(f"code {read}", "relu")

    with pytest.raises(kbx.WaitTimeout):
        client.judge_many(iter(endless, None), timeout=0.1)
    assert len(server.judged) == 256


def test_large_sources_are_sent_in_several_requests(server: FaultServer, client: Client) -> None:
    client.submit([Candidate("x" * 400_000, "relu")] * 5)

    assert [len(body["candidates"]) for _, _, _, body in server.requests] == [2, 2, 1]


def test_token_and_address_come_from_the_environment(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBX_URL", server.url + "/")
    monkeypatch.setenv("KBX_TOKEN", "kbx_secret")
    kbx._client.cache_clear()
    try:
        assert kbx.judge("x", task="relu").correct
        assert kbx.reward("x", task="relu") == pytest.approx(0.4)
    finally:
        kbx._client().close()
        kbx._client.cache_clear()
    assert {headers["authorization"] for headers in server.headers} == {"Bearer kbx_secret"}


def test_an_address_without_a_scheme_is_refused() -> None:
    with pytest.raises(ValueError, match="url: must begin with http"):
        Client("localhost:8470")


def test_events_go_on_after_the_last_one_received(server: FaultServer, client: Client, pauses: list[float]) -> None:
    server.streams.extend(
        [
            b'id: 1\nevent: progress\ndata: {"done": 1}\n\nid: 2\nevent: progress\ndata: {"do',
            b'id: 2\nevent: progress\ndata: {"done": 2}\n\n',
            b"event: end\ndata: {}\n\n",
        ]
    )
    server.faults.extend([None, busy(503), None, None])

    events = list(client.events("r"))

    assert [(event.kind, event.id) for event in events] == [("progress", "1"), ("progress", "2"), ("end", None)]
    assert [headers.get("last-event-id") for headers in server.headers] == [None, "1", "1", "2"]


def test_events_of_an_unknown_run_are_refused(server: FaultServer, client: Client) -> None:
    server.faults.append(say(b'{"detail": "no run r"}', 404))

    with pytest.raises(kbx.NotFound, match="no run r"):
        list(client.events("r"))


def test_events_are_awaited(server: FaultServer, pauses: list[float]) -> None:
    server.streams.extend([b'id: 1\nevent: progress\ndata: {"done": 1}\n\n', b"event: end\ndata: {}\n\n"])

    async def kinds() -> list[str]:
        async with kbx.AsyncClient(server.url) as client:
            return [event.kind async for event in client.events("r")]

    assert asyncio.run(kinds()) == ["progress", "end"]
