"""The reward function as verl loads and calls it."""

from __future__ import annotations

import asyncio

import numpy
import pytest
import torch
from fault_server import FaultServer
from omegaconf import OmegaConf
from stand_in import EXAMPLES, check_learning
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.trainer.ppo.reward import get_custom_reward_fn

import kbx
import kbx.integrations.verl as adapter

RIGHT = (EXAMPLES / "honest/relu.py").read_text()


class Decoder:
    """Stands for a tokenizer."""

    def decode(self, ids: torch.Tensor, skip_special_tokens: bool) -> str:
        return f"Here it is:\n```python\n{RIGHT}\n```"


def test_a_policy_learns_from_the_function(url: str) -> None:
    check_learning(url, "verl")


def test_the_reward_manager_gets_the_score(url: str) -> None:
    function = {"path": adapter.__file__, "name": "compute_score", "reward_kwargs": {"url": url, "run": "verl"}}
    compute = get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": function}}))
    with kbx.Client(url) as client:
        rows = adapter.rows(client, [task for task in client.tasks() if task.name == "relu"])
        expected = client.reward(RIGHT, task="relu")
    columns = {name: numpy.array([row[name] for row in rows], dtype=object) for name in rows[0] if name != "prompt"}
    tokens = {"responses": torch.ones(1, 4, dtype=torch.long), "attention_mask": torch.ones(1, 8, dtype=torch.long)}

    async def run() -> dict[str, object]:
        manager = NaiveRewardManager(OmegaConf.create({}), Decoder(), compute)
        manager.loop = asyncio.get_running_loop()
        found: dict[str, object] = await manager.run_single(DataProto.from_dict(tensors=tokens, non_tensors=columns))
        return found

    assert asyncio.run(run())["reward_score"] == pytest.approx(expected)


def test_without_a_verdict_there_is_no_score() -> None:
    server = FaultServer()
    server.states["bad"] = "failed"
    try:
        with pytest.raises(kbx.JudgementFailed):
            asyncio.run(adapter.compute_score("kbx", "bad", "relu", {}, url=server.url))
    finally:
        server.close()
