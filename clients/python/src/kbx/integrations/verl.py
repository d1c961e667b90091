"""A reward function for verl: ``custom_reward_function.path`` names this file, ``custom_reward_function.name`` is ``compute_score``.

    reward.custom_reward_function.path=$(python -c "import kbx.integrations.verl as m; print(m.__file__)")
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.run=grpo-7

The data has ``data_source="kbx"``, the task as ``reward_model["ground_truth"]`` (``Category/name``) and, if the suite is not the server's first,
``extra_info["suite"]``: ``rows`` makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kbx.aio import AsyncClient
from kbx.client import Client
from kbx.models import Candidate, Options, Plan, Task
from kbx.shaping import RewardShaping, shape


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    url: str | None = None,
    run: str | None = None,
    grade: str | None = None,
    policy: str | None = None,
    shaping: Mapping[str, float] | None = None,
    patience: float = 300.0,
    **others: Any,
) -> dict[str, float]:
    """The reward of one completion as ``score``, and what is logged beside it. verl awaits it, many at a time.

    Raises ``NoVerdict`` where there is no verdict: verl would take a missing score for 0. ``shaping`` has fields of ``RewardShaping``. ``others``
    are what verl passes beside (``reward_router_address``).
    """
    suite = (extra_info or {}).get("suite")
    candidate = Candidate(solution_str, ground_truth, suite)
    options = Options(run, Plan(grade=grade, policy=policy))
    async with AsyncClient(url, patience=patience) as client:
        verdict = await client.judge(candidate, options=options)
    changed: dict[str, Any] = dict(shaping or {})
    speedup = verdict.speedup.low if verdict.speedup and verdict.speedup.low is not None else None
    return {
        "score": shape(verdict, RewardShaping(**changed)),
        "acc": float(verdict.correct is True),
        # verl averages columns: each score has the same ones.
        "timed": float(speedup is not None),
        "speedup_low": speedup or 0.0,
    }


def rows(client: Client, tasks: Iterable[Task], *, grade: str | None = None) -> list[dict[str, Any]]:
    """Rows of a data set for verl (``datasets.Dataset.from_list(rows).to_parquet``)."""
    return [
        {
            "data_source": "kbx",
            "prompt": [{"role": "user", "content": client.prompt(task, grade=grade)}],
            "reward_model": {"style": "rule", "ground_truth": task.path},
            "extra_info": {"index": index, "suite": task.suite},
        }
        for index, task in enumerate(tasks)
    ]
