"""Sessions of a real server that judges real kernels."""

from __future__ import annotations

import asyncio

import pytest

import kbx
from kbx import Budget, Client, SessionOptions

OPTIONS = SessionOptions(run="sessions", model="scripted", budget=Budget(judgements=3))


def test_feedback_leads_to_a_kernel_that_held_out_inputs_confirm(
    client: Client, relu: str, tail_left_out: str, cached_result: str
) -> None:
    with client.session("relu", options=OPTIONS) as session:
        wrong, cheat, right = session.turn(tail_left_out), session.turn(cached_result), session.turn(relu)
        with pytest.raises(kbx.Conflict, match="budget"):
            session.turn(relu)
        final = session.final()

    assert "relu" in session.prompt
    assert (wrong.status, cheat.status, right.status) == ("wrong_values", "rejected_static", "correct")
    assert [turn.reward for turn in (wrong, cheat, right)] == pytest.approx([0.15, 0.0, 0.6])
    assert "wrong" in wrong.feedback.lower()
    assert all(turn.verdict is not None and kbx.shape(turn.verdict) == turn.reward for turn in session.turns)
    assert final.turn == 2
    assert final.reward == pytest.approx(0.6)
    assert final.verdict is not None
    assert final.verdict.correct


def test_a_session_goes_on_in_another_client(url: str, client: Client, relu: str) -> None:
    async def goes_on(identity: str) -> kbx.Answer:
        async with kbx.AsyncClient(url) as other:
            session = await other.resume(identity)
            assert [turn.correct for turn in session.turns] == [True]
            return await session.final()

    session = client.session("Activation/relu", options=OPTIONS)
    session.turn(f"```python\n{relu}\n```")
    assert asyncio.run(goes_on(session.id)).turn == 0
