"""What the oracle makes of findings: a stand-in for the executor on the other end of a real socket."""

import socket

import pytest

from kbx.executor.channel import Channel
from kbx.oracle.executions import Executions
from kbx.oracle.judge import Judgement
from kbx.ttir.findings import ASSERTION, MISALIGNED, OUT_OF_BOUNDS, RACE, UNDEFINED

PLAIN = {"text": "does something", "file": "candidate.py", "line": 7, "program": [1, 0, 0], "argument": "x", "lanes": 1}


@pytest.fixture
def connected():
    """What judges, and the executor's end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Executions(lambda: Channel(ours)), Channel(theirs)


def judged(connected, *kinds, judgement=None):
    """The judgement with findings of these kinds, in this order."""
    executions, executor = connected
    executor.send({"findings": [PLAIN | {"kind": kind} for kind in kinds]})
    return executions.judge(judgement or Judgement("correct"))


@pytest.mark.parametrize("kind", [OUT_OF_BOUNDS, MISALIGNED, ASSERTION])
@pytest.mark.parametrize("status", ["correct", "wrong_values", "wrong_shape"])
def test_bad_access_decides_whatever_the_result(connected, kind, status):
    found = judged(connected, kind, judgement=Judgement(status, "a reason"))
    assert found.status == "runtime_error"
    assert found.message.endswith("line 7 in program (1, 0, 0): does something")


def test_race_makes_a_right_result_luck(connected):
    assert judged(connected, RACE).status == "nondeterministic"


@pytest.mark.parametrize("kind", [RACE, UNDEFINED])
def test_wrong_result_has_its_cause(connected, kind):
    found = judged(connected, kind, judgement=Judgement("wrong_values", "3 wrong elements"))
    assert found.status == "wrong_values"
    assert found.message == f"3 wrong elements; cause: {kind}: line 7 in program (1, 0, 0): does something"


def test_undefined_lanes_may_be_right(connected):
    assert judged(connected, UNDEFINED).status == "correct"


def test_without_findings_the_judgement_stays(connected):
    judgement = Judgement("wrong_values", "3 wrong elements")
    assert judged(connected, judgement=judgement) is judgement and judgement.message == "3 wrong elements"


def test_without_an_executor_the_judgement_stays():
    executions, judgement = Executions(lambda: None), Judgement("correct")
    executions.prepare(0, [])
    assert executions.judge(judgement) is judgement and judgement.status == "correct"


@pytest.mark.parametrize(
    "answer", [{}, {"findings": None}, {"findings": [{}]}, {"findings": [PLAIN]}, {"findings": ["x"]}]
)
def test_executor_without_a_sensible_answer_has_ended(connected, answer):
    executions, executor = connected
    executor.send(answer)
    assert executions.judge(Judgement("correct")).status == "runtime_error"


def test_dead_executor_is_a_failure(connected):
    executions, executor = connected
    executor.close()
    executions.prepare(0, [])
    assert executions.judge(Judgement("correct")).status == "runtime_error"


def test_silent_executor_is_a_failure(connected):
    executions, _ = connected
    executions._executor().connection.settimeout(0.1)
    assert executions.judge(Judgement("correct")).status == "runtime_error"


def test_findings_of_a_call_that_was_not_judged_are_forgotten(connected):
    """Those of an import count for the first call."""
    executions, executor = connected
    executions.prepare(0, [])
    executions.prepare(1, [])
    judged(connected)
    executions.prepare(2, [])
    told = [executor.receive()[0] for _ in range(4)]
    assert [message.get("forget") for message in told] == [False, True, None, False]
