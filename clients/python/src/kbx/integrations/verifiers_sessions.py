"""An environment of verifiers whose rollouts are sessions: kernel, feedback, next kernel, and a verdict on held-out inputs.

Its id is ``kbx-sessions``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import verifiers.v1 as vf

from kbx.aio import AsyncClient
from kbx.client import Client
from kbx.integrations.turns import Message, play
from kbx.integrations.verifiers import metrics
from kbx.models import Plan
from kbx.sessions import AsyncSession, Budget, SessionOptions
from kbx.settings import trust
from kbx.shaping import RewardShaping


class SessionTaskConfig(vf.TaskConfig):
    """How kernels are judged. ``url`` and the token default to ``KBX_URL`` and ``KBX_TOKEN``; no trace holds the token."""

    url: str | None = None
    run: str | None = None
    grade: str | None = None
    policy: str | None = None
    method: str | None = None
    turns: int = 4
    stop_when_correct: bool = True
    conditions: dict[str, str | bool] = {}
    """What prompts and feedback hold: ``shots``, ``feedback`` and others, as of ``SessionOptions``."""
    shaping: dict[str, float] = {}
    """Fields of ``RewardShaping`` that differ from its defaults."""

    def options(self) -> SessionOptions:
        plan = Plan(grade=self.grade, policy=self.policy)
        budget = Budget(judgements=self.turns)
        return SessionOptions(self.run, plan, self.method, conditions=self.conditions, budget=budget)


class SessionData(vf.TaskData):
    task: str
    suite: str | None = None
    config: SessionTaskConfig = SessionTaskConfig()


async def session_of(client: AsyncClient, data: SessionData, trace: vf.Trace) -> AsyncSession:
    """The session of a rollout: the same whenever it is asked for, as the trace's id is its key.

    A rollout that is tried again has another trace, and so a session of its own.
    """
    changed: dict[str, Any] = dict(data.config.shaping)
    shaping = RewardShaping(**changed) if changed else None
    options = data.config.options()
    return await client.session(data.task, suite=data.suite, options=options, shaping=shaping, key=trace.id)


class KbxSessionTask(vf.Task[SessionData, vf.State, SessionTaskConfig]):
    """One task. The reward is that of the answer on held-out inputs; a session without a verdict is an error of the rollout."""

    @property
    def key(self) -> str:
        return f"{self.data.suite or ''}/{self.data.task}"

    @vf.reward
    async def kbx_reward(self, trace: vf.Trace) -> dict[str, float]:
        async with AsyncClient(self.data.config.url) as client:
            session = await session_of(client, self.data, trace)
            final = await session.final()
        turns = {
            "turns": float(len(session.turns)),
            "best_turn": max((t.reward or 0.0 for t in session.turns), default=0.0),
        }
        trace.record_metrics({**turns, **(metrics(final.verdict) if final.verdict else {})})
        if final.reward is None:
            raise ValueError(f"session {session.id}: there is no reward")
        return {"kbx": final.reward}


class SessionTasksetConfig(vf.TasksetConfig):
    suite: str | None = None
    category: str | None = None
    tasks: list[str] = []
    """Names of tasks, with or without their category; empty: all."""
    task: SessionTaskConfig = SessionTaskConfig()


class KbxSessionTaskset(vf.Taskset[KbxSessionTask, SessionTasksetConfig]):
    """The tasks of a suite. Their prompts are those of the sessions."""

    def load(self) -> Iterator[KbxSessionTask]:
        config = self.config
        with Client(config.task.url) as client:
            tasks = client.tasks(config.suite, config.category)
        unknown = set(config.tasks) - {name for task in tasks for name in (task.name, task.path)}
        if unknown:
            raise ValueError(f"tasks: the server has no {', '.join(sorted(unknown))}")
        for task in tasks:
            if not config.tasks or task.name in config.tasks or task.path in config.tasks:
                data = SessionData(
                    name=task.path, prompt=task.path, task=task.path, suite=task.suite, config=config.task
                )
                yield KbxSessionTask(data, config.task)


class SeveralTurns(vf.Harness[vf.HarnessConfig]):
    """Asks the model turn after turn, in this process: nothing is installed, and nothing runs what it answers but kbx."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: SessionData,
    ) -> vf.ProgramResult:
        system, _ = self.resolve_text_prompt(data)
        before = [] if system is None else [{"role": "system", "content": system}]
        async with (
            AsyncClient(data.config.url) as client,
            httpx.AsyncClient(timeout=None, verify=trust(endpoint)) as http,
        ):

            async def model(messages: list[Message]) -> str:
                response = await http.post(
                    endpoint.rstrip("/") + "/chat/completions",
                    headers={"authorization": f"Bearer {secret}"},
                    json={"model": ctx.model, "messages": [*before, *messages]},
                )
                response.raise_for_status()
                return str(response.json()["choices"][0]["message"].get("content") or "")

            session = await session_of(client, data, trace)
            try:
                await play(session, model, stop_when_correct=data.config.stop_when_correct)
            except httpx.HTTPError as error:
                return vf.ProgramResult(1, "", str(error))
        return vf.ProgramResult(0, "", "")


class KbxSessionEnvConfig(vf.SingleAgentEnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """Needs no machine of its own: with the harness ``SeveralTurns`` nothing is run beside kbx."""


class KbxSessionEnv(vf.SingleAgentEnv, vf.Env[KbxSessionEnvConfig]):
    """The taskset with one agent that has several turns at each task."""
