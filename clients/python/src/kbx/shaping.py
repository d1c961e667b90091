"""From a verdict to a reward. What was not measured earns nothing; what deceives earns least."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from kbx.errors import ProtocolError
from kbx.models import STATUSES, Verdict, check_judged

_REFUSED = frozenset({"rejected_static", "not_a_kernel", "cheating"})
_UNREADABLE = frozenset({"no_code", "no_entry", "syntax_error"})

DOUBTS = frozenset(
    {
        "clock_gap",
        "no_origin",
        "unproven_origin",
        "state_ignored",
        "degenerate_task",
        "large_workspace",
        "same_values",
    }
)
"""Flags that leave in doubt whose result it is, or a speedup: time that the device did not account for, calls without an account of
who computed, or with nobody's but the candidate's own, cached weights, a result that hardly depends on the input, memory for tables of results."""
_WHOSE = frozenset({"no_origin", "unproven_origin"})


@dataclass(frozen=True)
class RewardShaping:
    """How much each step is worth; the defaults give 0 to 1.

    A candidate gets the level of the furthest step that it passed. A correct one gets ``right`` and then,
    added up, ``own`` for computing the result itself, ``general`` for being right at the general grade, and
    a part of ``speed``. With ``policy="mixed"`` PyTorch may compute a part: ``own`` and ``speed`` then count
    by the share that the candidate's own kernels computed.

    The lower end of the speedup's 95 % interval counts, not the measured value: the part of ``speed`` grows
    with its logarithm, from nothing at ``speed_from`` to all at ``speed_full``. Without an interval, or with
    a flag of ``doubts``, there is none.
    """

    refused: float = 0.0
    """Cheating, static rules, and results that others computed. At most ``unreadable``."""
    unreadable: float = 0.0
    """No code, a syntax error, no entry."""
    parsed: float = 0.05
    """It parses, but import, compilation or a call failed."""
    called: float = 0.15
    """Every call returned, with wrong results; or with right ones of which ``no_origin`` or ``unproven_origin`` in ``doubts`` says that
    nobody but the candidate's own process knows who computed them."""
    right: float = 0.4
    """The values are right at the grade of the plan."""
    own: float = 0.1
    """It computed the result itself."""
    general: float = 0.1
    speed: float = 0.4
    speed_from: float = 1.0
    speed_full: float = 4.0
    doubts: frozenset[str] = DOUBTS

    def __post_init__(self) -> None:
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "doubts"}
        for name, value in values.items():
            if not math.isfinite(value):
                raise ValueError(f"{name}: must be finite, is {value}")
        levels = [self.refused, self.unreadable, self.parsed, self.called, self.right]
        if levels != sorted(levels):
            raise ValueError(f"refused, unreadable, parsed, called, right: must not decrease, are {levels}")
        if min(self.own, self.general, self.speed) < 0:
            raise ValueError("own, general, speed: must not be negative")
        if not 0 < self.speed_from < self.speed_full:
            raise ValueError("speed_from: must be above 0 and below speed_full")

    @property
    def lowest(self) -> float:
        return self.refused

    @property
    def highest(self) -> float:
        return self.right + self.own + self.general + self.speed


def shape(verdict: Verdict, shaping: RewardShaping | None = None) -> float:
    """The reward of a verdict, between ``shaping.lowest`` and ``shaping.highest``.

    Raises ``NoVerdict`` for ``infrastructure`` and ``invalid_task``, which say nothing about the candidate,
    and ``ProtocolError`` for a status that this client does not know.
    """
    by = shaping or RewardShaping()
    check_judged(verdict)
    if verdict.status not in STATUSES:
        raise ProtocolError(f"verdict.status: {verdict.status!r} is unknown; is this client older than the server?")
    if verdict.status in _REFUSED:
        return by.refused
    if verdict.status in _UNREADABLE:
        return by.unreadable
    if not verdict.correct or not (by.doubts & _WHOSE).isdisjoint(verdict.flags):
        return by.called if verdict.call_ok else by.parsed
    share = _own_share(verdict, by)
    general = by.general if verdict.general_ok else 0.0
    return min(by.highest, by.right + general + share * (by.own + by.speed * _speed(verdict, by)))


def _own_share(verdict: Verdict, by: RewardShaping) -> float:
    """At the policy ``kernel`` a correct result is the candidate's own."""
    if verdict.policy == "kernel":
        return 1.0
    return min(1.0, max(0.0, verdict.kernel_share or 0.0))


def _speed(verdict: Verdict, by: RewardShaping) -> float:
    low = verdict.speedup.low if verdict.speedup else None
    if low is None or verdict.status != "correct" or not by.doubts.isdisjoint(verdict.flags):
        return 0.0
    if low <= by.speed_from:
        return 0.0
    return min(1.0, math.log2(low / by.speed_from) / math.log2(by.speed_full / by.speed_from))
