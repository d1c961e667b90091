"""What adapters for several turns do, without their libraries."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from fault_server import FaultServer

import kbx
from kbx import Budget, SessionOptions
from kbx.integrations.trl import environment_factory, rows, session_rollout
from kbx.integrations.turns import Message, play

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


def test_a_conversation_ends_with_its_budget(server: FaultServer) -> None:
    server.verdicts["wrong"] = WRONG

    async def model(messages: list[Message]) -> str:
        return "wrong"

    async def run() -> int:
        options = SessionOptions(budget=Budget(judgements=2))
        async with kbx.AsyncClient(server.url) as client:
            session = await client.session("relu", options=options)
            await play(session, model)
            return len(session.turns)

    assert asyncio.run(run()) == 2


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
        words = " ".join(message["content"] for message in messages).split()
        for word in words:
            if word not in self._words:
                self._words.append(word)
        return {"input_ids": [self._words.index(word) for word in words]}

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        return " ".join(self._words[each] for each in ids)


class Trainer:
    def __init__(self) -> None:
        self.processing_class = Words()


def test_a_rollout_masks_what_the_model_is_told(server: FaultServer) -> None:
    server.verdicts["wrong"] = WRONG
    with kbx.Client(server.url) as client:
        data = rows(client, [task for task in client.tasks() if task.name == "relu"])
    trainer, says = Trainer(), iter(["wrong", "right"])

    def generate(_: object, conversations: list[list[int]]) -> list[list[int]]:
        message = {"role": "assistant", "content": next(says)}
        return [trainer.processing_class.apply_chat_template([message], return_dict=True)["input_ids"]]

    made = session_rollout(data, server.url, generate=generate)([data[0]["prompt"]], trainer)

    (completion,), (mask,) = made["completion_ids"], made["env_mask"]
    assert trainer.processing_class.decode(completion, True) == "wrong It is wrong_values. right"
    assert mask == [1, 0, 0, 0, 1]
    assert (made["session_reward"], made["turns"]) == ([pytest.approx(0.5)], [2])
