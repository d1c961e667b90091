from __future__ import annotations

from collections.abc import Iterator

import pytest
from fault_server import FaultServer, busy
from stand_in import EXAMPLES, check_learning

import kbx
from kbx import Budget, SessionOptions
from kbx.integrations.openenv import KernelAction, KernelEnvironment

RIGHT = (EXAMPLES / "honest/relu.py").read_text()
WRONG = (EXAMPLES / "mistakes/tail_left_out/relu.py").read_text()


def test_a_policy_learns_by_server_and_client(url: str) -> None:
    check_learning(url, "openenv")


def test_the_last_step_has_the_reward_of_held_out_inputs(url: str) -> None:
    environment = KernelEnvironment(url)
    assert "relu" in environment.reset(task="Activation/relu").messages[-1]["content"]
    first = environment.step(KernelAction(code=WRONG))
    assert (first.done, first.correct, first.reward) == (False, False, first.turn_reward)
    assert first.feedback
    last = environment.step(KernelAction(code=RIGHT))
    assert (last.done, last.correct) == (True, True)
    assert last.reward is not None
    assert last.reward > float(first.reward or 0.0)
    assert environment.state.step_count == 2
    environment.close()


@pytest.fixture
def server() -> Iterator[FaultServer]:
    server = FaultServer()
    server.verdicts["wrong"] = {"status": "wrong_values", "exe_ok": False}
    yield server
    server.close()


@pytest.fixture
def environment(server: FaultServer) -> Iterator[KernelEnvironment]:
    environment = KernelEnvironment(server.url, options=SessionOptions(budget=Budget(wall_seconds=8.0)))
    yield environment
    environment.close()


def test_an_episode_ends_with_its_time(server: FaultServer, environment: KernelEnvironment) -> None:
    server.cost = {"wall_seconds": 5.0}
    environment.reset(task="relu")
    steps = [environment.step(KernelAction(code="wrong")) for _ in range(2)]
    assert [step.done for step in steps] == [False, True]
    assert steps[-1].reward == pytest.approx(0.25)


def test_a_step_that_is_too_late_ends_the_episode(server: FaultServer, environment: KernelEnvironment) -> None:
    server.faults.extend([None, None, busy(409)])
    environment.reset(task="relu")
    environment.step(KernelAction(code="wrong"))
    last = environment.step(KernelAction(code="wrong"))
    assert (last.done, last.turn_reward, last.reward) == (True, None, pytest.approx(0.25))


def test_a_judge_that_failed_gives_no_reward() -> None:
    server = FaultServer()
    server.verdicts["bad"] = {"status": "infrastructure"}
    environment = KernelEnvironment(server.url)
    try:
        environment.reset(task="relu")
        with pytest.raises(kbx.Infrastructure):
            environment.step(KernelAction(code="bad"))
    finally:
        environment.close()
        server.close()


def test_a_reset_that_is_sent_again_is_the_same_episode(environment: KernelEnvironment) -> None:
    environment.reset(task="relu", episode_id="e")
    first = environment.state.session
    environment.reset(task="relu", episode_id="e")
    environment.step(KernelAction(code="wrong"))
    environment.reset(task="relu", episode_id="e")
    assert (environment.state.session, environment.state.step_count) == (first, 1)
    assert environment.step(KernelAction(code="right")).done


def test_an_episode_that_is_over_is_not_begun_again(server: FaultServer, environment: KernelEnvironment) -> None:
    environment.reset(task="relu", episode_id="e")
    environment.reset(task="relu", episode_id="f")
    with kbx.Client(server.url) as client:
        assert not client.resume("s_0").open
    with pytest.raises(ValueError, match="'e' is over"):
        environment.reset(task="relu", episode_id="e")
    with pytest.raises(RuntimeError, match="no episode has begun"):
        environment.step(KernelAction(code="right"))
    environment.reset(task="relu", episode_id="g")
    assert environment.step(KernelAction(code="right")).done


def test_an_episode_names_its_task(url: str) -> None:
    with pytest.raises(ValueError, match="task"):
        KernelEnvironment(url).reset()
