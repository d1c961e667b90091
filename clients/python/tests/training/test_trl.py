from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from fault_server import FaultServer
from tiny import tiny_model, tiny_tokenizer
from trl import GRPOConfig, GRPOTrainer

import kbx
from kbx.integrations.trl import RewardFunction, reward_function, rows

COMPLETIONS = 64
STEPS = 8


def trainer(
    folder: Path, tasks: list[kbx.Task], prompts: list[dict[str, Any]], answers: list[str], reward: RewardFunction
) -> GRPOTrainer:
    tokenizer = tiny_tokenizer(answers, [task.name for task in tasks])
    settings = GRPOConfig(
        output_dir=str(folder),
        max_steps=STEPS,
        learning_rate=0.03,
        lr_scheduler_type="constant",
        num_generations=COMPLETIONS // len(tasks),
        per_device_train_batch_size=COMPLETIONS,
        max_completion_length=1,
        logging_steps=1,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    return GRPOTrainer(
        model=tiny_model(tokenizer),
        processing_class=tokenizer,
        reward_funcs=reward,
        train_dataset=Dataset.from_list(prompts),
        args=settings,
    )


def test_a_model_learns_from_the_reward(url: str, tasks: list[kbx.Task], answers: list[str], tmp_path: Path) -> None:
    one = [task for task in tasks if task.name == "relu"]  # Words of two tasks apart are more than 8 steps teach.
    with kbx.Client(url) as client:
        prompts = rows(client, one)
    training = trainer(tmp_path, one, prompts, answers, reward_function(url))

    training.train()

    logs = [log for log in training.state.log_history if "reward" in log]
    rewards = [log["reward"] for log in logs]
    assert len(rewards) == STEPS
    assert all(0 <= reward <= 1 for reward in rewards)
    assert rewards[-1] > rewards[0]
    assert logs[0]["kbx/correct"] < 0.5 < 0.9 < logs[-1]["kbx/correct"]


def test_a_step_without_a_verdict_fails(tasks: list[kbx.Task], tmp_path: Path) -> None:
    server = FaultServer()
    server.states["bad"] = "failed"
    prompts = [{"prompt": task.name, "task": task.path} for task in tasks]
    training = trainer(tmp_path, tasks, prompts, ["good", "bad"], reward_function(server.url))

    try:
        with pytest.raises(kbx.JudgementFailed):
            training.train()
    finally:
        server.close()


def test_the_model_is_random(answers: list[str]) -> None:
    tokenizer = tiny_tokenizer(answers, [])
    odds = tiny_model(tokenizer)(torch.tensor([[3]])).logits[0, -1].softmax(-1)
    assert float(odds.max()) < 0.2
