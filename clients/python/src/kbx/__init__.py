"""Verdicts and rewards for machine-written GPU kernels, from a running ``kbx serve``.

``judge`` and ``reward`` here use one shared ``Client`` of the environment's ``KBX_URL`` and ``KBX_TOKEN``.
"""

from __future__ import annotations

import functools

from kbx.aio import AsyncClient
from kbx.client import Client
from kbx.errors import (
    Cancelled,
    Conflict,
    Expired,
    Forbidden,
    Infrastructure,
    Invalid,
    InvalidTask,
    JudgementFailed,
    KbxError,
    NotFound,
    NoVerdict,
    ProtocolError,
    Refused,
    ServerFault,
    Unauthorized,
    Unavailable,
    WaitTimeout,
)
from kbx.models import Candidate, Event, Judgement, Options, Plan, Speedup, Task, Verdict
from kbx.shaping import RewardShaping, shape

__all__ = [
    "AsyncClient",
    "Cancelled",
    "Candidate",
    "Client",
    "Conflict",
    "Event",
    "Expired",
    "Forbidden",
    "Infrastructure",
    "Invalid",
    "InvalidTask",
    "Judgement",
    "JudgementFailed",
    "KbxError",
    "NoVerdict",
    "NotFound",
    "Options",
    "Plan",
    "ProtocolError",
    "Refused",
    "RewardShaping",
    "ServerFault",
    "Speedup",
    "Task",
    "Unauthorized",
    "Unavailable",
    "Verdict",
    "WaitTimeout",
    "judge",
    "reward",
    "shape",
]


@functools.cache
def _client() -> Client:
    return Client()


def judge(
    code: str | Candidate,
    *,
    task: str | None = None,
    suite: str | None = None,
    options: Options | None = None,
    timeout: float | None = None,
) -> Verdict:
    """As ``Client.judge``."""
    return _client().judge(code, task=task, suite=suite, options=options, timeout=timeout)


def reward(
    code: str | Candidate,
    *,
    task: str | None = None,
    suite: str | None = None,
    shaping: RewardShaping | None = None,
    options: Options | None = None,
    timeout: float | None = None,
) -> float:
    """As ``Client.reward``."""
    return _client().reward(code, task=task, suite=suite, shaping=shaping, options=options, timeout=timeout)
