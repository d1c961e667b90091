"""An environment of OpenEnv: each episode is a session, each step a kernel. Server and client.

uvicorn --factory kbx.integrations.openenv:app          # KBX_URL and KBX_TOKEN name the kbx server

async with KernelEnv(base_url="http://localhost:8000") as env:
    result = await env.reset(task="relu")
    result = await env.step(KernelAction(code=model(result.observation.messages)))
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from kbx.client import Client
from kbx.errors import Conflict
from kbx.sessions import Session, SessionOptions
from kbx.shaping import RewardShaping


class KernelAction(Action):
    """A kernel, or a model's reply with one. ``final``: no further step is wanted."""

    code: str
    final: bool = False


class KernelObservation(Observation):
    """``messages``: the prompt, after ``reset`` alone. ``reward`` is that of the step's kernel on development inputs; of the last step, where
    ``done`` is true, that of the answer on held-out inputs."""

    messages: list[dict[str, str]] = []
    feedback: str = ""
    status: str | None = None
    correct: bool | None = None
    turn_reward: float | None = None
    """Of the step's kernel on development inputs, of the last step, too."""


class KernelState(State):
    """``left``: turns that the budget has."""

    session: str | None = None
    task: str | None = None
    left: int | None = None


class KernelEnvironment(Environment[KernelAction, KernelObservation, KernelState]):
    """One session at a time. A judge that fails raises, which the client is told as an error of the step: it is no reward of 0."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        options: SessionOptions | None = None,
        shaping: RewardShaping | None = None,
        stop_when_correct: bool = True,
    ) -> None:
        super().__init__()
        self._client = Client(url, token)
        self._options, self._shaping, self._stop = options, shaping, stop_when_correct
        self._session: Session | None = None
        self._steps = 0

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task: str | None = None,
        suite: str | None = None,
        **others: Any,
    ) -> KernelObservation:
        """Begins a session at ``task``; ``episode_id`` is its key, so that a reset that is sent again is the same one, with the turns
        that it has. Raises ``ValueError`` if that episode is over."""
        if task is None:
            raise ValueError("task: is missing; reset(task='relu')")
        session = self._client.session(task, suite=suite, options=self._options, shaping=self._shaping, key=episode_id)
        if self._session is not None and self._session.id != session.id:
            self._session.close()
        self._session, self._steps = session if session.open else None, len(session.turns)
        if not session.open:
            raise ValueError(f"episode_id: the episode '{episode_id}' is over; give each one its own")
        return KernelObservation(messages=session.messages)

    def step(self, action: KernelAction, timeout_s: float | None = None, **others: Any) -> KernelObservation:
        session = self._session
        if session is None:
            raise RuntimeError("no episode has begun: call reset(task=...)")
        self._steps += 1
        try:
            turn = session.turn(action.code, timeout=timeout_s)
        except Conflict as late:
            reward = session.final(timeout=timeout_s).reward
            return KernelObservation(feedback=late.detail, reward=reward, done=True)
        done = action.final or session.left.spent or (self._stop and turn.correct is True)
        reward = session.final(timeout=timeout_s).reward if done else turn.reward
        return KernelObservation(
            feedback=turn.feedback,
            status=turn.status,
            correct=turn.correct,
            turn_reward=turn.reward,
            reward=reward,
            done=done,
        )

    @property
    def state(self) -> KernelState:
        session = self._session
        if session is None:
            return KernelState()
        return KernelState(
            episode_id=session.id,
            step_count=self._steps,
            session=session.id,
            task=session.task,
            left=session.left.judgements,
        )

    def close(self) -> None:
        """Ends a session that has no answer."""
        if self._session is not None:
            self._session.close()
        self._client.close()


class KernelEnv(EnvClient[KernelAction, KernelObservation, KernelState]):
    """The client of an environment that ``app`` serves."""

    def _step_payload(self, action: KernelAction) -> dict[str, Any]:
        return {"code": action.code, "final": action.final}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[KernelObservation]:
        done, reward = bool(payload.get("done")), payload.get("reward")
        observation = KernelObservation(**{**payload.get("observation", {}), "done": done, "reward": reward})
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> KernelState:
        return KernelState(**payload)


def app(
    url: str | None = None,
    token: str | None = None,
    *,
    options: SessionOptions | None = None,
    shaping: RewardShaping | None = None,
    stop_when_correct: bool = True,
    most: int = 64,
) -> FastAPI:
    """The server of the environment, for an ASGI server such as uvicorn. ``most``: episodes at a time."""

    def environment() -> KernelEnvironment:
        return KernelEnvironment(url, token, options=options, shaping=shaping, stop_when_correct=stop_when_correct)

    return create_fastapi_app(
        environment, KernelAction, KernelObservation, max_concurrent_envs=most, state_cls=KernelState
    )
