"""The reward: bounded, monotone, and never better for a cheat than for an honest failure."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbx
from kbx import RewardShaping, Speedup, Verdict, shape
from kbx.models import STATUSES
from kbx.shaping import DOUBTS

NO_VERDICT = {"infrastructure", "invalid_task"}
REFUSED = {"rejected_static", "not_a_kernel", "cheating"}
RIGHT = Verdict("correct", "perf", "relu", call_ok=True, exe_ok=True, policy="kernel", general_ok=False)

amounts = st.floats(0, 10)
flags = st.none() | st.booleans()
shares = st.none() | st.floats(-1, 2)
ends = st.none() | st.floats(0, 1e6)


@st.composite
def shapings(draw: st.DrawFn) -> RewardShaping:
    refused, unreadable, parsed, called, right = sorted(draw(st.lists(st.floats(-10, 10), min_size=5, max_size=5)))
    begin = draw(st.floats(0.01, 10))
    return RewardShaping(
        refused,
        unreadable,
        parsed,
        called,
        right,
        own=draw(amounts),
        general=draw(amounts),
        speed=draw(amounts),
        speed_from=begin,
        speed_full=begin * draw(st.floats(1.01, 100)),
    )


@st.composite
def verdicts(draw: st.DrawFn, statuses: frozenset[str] = STATUSES - NO_VERDICT) -> Verdict:
    low = draw(ends)
    value = draw(st.floats(0, 1e6))
    return Verdict(
        draw(st.sampled_from(sorted(statuses))),
        draw(st.sampled_from(["static", "compile", "call", "correct", "perf"])),
        "relu",
        call_ok=draw(flags),
        exe_ok=draw(flags),
        general_ok=draw(flags),
        policy=draw(st.sampled_from([None, "kernel", "mixed"])),
        kernel_share=draw(shares),
        flags=tuple(draw(st.sets(st.sampled_from([*sorted(DOUBTS), "throttled"])))),
        speedup=draw(st.sampled_from([None, Speedup(value, low, None, "eager")])),
    )


@given(verdicts(), shapings())
def test_every_reward_is_within_its_bounds(verdict: Verdict, shaping: RewardShaping) -> None:
    assert shaping.lowest <= shape(verdict, shaping) <= shaping.highest


@given(verdicts(frozenset(REFUSED)), verdicts(), shapings())
def test_cheats_never_earn_more_than_honest_kernels(cheat: Verdict, other: Verdict, shaping: RewardShaping) -> None:
    assert shape(cheat, shaping) == shaping.refused <= shape(other, shaping)


@given(verdicts(), shapings())
def test_later_stages_never_earn_less(verdict: Verdict, shaping: RewardShaping) -> None:
    failed = shape(replace(verdict, status="runtime_error", call_ok=False, exe_ok=False), shaping)
    wrong = shape(replace(verdict, status="wrong_values", call_ok=True, exe_ok=False), shaping)
    right = replace(verdict, status="correct", call_ok=True, exe_ok=True)
    assert shaping.unreadable <= failed <= wrong <= shape(right, shaping)
    assert shape(replace(right, general_ok=False), shaping) <= shape(replace(right, general_ok=True), shaping)


@given(verdicts(), shapings(), st.floats(0, 1), st.floats(0, 1))
def test_larger_share_of_own_work_never_earns_less(
    verdict: Verdict, shaping: RewardShaping, one: float, other: float
) -> None:
    less, more = (
        shape(replace(verdict, policy="mixed", kernel_share=share), shaping) for share in sorted([one, other])
    )
    assert less <= more


@given(verdicts(), shapings(), st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_higher_lower_bound_never_earns_less(
    verdict: Verdict, shaping: RewardShaping, one: float, other: float
) -> None:
    slower, faster = (
        shape(replace(verdict, speedup=Speedup(1, low, None, None)), shaping) for low in sorted([one, other])
    )
    assert slower <= faster


@given(verdicts(), shapings(), st.floats(0.01, 1e4), ends)
def test_speedup_within_noise_earns_nothing(
    verdict: Verdict, shaping: RewardShaping, value: float, high: float | None
) -> None:
    def reward(speedup: Speedup) -> float:
        return shape(replace(verdict, speedup=speedup), shaping)

    assert reward(Speedup(value, 1.5, high, None)) == reward(Speedup(1.0, 1.5, 2.0, "compile"))
    assert reward(Speedup(value, None, None, None)) == shape(replace(verdict, speedup=None), shaping)


@pytest.mark.parametrize("low", [0, 1e-300, 1, 1e300, math.inf])
def test_reward_of_any_speedup_is_finite(low: float) -> None:
    assert math.isfinite(shape(replace(RIGHT, speedup=Speedup(1, low, None, None))))


def test_defaults_are_as_documented() -> None:
    def reward(status: str, call_ok: bool = False) -> float:
        return shape(Verdict(status, "call", "relu", call_ok=call_ok, exe_ok=False))

    assert reward("cheating") == reward("not_a_kernel", call_ok=True) == reward("syntax_error") == 0
    assert reward("compile_error") == reward("runtime_error") == reward("timeout") == 0.05
    assert reward("wrong_values", call_ok=True) == 0.15
    assert shape(RIGHT) == pytest.approx(0.5)
    assert shape(replace(RIGHT, policy="mixed", kernel_share=0.0)) == pytest.approx(0.4)
    assert shape(replace(RIGHT, policy="mixed", kernel_share=None)) == pytest.approx(0.4)
    general = replace(RIGHT, general_ok=True)
    assert shape(general) == pytest.approx(0.6)
    assert shape(replace(general, speedup=Speedup(3, 2.0, 5, "eager"))) == pytest.approx(0.8)
    assert shape(replace(general, speedup=Speedup(9, 4.0, 10, "eager"))) == pytest.approx(1.0)


def test_correct_kernel_with_unfinished_timing_is_correct() -> None:
    late = replace(RIGHT, status="timeout", speedup=Speedup(9, 8, 10, "eager"))
    assert shape(late) == pytest.approx(0.5)
    assert shape(replace(late, status="wrong_values")) == pytest.approx(0.15)


def test_published_rules_make_no_kernel_correct_or_wrong() -> None:
    assert replace(RIGHT, exe_ok=False).correct is True
    assert replace(RIGHT, stage="correct", status="race").correct is False
    assert replace(RIGHT, status="crashed", exe_ok=False).correct is True
    assert replace(RIGHT, stage="call", status="runtime_error").correct is False
    assert replace(RIGHT, stage="call", exe_ok=None).correct is None


@pytest.mark.parametrize("flag", sorted(DOUBTS))
def test_a_doubtful_speedup_earns_nothing(flag: str) -> None:
    fast = replace(RIGHT, speedup=Speedup(9, 8, 10, "eager"))
    flagged = replace(fast, flags=(flag,))
    nobody_knows = flag in {"no_origin", "unproven_origin"}
    assert shape(flagged) == pytest.approx(RewardShaping().called if nobody_knows else shape(RIGHT))
    assert shape(flagged, RewardShaping(doubts=DOUBTS - {flag})) == shape(fast)
    assert shape(RIGHT) < shape(fast)


@pytest.mark.parametrize("status", sorted(NO_VERDICT))
def test_infrastructure_failures_give_no_reward(status: str) -> None:
    with pytest.raises(kbx.NoVerdict):
        shape(Verdict(status, "call", "relu", call_ok=False))


def test_unknown_status_gives_no_reward() -> None:
    with pytest.raises(kbx.ProtocolError, match="older than the server"):
        shape(Verdict("brilliant", "perf", "relu"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"refused": 0.01},
        {"called": 0.01},
        {"right": math.nan},
        {"speed": math.inf},
        {"own": -0.1},
        {"speed_from": 4.0},
        {"speed_from": 0.0},
    ],
)
def test_shaping_that_rewards_failures_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RewardShaping(**wrong)  # type: ignore[arg-type]


CASES = json.loads((Path(__file__).parent / "rewards.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_reward_is_that_of_the_server(case: dict[str, Any]) -> None:
    """The server's reward of a turn is tested with the same cases."""
    verdict = Verdict.from_json(case["verdict"])
    if case["reward"] is None:
        with pytest.raises(kbx.NoVerdict):
            shape(verdict)
    else:
        assert shape(verdict) == pytest.approx(case["reward"], abs=1e-9)
