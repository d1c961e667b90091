"""Verdicts and rewards for machine-written GPU kernels, from a running ``kbx serve``.

``judge``, ``reward`` and ``session`` here use one shared ``Client`` of the environment's ``KBX_URL`` and ``KBX_TOKEN``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from kbx.sessions import Answer, AsyncSession, Budget, Left, Session, SessionOptions, Turn
from kbx.shaping import RewardShaping, shape

if TYPE_CHECKING:
    from kbx.recording import Recording

__all__ = [
    "Answer",
    "AsyncClient",
    "AsyncSession",
    "Budget",
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
    "Left",
    "NoVerdict",
    "NotFound",
    "Options",
    "Plan",
    "ProtocolError",
    "Refused",
    "RewardShaping",
    "ServerFault",
    "Session",
    "SessionOptions",
    "Speedup",
    "Task",
    "Turn",
    "Unauthorized",
    "Unavailable",
    "Verdict",
    "WaitTimeout",
    "capture",
    "judge",
    "resume",
    "reward",
    "session",
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


def session(
    task: str,
    *,
    suite: str | None = None,
    options: SessionOptions | None = None,
    shaping: RewardShaping | None = None,
    key: str | None = None,
) -> Session:
    """As ``Client.session``."""
    return _client().session(task, suite=suite, options=options, shaping=shaping, key=key)


def resume(identity: str, *, shaping: RewardShaping | None = None) -> Session:
    """As ``Client.resume``."""
    return _client().resume(identity, shaping=shaping)


def capture(folder: str | Path, *, only: Iterable[Any] | None = None, values: bool = False) -> Recording:
    """A context that records calls of PyTorch and writes them to ``folder`` as references of ``kbx eval --reference``. Needs torch.

    A file for each function, ``linear.py``, with a call for each kind of arguments (dtypes, shapes, strides, other values) and
    ``# weights:``, the part of the measured time of each; ``capture.json`` lists them with counts, times, and the range, mean and standard
    deviation of every tensor. ``only`` lists functions that PyTorch can override and classes of modules; by default those of
    ``torch.nn.functional``, and modules of other packages that have no submodules. Tensors are drawn with the range, or with mean and
    deviation, of those that were seen; with ``values`` those of the first call of each kind are kept. Calls that draw random numbers or
    take what is neither a dense tensor nor a plain value are left out, which ``capture.json`` tells. Call what you record once before: what
    is made at the first call should not be measured.
    """
    from kbx.recording import Recording

    return Recording(folder, only, values)
