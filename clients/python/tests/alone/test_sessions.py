"""Sessions with a server that loses answers, is slow, and fails."""

from __future__ import annotations

import asyncio

import pytest
from fault_server import FaultServer, busy, drop, lose_answer

import kbx
from kbx import Budget, Client, SessionOptions

OPTIONS = SessionOptions(model="m", budget=Budget(judgements=2), conditions={"shots": "zero"})


def test_turns_and_the_end_have_rewards(server: FaultServer, client: Client) -> None:
    server.verdicts["wrong"] = {"status": "wrong_values", "exe_ok": False}
    with client.session("relu", options=OPTIONS) as session:
        first, second = session.turn("wrong"), session.turn("right")
        final = session.final()

    assert session.prompt == "Write relu please"
    assert (first.number, first.correct, first.reward, first.feedback) == (0, False, 0.15, "It is wrong_values.")
    assert (second.correct, second.reward, session.left.judgements) == (True, 0.4, 0)
    assert (final.turn, final.reward) == (1, 0.5)
    begun = next(body for method, path, _, body in server.requests if path == "/v1/sessions")
    assert {**begun, "key": None} == {
        "task": "relu",
        "key": None,
        "model": "m",
        "conditions": {"shots": "zero"},
        "budget": {"judgements": 2},
    }
    assert not any(method == "DELETE" for method, *_ in server.requests)


def test_lost_answers_are_asked_for_again_and_judged_once(
    server: FaultServer, client: Client, pauses: list[float]
) -> None:
    server.polls_until_done = 2
    server.faults.extend([lose_answer, None, drop, lose_answer, busy(503), None])
    session = client.session("relu")
    turn = session.turn("right")

    assert turn.correct
    assert server.judged == ["right"]
    assert len(session.turns) == 1
    begun = [body["key"] for _, path, _, body in server.requests if path == "/v1/sessions"]
    assert len(begun) == 2
    assert len(set(begun)) == 1


def test_a_session_is_resumed_by_its_id(server: FaultServer, client: Client) -> None:
    client.session("relu").turn("right")
    session = client.resume("s_0")
    assert [turn.reward for turn in session.turns] == [0.4]
    assert (session.open, session.answer) == (True, None)
    session.final()
    assert client.resume("s_0").answer == session.answer


def test_a_judge_that_failed_gives_no_reward(server: FaultServer, client: Client) -> None:
    server.verdicts["bad"] = {"status": "infrastructure"}
    server.states["worse"] = "failed"
    session = client.session("relu")
    with pytest.raises(kbx.Infrastructure):
        session.turn("bad")
    with pytest.raises(kbx.JudgementFailed):
        session.turn("worse")
    assert session.turns[0].reward is None
    assert session.turn("right").reward == 0.4


def test_shaping_makes_the_rewards(client: Client) -> None:
    session = client.session("relu", shaping=kbx.RewardShaping(right=1.0))
    assert session.turn("right").reward == 1.0
    assert session.final().reward == 1.0


def test_a_session_that_is_left_is_ended(server: FaultServer, client: Client) -> None:
    with client.session("relu"):
        pass
    assert client.resume("s_0").open is False


def test_a_spent_budget_is_told(client: Client) -> None:
    session = client.session("relu", options=SessionOptions(budget=Budget(judgements=1)))
    session.turn("right")
    with pytest.raises(kbx.Conflict, match="budget"):
        session.turn("right")


def test_a_wait_may_end(server: FaultServer, client: Client) -> None:
    server.polls_until_done = 1_000_000
    with pytest.raises(kbx.WaitTimeout):
        client.session("relu").turn("right", timeout=0.01)


def test_async_sessions_are_alike(server: FaultServer) -> None:
    async def run() -> list[float | None]:
        async with kbx.AsyncClient(server.url) as client, await client.session("relu") as session:
            turns = [(await session.turn(code)).reward for code in ("right", "other")]
            resumed = await client.resume(session.id)
            return [*turns, (await resumed.final(turn=0)).reward]

    assert asyncio.run(run()) == [0.4, 0.4, 0.5]
