"""A policy without a model learns which of three kernels is right: 20 steps of sessions through an adapter.

    ./kbx serve &
    python examples/training/sessions.py session       # kbx.AsyncClient.session
    python examples/training/sessions.py openenv       # an environment of OpenEnv, its server and its client
    python examples/training/sessions.py verifiers     # rollouts of the environment kbx-sessions
    python examples/training/sessions.py trl           # GRPOTrainer with several turns; a random model of three words
    python examples/training/sessions.py verl          # the reward function, called as verl's reward managers call it

Prints the mean reward of each step, and rewards a second. Each rollout has at most two turns.
"""

import argparse
import asyncio
import json
import math
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import kbx
from kbx import Budget, SessionOptions
from kbx.integrations.turns import Message, play

EXAMPLES = Path(__file__).parent.parent
KERNELS = [
    (EXAMPLES / name).read_text()
    for name in ("honest/relu.py", "mistakes/tail_left_out/relu.py", "cheats/cached_result/relu.py")
]
TASK = "Activation/relu"
STEPS = 20
ROLLOUTS = 8
TURNS = 2
OPTIONS = SessionOptions(run="sessions", budget=Budget(judgements=TURNS), conditions={"shots": "zero"})

Rollout = tuple[list[int], float]
"""The kernels that were chosen, turn by turn, and the reward."""


class Policy:
    """Chooses among kernels at random; REINFORCE makes those with more than the mean reward more likely."""

    def __init__(self, rate: float = 1.0) -> None:
        self._weights = [0.0] * len(KERNELS)
        self._rate = rate
        self._draw = random.Random(0)

    def odds(self) -> list[float]:
        powers = [math.exp(weight) for weight in self._weights]
        return [power / sum(powers) for power in powers]

    def choose(self) -> int:
        return self._draw.choices(range(len(KERNELS)), self.odds())[0]

    def learn(self, rollouts: list[Rollout]) -> None:
        mean = sum(reward for _, reward in rollouts) / len(rollouts)
        odds = self.odds()
        for chosen, reward in rollouts:
            for choice in chosen:
                for kernel, odd in enumerate(odds):
                    self._weights[kernel] += self._rate * (reward - mean) * ((kernel == choice) - odd)


Step = Callable[[Policy], Awaitable[list[Rollout]]]


async def session(policy: Policy) -> list[Rollout]:
    async with kbx.AsyncClient() as client:

        async def rollout() -> Rollout:
            chosen: list[int] = []

            async def model(messages: list[Message]) -> str:
                chosen.append(policy.choose())
                return KERNELS[chosen[-1]]

            final = await play(await client.session(TASK, options=OPTIONS), model)
            return chosen, final.reward or 0.0

        return list(await asyncio.gather(*(rollout() for _ in range(ROLLOUTS))))


class OpenEnv:
    """The environment's server in a thread of this process; each rollout is a client of its own."""

    def __init__(self) -> None:
        import socket
        import threading

        import uvicorn

        from kbx.integrations.openenv import app

        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        self._url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self._server = uvicorn.Server(uvicorn.Config(app(options=OPTIONS), log_level="error"))
        threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True).start()
        while not self._server.started:
            time.sleep(0.05)

    async def step(self, policy: Policy) -> list[Rollout]:
        from kbx.integrations.openenv import KernelAction, KernelEnv

        async def rollout() -> Rollout:
            chosen: list[int] = []
            async with KernelEnv(base_url=self._url) as env:
                result = await env.reset(task=TASK)
                while not result.done:
                    chosen.append(policy.choose())
                    result = await env.step(KernelAction(code=KERNELS[chosen[-1]]))
            return chosen, float(result.reward or 0.0)

        return list(await asyncio.gather(*(rollout() for _ in range(ROLLOUTS))))


class Verifiers:
    """Rollouts of the environment ``kbx-sessions``; the policy stands behind an endpoint as OpenAI's clients expect it."""

    def __init__(self, policy: Policy) -> None:
        import verifiers.v1 as vf
        from tiny import Chat

        self._chat = Chat(lambda messages: KERNELS[policy.choose()])
        task = {"run": "sessions", "turns": TURNS, "conditions": {"shots": "zero"}, "method": "verifiers"}
        self._env = vf.load_environment(
            vf.resolve_env_config({"taskset": {"id": "kbx-sessions", "tasks": [TASK], "task": task}})
        )
        client = vf.EvalClientConfig(base_url=self._chat.url)
        self._context = vf.ModelContext(client=client, model="policy", sampling=vf.SamplingConfig())

    async def step(self, policy: Policy) -> list[Rollout]:
        async with self._env.serving():
            slots = [slot for task in self._env.taskset for slot in self._env.slots(task, ROLLOUTS)]
            episodes = await asyncio.gather(*(self._env.run_slot(slot, self._context) for slot in slots))
        traces = [trace for episode in episodes for trace in episode.traces]
        for error in (error for trace in traces for error in trace.errors):
            raise RuntimeError(error.message)
        return [(self._chosen(trace), trace.reward) for trace in traces]

    def _chosen(self, trace: Any) -> list[int]:
        return [KERNELS.index(message.content) for message in trace.messages if message.role == "assistant"]


async def verl(policy: Policy) -> list[Rollout]:
    """One turn, as verl has it: what judges is its reward function."""
    from kbx.integrations.verl import compute_score

    chosen = [policy.choose() for _ in range(ROLLOUTS)]
    scores = await asyncio.gather(
        *(
            compute_score(data_source="kbx", solution_str=KERNELS[choice], ground_truth=TASK, extra_info={})
            for choice in chosen
        )
    )
    return [([choice], score["score"]) for choice, score in zip(chosen, scores, strict=True)]


def trl() -> list[float]:
    """The mean rewards of the steps of GRPO, whose model has a word for each kernel."""
    from datasets import Dataset
    from tiny import tiny_model, tiny_tokenizer
    from trl import GRPOConfig, GRPOTrainer

    from kbx.integrations.trl import rows, session_reward, session_rollout

    with kbx.Client() as client:
        data = rows(client, [task for task in client.tasks() if task.path == TASK])
    tokenizer = tiny_tokenizer(KERNELS, [])
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=tiny_model(tokenizer),
            processing_class=tokenizer,
            reward_funcs=session_reward,
            rollout_func=session_rollout(data, options=OPTIONS),
            train_dataset=Dataset.from_list(data),
            args=GRPOConfig(
                output_dir=folder,
                max_steps=STEPS,
                learning_rate=0.02,
                lr_scheduler_type="constant",
                num_generations=2 * ROLLOUTS,
                per_device_train_batch_size=2 * ROLLOUTS,
                max_completion_length=1,
                logging_steps=1,
                use_cpu=True,
                report_to=[],
                save_strategy="no",
                disable_tqdm=True,
            ),
        )
        trainer.train()
        return [log["reward"] for log in trainer.state.log_history if "reward" in log]


async def train(policy: Policy, step: Step) -> list[float]:
    """The mean rewards of the steps."""
    means = []
    for _ in range(STEPS):
        rollouts = await step(policy)
        policy.learn(rollouts)
        means.append(sum(reward for _, reward in rollouts) / len(rollouts))
    return means


def main(library: str) -> None:
    policy = Policy()
    step: Step | None = {"session": session, "verl": verl}.get(library)
    if library == "openenv":
        step = OpenEnv().step
    if library == "verifiers":
        step = Verifiers(policy).step
    start = time.monotonic()
    means = trl() if step is None else asyncio.run(train(policy, step))
    seconds = time.monotonic() - start
    rollouts = STEPS * ROLLOUTS * (2 if library == "trl" else 1)
    print(
        json.dumps({"rewards": [round(mean, 3) for mean in means], "rewards_per_second": round(rollouts / seconds, 1)})
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=["session", "openenv", "verifiers", "trl", "verl"])
    main(parser.parse_args().library)
