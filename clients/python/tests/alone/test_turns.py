"""What adapters for several turns do, without their libraries."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from fault_server import FaultServer, busy

import kbx
from kbx import Budget, SessionOptions
from kbx.integrations.trl import environment_factory, rows, session_rollout
from kbx.integrations.turns import Message, Model, play

WRONG = {"status": "wrong_values", "exe_ok": False}


def test_a_conversation_has_the_feedback_of_each_turn(server: FaultServer) -> None:
    server.verdicts["first"] = WRONG
    seen: list[list[Message]] = []

    async def model(messages: list[Message]) -> str:
        seen.append(messages)
        return ["first", "second"][len(seen) - 1]

    async def run() -> kbx.Answer:
        async with kbx.AsyncClient(server.url) as client:
            return await play(await client.session("relu"), model)

    assert asyncio.run(run()).turn == 1
    assert [message["content"] for message in seen[1]] == ["Write relu please", "first", "It is wrong_values."]


LIMITS = [Budget(judgements=2), Budget(device_seconds=8.0), Budget(wall_seconds=8.0)]
COST = {"judgements": 1, "device_seconds": 5.0, "wall_seconds": 5.0}


def played(server: FaultServer, says: Model, budget: Budget | None = None) -> tuple[int, int | None]:
    """How many turns a conversation had, and whose is the answer."""

    async def run() -> tuple[int, int | None]:
        async with kbx.AsyncClient(server.url) as client:
            session = await client.session("relu", options=SessionOptions(budget=budget))
            answer = await play(session, says)
            return len(session.turns), answer.turn

    return asyncio.run(run())


async def always_wrong(messages: list[Message]) -> str:
    return "wrong"


def spend(server: FaultServer, budget: Budget) -> None:
    server.verdicts["wrong"] = WRONG
    server.cost = {limit: cost for limit, cost in COST.items() if getattr(budget, limit) is not None}


@pytest.mark.parametrize("budget", LIMITS)
def test_a_conversation_ends_with_its_budget(server: FaultServer, budget: Budget) -> None:
    spend(server, budget)
    assert played(server, always_wrong, budget) == (2, 0)


def test_a_turn_that_is_too_late_ends_a_conversation(server: FaultServer) -> None:
    server.verdicts["wrong"] = WRONG
    server.faults.extend([None, None, busy(409)])
    assert played(server, always_wrong) == (1, 0)


def test_an_error_ends_the_session(server: FaultServer) -> None:
    async def failing(messages: list[Message]) -> str:
        raise OSError("no model")

    with pytest.raises(OSError, match="no model"):
        played(server, failing)
    with kbx.Client(server.url) as client:
        assert not client.resume("s_0").open


def test_an_environment_of_trl_has_the_protocol_that_its_trainer_asks_for(server: FaultServer) -> None:
    server.verdicts["wrong"] = WRONG
    environment = environment_factory(server.url, options=SessionOptions(budget=Budget(judgements=2)))()
    tools = [name for name, _ in inspect.getmembers(environment, inspect.ismethod) if not name.startswith("_")]
    assert sorted(tools) == ["get_reward", "judge_kernel", "reset"]
    assert "Args:" in str(environment.judge_kernel.__doc__)
    environment.reset(prompt="p", task="Activation/relu", suite="kernelbenchx")
    assert asyncio.run(environment.judge_kernel("wrong")) == "It is wrong_values."
    assert asyncio.run(environment.judge_kernel("right")) == "It is correct."
    assert asyncio.run(environment.judge_kernel("more")) == "the budget is spent"
    assert environment.get_reward() == pytest.approx(0.5)


class Words:
    """A tokenizer that has one token for each word."""

    eos_token_id = 0

    def __init__(self) -> None:
        self._words = ["<end>"]

    def apply_chat_template(
        self, messages: list[Message], return_dict: bool, add_generation_prompt: bool = False
    ) -> dict[str, list[int]]:
        words = " ".join(self._written(messages)).split()
        for word in words:
            if word not in self._words:
                self._words.append(word)
        return {"input_ids": [self._words.index(word) for word in words]}

    def _written(self, messages: list[Message]) -> list[str]:
        return [message["content"] for message in messages]

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        return " ".join(self._words[each] for each in ids)


class Forgetful(Words):
    """Leaves out the thoughts of replies that a message follows, as templates of some models do."""

    def _written(self, messages: list[Message]) -> list[str]:
        *earlier, last = super()._written(messages)
        return [*(text.split("</think>")[-1] for text in earlier), last]


class Trainer:
    def __init__(self, tokenizer: Words) -> None:
        self.processing_class = tokenizer


Made = dict[str, list[Any]]


def rolled_out(
    server: FaultServer, says: list[str], budget: Budget | None = None, tokenizer: Words | None = None
) -> tuple[Made, Words]:
    """One rollout of a model that says these."""
    with kbx.Client(server.url) as client:
        data = rows(client, [task for task in client.tasks() if task.name == "relu"])
    trainer, left = Trainer(tokenizer or Words()), iter(says)

    def generate(_: object, conversations: list[list[int]]) -> list[list[int]]:
        message = {"role": "assistant", "content": next(left)}
        return [trainer.processing_class.apply_chat_template([message], return_dict=True)["input_ids"]]

    rollout = session_rollout(data, server.url, options=SessionOptions(budget=budget), generate=generate)
    return rollout([data[0]["prompt"]], trainer), trainer.processing_class


def test_a_rollout_masks_what_the_model_is_told(server: FaultServer) -> None:
    server.verdicts["wrong"] = WRONG
    made, tokenizer = rolled_out(server, ["wrong", "right"])

    (completion,), (mask,) = made["completion_ids"], made["env_mask"]
    assert tokenizer.decode(completion, True) == "wrong It is wrong_values. right"
    assert mask == [1, 0, 0, 0, 1]
    assert (made["session_reward"], made["turns"]) == ([pytest.approx(0.5)], [2])


def test_a_template_that_rewrites_replies_is_refused(server: FaultServer) -> None:
    reply = "<think> long </think> wrong"
    server.verdicts[reply] = WRONG
    with pytest.raises(ValueError, match="chat_template"):
        rolled_out(server, [reply, "right"], tokenizer=Forgetful())


@pytest.mark.parametrize("budget", LIMITS)
def test_a_rollout_ends_with_its_budget(server: FaultServer, budget: Budget) -> None:
    spend(server, budget)
    made, _ = rolled_out(server, ["wrong"] * 3, budget)
    assert (made["session_reward"], made["turns"]) == ([pytest.approx(0.25)], [2])


def test_a_turn_that_is_too_late_ends_a_rollout(server: FaultServer) -> None:
    server.verdicts["wrong"] = WRONG
    tasks_prompt_begin_turn = [None] * 4
    server.faults.extend([*tasks_prompt_begin_turn, busy(409)])
    assert rolled_out(server, ["wrong"] * 2)[0]["turns"] == [1]


def test_an_error_ends_the_sessions_of_a_rollout(server: FaultServer) -> None:
    server.states["bad"] = "failed"
    with pytest.raises(kbx.JudgementFailed):
        rolled_out(server, ["bad"])
    with kbx.Client(server.url) as client:
        assert not client.resume("s_0").open
