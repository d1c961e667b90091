"""Judges 64 completions of four tasks in a training loop, twice: the second time kbx remembers them all.

    ./kbx serve &
    python examples/training/loop.py trl           # a step of TRL's GRPOTrainer
    python examples/training/loop.py verifiers     # an evaluation of the verifiers environment

The model is random and tiny; its words are the kernels of examples/, some honest, some wrong, some cheats.
"""

import argparse
import asyncio
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tiny import TinyChat, tiny_model, tiny_tokenizer

import kbx

EXAMPLES = Path(__file__).parent.parent
FOLDERS = ("honest", "mistakes", "cheats")
TASKS = ("Activation/gelu", "Activation/relu", "Math/softmax", "Reduce/sum")
VARIANTS = 8


def answers() -> list[str]:
    """The kernels of examples/, each in variants that differ in a comment, so that they are judged separately."""
    files = itertools.chain.from_iterable(sorted((EXAMPLES / folder).rglob("*.py")) for folder in FOLDERS)
    sources = [file.read_text() for file in files]
    return [f"# Variant {number}\n{source}" for source in sources for number in range(VARIANTS)]


def trl(tasks: list[kbx.Task], generations: int) -> list[float]:
    """The rewards of one step of GRPO."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from kbx.integrations.trl import reward_function, rows

    rewards: list[float] = []
    judge = reward_function()

    async def kbx_reward(**columns: object) -> list[float]:
        rewards.extend(await judge(**columns))
        return rewards

    tokenizer = tiny_tokenizer(answers(), [task.name for task in tasks])
    with kbx.Client() as client, tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=tiny_model(tokenizer),
            processing_class=tokenizer,
            reward_funcs=kbx_reward,
            train_dataset=Dataset.from_list(rows(client, tasks)),
            args=GRPOConfig(
                output_dir=folder,
                max_steps=1,
                num_generations=generations,
                per_device_train_batch_size=generations * len(tasks),
                max_completion_length=1,
                use_cpu=True,
                report_to=[],
                save_strategy="no",
                disable_tqdm=True,
            ),
        )
        trainer.train()
    return rewards


def verifiers(tasks: list[kbx.Task], generations: int) -> list[float]:
    """The rewards of an evaluation."""
    import verifiers.v1 as vf

    tokenizer = tiny_tokenizer(answers(), [task.name for task in tasks])
    chat = TinyChat(tiny_model(tokenizer), tokenizer)
    env = vf.load_environment(
        vf.resolve_env_config({"taskset": {"id": "kbx-verifiers", "tasks": [task.path for task in tasks]}})
    )
    context = vf.ModelContext(client=vf.EvalClientConfig(base_url=chat.url), model="tiny", sampling=vf.SamplingConfig())

    async def evaluate() -> list[vf.Episode]:
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task, generations)]
            return await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))

    try:
        episodes = asyncio.run(evaluate())
    finally:
        chat.close()
    failed = [error.message for episode in episodes for trace in episode.traces for error in trace.errors]
    if failed:
        sys.exit(f"{len(failed)} rollouts have no reward: {failed[0]}")
    return [trace.reward for episode in episodes for trace in episode.traces]


def main(library: Callable[[list[kbx.Task], int], list[float]], generations: int) -> None:
    with kbx.Client() as client:
        tasks = [task for task in client.tasks() if task.path in TASKS]
    for _ in range(2):
        start = time.monotonic()
        rewards = library(tasks, generations)
        figures = {
            "completions": len(rewards),
            "reward": round(sum(rewards) / len(rewards), 4),
            "best": round(max(rewards), 4),
        }
        print(json.dumps({**figures, "seconds": round(time.monotonic() - start, 2)}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=["trl", "verifiers"])
    parser.add_argument("--generations", type=int, default=16, help="completions a task")
    chosen = parser.parse_args()
    main({"trl": trl, "verifiers": verifiers}[chosen.library], chosen.generations)
