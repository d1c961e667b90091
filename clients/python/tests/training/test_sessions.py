from __future__ import annotations

import asyncio
from typing import Any

import pytest
import verifiers.v1 as vf
from fault_server import FaultServer
from stand_in import check_learning
from tiny import Chat

import kbx


@pytest.mark.parametrize("library", ["session", "verifiers", "trl"])
def test_a_policy_learns_in_sessions(url: str, library: str) -> None:
    check_learning(url, library)


def test_a_rollout_that_is_tried_again_has_a_session_of_its_own() -> None:
    server = FaultServer()
    server.verdicts["wrong"] = {"status": "wrong_values", "exe_ok": False}
    says = iter(["right, but not this rollout's", None, "wrong", "wrong"])

    def answer(messages: list[dict[str, Any]]) -> str:
        said = next(says)
        if said is None:
            raise OSError("the model is away")
        return said

    chat = Chat(answer)
    task = {"url": server.url, "turns": 2, "stop_when_correct": False}
    config = {
        "taskset": {"id": "kbx-sessions", "tasks": ["relu"], "task": task},
        "agent": {"retries": {"max_retries": 1}},
    }
    env = vf.load_environment(vf.resolve_env_config(config))
    context = vf.ModelContext(client=vf.EvalClientConfig(base_url=chat.url), model="m", sampling=vf.SamplingConfig())

    async def run() -> vf.Episode:
        async with env.serving():
            (slot,) = (slot for each in env.taskset for slot in env.slots(each, 1))
            return await asyncio.wait_for(env.run_slot(slot, context), 100)

    try:
        (trace,) = asyncio.run(run()).traces
        with kbx.Client(server.url) as client:
            first, second = client.resume("s_0"), client.resume("s_1")
    finally:
        chat.close()
        server.close()

    assert trace.reward == pytest.approx(0.25)
    assert (len(first.turns), first.open, first.answer) == (1, False, None)
    assert len(second.turns) == 2
