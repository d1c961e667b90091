"""An environment of verifiers: the tasks of a kbx server, each answered in one turn and judged there.

Its id is ``kbx-verifiers``: ``vf-eval kbx-verifiers``, or ``vf.load_environment`` of a config that names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

from kbx.aio import AsyncClient
from kbx.client import Client
from kbx.integrations.replies import reply_text
from kbx.models import Candidate, Options, Plan, Verdict
from kbx.settings import trust
from kbx.shaping import RewardShaping, shape


class KbxTaskConfig(vf.TaskConfig):
    """How replies are judged. ``url`` and the token default to ``KBX_URL`` and ``KBX_TOKEN``, which no trace holds."""

    url: str | None = None
    run: str | None = None
    grade: str | None = None
    policy: str | None = None
    shaping: dict[str, float] = {}
    """Fields of ``RewardShaping`` that differ from its defaults."""

    def options(self) -> Options:
        return Options(self.run, Plan(grade=self.grade, policy=self.policy))


class KbxData(vf.TaskData):
    task: str
    suite: str | None = None


class KbxTask(vf.Task[KbxData, vf.State, KbxTaskConfig]):
    """One task. A reply that could not be judged is an error of the rollout, never a reward."""

    @property
    def key(self) -> str:
        return f"{self.data.suite or ''}/{self.data.task}"

    @vf.reward
    async def kbx_reward(self, trace: vf.Trace) -> dict[str, float]:
        verdict = await self._judge(trace)
        trace.record_metrics(metrics(verdict))
        return {"kbx": shape(verdict, RewardShaping(**self.config.shaping))}

    async def _judge(self, trace: vf.Trace) -> Verdict:
        messages = [message_to_wire(message) for message in trace.messages]
        candidate = Candidate(reply_text(messages), self.data.task, self.data.suite, key=trace.id)
        async with AsyncClient(self.config.url) as client:
            (verdict,) = await client.judge_many([candidate], options=self.config.options())
        return verdict


class KbxTasksetConfig(vf.TasksetConfig):
    suite: str | None = None
    category: str | None = None
    tasks: list[str] = []
    """Names of tasks, with or without their category; empty: all."""
    task: KbxTaskConfig = KbxTaskConfig()


class KbxTaskset(vf.Taskset[KbxTask, KbxTasksetConfig]):
    """The tasks of a suite with the prompts that kbx gives models for them."""

    def load(self) -> Iterator[KbxTask]:
        config = self.config
        with Client(config.task.url) as client:
            tasks = client.tasks(config.suite, config.category)
            unknown = set(config.tasks) - {name for task in tasks for name in (task.name, task.path)}
            if unknown:
                raise ValueError(f"tasks: the server has no {', '.join(sorted(unknown))}")
            for task in tasks:
                if not config.tasks or task.name in config.tasks or task.path in config.tasks:
                    prompt = client.prompt(task, grade=config.task.grade)
                    data = KbxData(name=task.path, prompt=prompt, task=task.path, suite=task.suite)
                    yield KbxTask(data, config.task)


class SingleTurn(vf.Harness[vf.HarnessConfig]):
    """Asks the model once, in this process: nothing is installed, and nothing runs what it answers but kbx."""

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
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        system, prompt = self.resolve_text_prompt(data)
        messages = [
            {"role": role, "content": text} for role, text in (("system", system), ("user", prompt)) if text is not None
        ]
        async with httpx.AsyncClient(timeout=None, verify=trust(endpoint)) as http:
            response = await http.post(
                endpoint.rstrip("/") + "/chat/completions",
                headers={"authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        return vf.ProgramResult(0 if response.is_success else 1, "", response.text if response.is_error else "")


class KbxEnvConfig(vf.SingleAgentEnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """Needs no machine of its own: with the harness ``SingleTurn`` nothing is run beside kbx."""


class KbxEnv(vf.SingleAgentEnv, vf.Env[KbxEnvConfig]):
    """The taskset with one agent that answers each task once."""


def metrics(verdict: Verdict) -> dict[str, float]:
    """What a run of rollouts is looked at by, beside the reward. What was not measured is left out."""
    known: dict[str, Any] = {
        "correct": verdict.correct,
        "general": verdict.general_ok,
        "speedup_low": verdict.speedup.low if verdict.speedup else None,
    }
    return {name: float(value) for name, value in known.items() if value is not None}
