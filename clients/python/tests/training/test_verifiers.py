from __future__ import annotations

import asyncio

import pytest
import verifiers.v1 as vf
from fault_server import FaultServer
from tiny import TinyChat, tiny_model, tiny_tokenizer

import kbx

ROLLOUTS = 8


def evaluate(url: str, tasks: list[kbx.Task], answers: list[str]) -> list[vf.Episode]:
    tokenizer = tiny_tokenizer(answers, [task.name for task in tasks])
    chat = TinyChat(tiny_model(tokenizer), tokenizer)
    taskset = {"id": "kbx-verifiers", "tasks": [task.path for task in tasks], "task": {"url": url}}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
    context = vf.ModelContext(client=vf.EvalClientConfig(base_url=chat.url), model="tiny", sampling=vf.SamplingConfig())

    async def run() -> list[vf.Episode]:
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task, ROLLOUTS)]
            return await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))

    try:
        return asyncio.run(run())
    finally:
        chat.close()


def test_rollouts_get_the_reward_of_their_kernels(url: str, tasks: list[kbx.Task], answers: list[str]) -> None:
    episodes = evaluate(url, tasks, answers)

    assert len(episodes) == ROLLOUTS * len(tasks)
    assert all(episode.ok for episode in episodes)
    traces = [trace for episode in episodes for trace in episode.traces]
    candidates = [kbx.Candidate(trace.last_message.content, trace.task.data.task) for trace in traces]
    with kbx.Client(url) as client:
        verdicts = client.judge_many(candidates)
    assert [trace.reward for trace in traces] == [kbx.shape(verdict) for verdict in verdicts]
    assert [trace.metrics.get("correct") for trace in traces] == [
        None if verdict.correct is None else float(verdict.correct) for verdict in verdicts
    ]
    assert len({trace.reward for trace in traces}) > 1


def test_a_rollout_without_a_verdict_is_an_error(tasks: list[kbx.Task]) -> None:
    server = FaultServer()
    server.states["bad"] = "failed"
    try:
        episodes = evaluate(server.url, tasks, ["good", "bad"])
    finally:
        server.close()

    for episode in episodes:
        (trace,) = episode.traces
        assert episode.ok == (trace.last_message.content != "bad")
        if not episode.ok:
            assert trace.last_error.type == "TaskError"
            assert "JudgementFailed" in trace.last_error.message
    assert {episode.ok for episode in episodes} == {True, False}


def test_unknown_task_is_named(url: str) -> None:
    taskset = {"id": "kbx-verifiers", "tasks": ["nothing"], "task": {"url": url}}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
    with pytest.raises(ValueError, match="tasks: the server has no nothing"):
        list(env.taskset)
