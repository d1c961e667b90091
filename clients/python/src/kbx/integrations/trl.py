"""A reward function for ``GRPOTrainer`` of TRL, and the rows of a data set that it can judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from kbx.aio import AsyncClient
from kbx.client import Client
from kbx.integrations.replies import Reply, reply_text
from kbx.models import Candidate, Options, Task, Verdict
from kbx.shaping import RewardShaping, shape

RewardFunction = Callable[..., Awaitable[list[float]]]


def reward_function(
    url: str | None = None,
    token: str | None = None,
    *,
    shaping: RewardShaping | None = None,
    options: Options | None = None,
    patience: float = 300.0,
) -> RewardFunction:
    """A coroutine function for ``GRPOTrainer(reward_funcs=...)``, which awaits it: elsewhere ``await`` it, or call it by ``asyncio.run``. It
    judges the completions of a step as one batch.

    The data set has a column ``task``, and ``suite`` if the tasks are not of the server's default suite; see
    ``rows``. The trainer awaits the function beside others. If there is no verdict on a completion it raises
    and so ends the step: a missing reward would count as 0.
    """

    async def kbx_reward(completions: Sequence[Reply], task: Sequence[str], **columns: Any) -> list[float]:
        suites = columns.get("suite") or [None] * len(task)
        candidates = [
            Candidate(reply_text(completion), name, suite)
            for completion, name, suite in zip(completions, task, suites, strict=True)
        ]
        # A client of one step: trainers may run each step in an event loop of its own.
        async with AsyncClient(url, token, patience=patience) as client:
            verdicts = await client.judge_many(candidates, options=options)
        for name, value in rates(verdicts).items():
            columns.get("log_metric", _ignore)(f"kbx/{name}", value)
        return [shape(verdict, shaping) for verdict in verdicts]

    return kbx_reward


def rates(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Shares of a batch for a trainer's log: correct, right at the general grade, refused."""
    count = len(verdicts)
    if count == 0:
        return {}
    refused = {"rejected_static", "not_a_kernel", "cheating"}
    return {
        "correct": sum(verdict.correct is True for verdict in verdicts) / count,
        "general": sum(verdict.correct is True and verdict.general_ok is True for verdict in verdicts) / count,
        "refused": sum(verdict.status in refused for verdict in verdicts) / count,
    }


def rows(client: Client, tasks: Iterable[Task], *, grade: str | None = None) -> list[dict[str, Any]]:
    """Rows for ``Dataset.from_list``: the prompt of each task as a conversation, and what names the task."""
    return [
        {
            "prompt": [{"role": "user", "content": client.prompt(task, grade=grade)}],
            "task": task.path,
            "suite": task.suite,
        }
        for task in tasks
    ]


def _ignore(name: str, value: float) -> None:
    pass
