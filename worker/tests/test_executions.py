"""What the oracle makes of findings: a stand-in for the executor on the other end of a real socket."""

import socket

import pytest

from kbx.executor.channel import Channel
from kbx.oracle.executions import Executions
from kbx.oracle.judge import Judgement
from kbx.ttir.findings import ASSERTION, BETWEEN, MISALIGNED, OUT_OF_BOUNDS, RACE, UNDEFINED

PLAIN = {
    "text": "does something", "file": "candidate.py", "line": 7, "program": [1, 0, 0], "argument": "x", "lanes": 1, "kernel": "add",
}  # fmt: skip


@pytest.fixture
def connected():
    """What judges, and the executor's end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Executions(lambda: Channel(ours)), Channel(theirs)


def judged(connected, *kinds, judgement=None):
    """The judgement with findings of these kinds, in this order."""
    executions, executor = connected
    executor.send({"findings": [PLAIN | {"kind": kind} for kind in kinds], "atomic": False})
    return executions.judge(judgement or Judgement("correct"))


PLACE = "line 7 of add in program (1, 0, 0): does something"
DECISIVE = [
    (OUT_OF_BOUNDS, "out_of_bounds", PLACE),
    (RACE, "race", PLACE),
    (MISALIGNED, "runtime_error", f"misaligned access: {PLACE}"),
    (ASSERTION, "runtime_error", f"assertion: {PLACE}"),
]


@pytest.mark.parametrize("kind, status, message", DECISIVE)
def test_bad_launch_decides_although_the_result_is_right(connected, kind, status, message):
    found = judged(connected, kind)
    assert (found.status, found.message) == (status, message)


@pytest.mark.parametrize("kind, status, message", DECISIVE)
@pytest.mark.parametrize("result", ["wrong_values", "wrong_shape"])
def test_bad_launch_decides_where_the_result_is_wrong(connected, kind, status, message, result):
    found = judged(connected, kind, judgement=Judgement(result, "3 wrong elements"))
    assert (found.status, found.message) == (status, f"{message}; the result: 3 wrong elements")


@pytest.mark.parametrize("status", ["wrong_values", "nondeterministic", "order_dependent"])
def test_undefined_values_are_the_cause_of_wrong_ones(connected, status):
    found = judged(connected, UNDEFINED, judgement=Judgement(status, "3 wrong elements"))
    assert (found.status, found.message) == ("undefined_value", f"{PLACE}; the result: 3 wrong elements")


def test_undefined_values_may_be_right(connected):
    found = judged(connected, UNDEFINED)
    assert (found.status, found.message) == ("correct", None)


def test_undefined_values_explain_no_wrong_shape(connected):
    assert judged(connected, UNDEFINED, judgement=Judgement("wrong_shape", "(2,)")).status == "wrong_shape"


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        ("correct", None, None),
        ("wrong_values", "3 wrong elements", f"3 wrong elements; {PLACE}"),
        ("wrong_shape", "(2,)", "(2,)"),
    ],
)
def test_reads_between_elements_are_told_where_values_are_wrong(connected, status, reason, message):
    found = judged(connected, BETWEEN, judgement=Judgement(status, reason))
    assert (found.status, found.message) == (status, message)


@pytest.mark.parametrize("status", ["correct", "wrong_values"])
def test_without_checks_nothing_is_asked(status):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        executions, judgement = Executions(lambda: Channel(ours), checks=False), Judgement(status)
        executions.prepare(3, [], "reversed", 0xFF)
        assert executions.judge(judgement) is judgement and judgement.status == status
        assert Channel(theirs).receive()[0] == {
            "prepare": 3,
            "lent": [],
            "order": "reversed",
            "forget": False,
            "repeated": False,
        }
        theirs.settimeout(0.1)
        with pytest.raises(TimeoutError):
            theirs.recv(1)


def test_without_findings_the_judgement_stays(connected):
    judgement = Judgement("wrong_values", "3 wrong elements")
    assert judged(connected, judgement=judgement) is judgement and judgement.message == "3 wrong elements"


def test_without_an_executor_the_judgement_stays():
    executions, judgement = Executions(lambda: None), Judgement("correct")
    executions.prepare(0, [], "ascending", 0xFF)
    assert executions.judge(judgement) is judgement and judgement.status == "correct"


@pytest.mark.parametrize(
    "answer", [{}, {"findings": []}, *({"findings": each, "atomic": False} for each in (None, [{}], [PLAIN], ["x"]))]
)
def test_executor_without_a_sensible_answer_has_ended(connected, answer):
    executions, executor = connected
    executor.send(answer)
    assert executions.judge(Judgement("correct")).status == "runtime_error"


def test_the_order_of_programs_matters_once_a_launch_was_atomic(connected):
    executions, executor = connected
    seen = [executions.order_matters]
    for atomic in (False, True, False):
        executor.send({"findings": [], "atomic": atomic})
        executions.judge(Judgement("correct"))
        seen.append(executions.order_matters)
    assert seen == [False, False, True, True]


def test_without_an_executor_order_may_matter():
    assert Executions(lambda: None).order_matters


def test_dead_executor_is_a_failure(connected):
    executions, executor = connected
    executor.close()
    executions.prepare(0, [], "ascending", 0xFF)
    assert executions.judge(Judgement("correct")).status == "runtime_error"


def test_silent_executor_is_a_failure(connected):
    executions, _ = connected
    executions._executor().connection.settimeout(0.1)
    assert executions.judge(Judgement("correct")).status == "runtime_error"


def test_findings_of_a_call_that_was_not_judged_are_forgotten(connected):
    """Those of an import count for the first call."""
    executions, executor = connected
    executions.prepare(0, [], "ascending", 0xFF)
    executions.prepare(1, [], "ascending", 0xFF)
    judged(connected)
    executions.prepare(2, [], "ascending", 0xFF)
    told = [executor.receive()[0] for _ in range(4)]
    assert [message.get("forget") for message in told] == [False, True, None, False]


@pytest.mark.parametrize("kind", [OUT_OF_BOUNDS, RACE, ASSERTION, UNDEFINED, BETWEEN])
@pytest.mark.parametrize("published", [True, False])
def test_published_tests_do_not_look_at_launches(connected, kind, published):
    assert judged(connected, kind, judgement=Judgement("correct", published=published)).published == published


def test_a_gpu_stops_at_a_misaligned_address(connected):
    assert not judged(connected, MISALIGNED, judgement=Judgement("correct", published=True)).published
