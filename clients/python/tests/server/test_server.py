"""The client with a real server that judges real kernels."""

from __future__ import annotations

import asyncio

import pytest

import kbx
from kbx import Candidate, Client, Options, Plan


def test_a_kernel_is_judged_and_remembered(client: Client, relu: str) -> None:
    verdict = client.judge(relu, task="Activation/relu")

    assert (verdict.status, verdict.correct, verdict.general_ok) == ("correct", True, True)
    assert (verdict.task, verdict.category, verdict.policy) == ("relu", "Activation", "kernel")
    assert verdict.speedup is None
    assert verdict.raw["features"]["lines"] > 0
    assert client.reward(relu, task="relu") == kbx.shape(verdict) == pytest.approx(0.6)
    (again,) = client.submit([Candidate(relu, "relu")])
    assert client.get(again.id, wait=60).cached


def test_a_reply_with_fences_is_read(client: Client, relu: str) -> None:
    assert client.judge(f"Here:\n```python\n{relu}\n```\nDone.", task="relu").correct


def test_a_batch_keeps_its_order(client: Client, relu: str, tail_left_out: str, cached_result: str) -> None:
    batch = [Candidate(code, "relu") for code in (tail_left_out, relu, "def", cached_result)] * 3

    verdicts = client.judge_many(batch)

    statuses = ["wrong_values", "correct", "syntax_error", "rejected_static"]
    assert [verdict.status for verdict in verdicts] == statuses * 3
    assert [kbx.shape(verdict) for verdict in verdicts[:4]] == pytest.approx([0.15, 0.6, 0.0, 0.0])
    ended = {index: judgement.result().status for index, judgement in client.stream(batch)}
    assert [ended[index] for index in range(len(batch))] == statuses * 3


def test_async_client_gives_equal_judgements(url: str, relu: str, tail_left_out: str) -> None:
    async def judge() -> list[str]:
        async with kbx.AsyncClient(url) as client:
            one = (await client.judge(relu, task="relu")).status
            many = await client.judge_many([Candidate(tail_left_out, "relu"), Candidate(relu, "relu")])
            streamed = [item async for item in client.stream([Candidate(relu, "relu")])]
            return [one, *(verdict.status for verdict in many), *(item.result().status for _, item in streamed)]

    assert asyncio.run(judge()) == ["correct", "wrong_values", "correct", "correct"]


def test_equal_keys_have_one_judgement(client: Client, relu: str) -> None:
    first, second = (client.submit([Candidate(relu, "relu", key="again")])[0] for _ in range(2))
    assert first.id == second.id


def test_finished_judgement_cannot_be_cancelled(client: Client, relu: str) -> None:
    (judgement,) = client.submit([Candidate(relu, "relu")])
    assert client.get(judgement.id, wait=60).state == "done"
    with pytest.raises(kbx.Conflict):
        client.cancel(judgement.id)


def test_queued_judgement_can_be_cancelled(client: Client, relu: str) -> None:
    batch = [Candidate(f"# {number}\n{relu}", "relu") for number in range(40)]
    last = client.submit(batch, options=Options(priority=-10))[-1]
    assert client.cancel(last.id).state == "cancelled"
    with pytest.raises(kbx.Cancelled):
        client.get(last.id).result()


def test_events_of_a_run_are_its_verdicts(client: Client, relu: str, tail_left_out: str) -> None:
    options = Options(run="events", plan=Plan(grade="general"))
    judgements = client.submit([Candidate(relu, "relu"), Candidate(tail_left_out, "relu")], options=options)
    run = judgements[0].run
    assert run is not None

    events = list(client.events(run))

    verdicts = [event.verdict for event in events if event.verdict]
    assert sorted(verdict.status for verdict in verdicts) == ["correct", "wrong_values"]
    assert {verdict.grade for verdict in verdicts} == {"general"}
    assert events[-1].kind == "end"
    first = next(event for event in events if event.kind == "verdict")
    later = [event for event in client.events(run, after=first.id) if event.kind == "verdict"]
    assert len(later) == 1


def test_tasks_and_prompts_are_listed(client: Client) -> None:
    tasks = client.tasks(category="Activation")
    relu = next(task for task in tasks if task.name == "relu")

    assert relu.path == "Activation/relu"
    assert {task.category for task in tasks} == {"Activation"}
    assert "relu" in client.prompt(relu)
    assert client.prompt(relu) != client.prompt(relu, grade="general")


def test_request_errors_are_explained(client: Client, relu: str) -> None:
    with pytest.raises(kbx.Invalid, match="nothing") as wrong:
        client.judge_many([Candidate(relu, "relu"), Candidate(relu, "nothing")])
    assert wrong.value.pointer == "/candidates/1/task"
    with pytest.raises(kbx.NotFound):
        client.get("j_0")
    with pytest.raises(kbx.NotFound):
        list(client.events("20000101T000000-none"))
    with pytest.raises(kbx.Invalid):
        client.judge(relu, task="relu", options=Options(priority=11))
