from __future__ import annotations

import pytest
from fault_server import FaultServer
from stand_in import EXAMPLES, check_learning

import kbx
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


def test_an_episode_names_its_task(url: str) -> None:
    with pytest.raises(ValueError, match="task"):
        KernelEnvironment(url).reset()
