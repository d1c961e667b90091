"""The example of several turns, as a user runs it: 20 steps, in which a policy learns which of three kernels is right."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
EXAMPLE = PROJECT.parents[1] / "examples/training/sessions.py"


@pytest.mark.parametrize("library", ["session", "openenv", "verifiers", "trl", "verl"])
def test_a_policy_learns_through_each_adapter(url: str, library: str) -> None:
    if library == "openenv" and importlib.util.find_spec("openenv") is None:
        pytest.skip("OpenEnv is not installed")
    path = os.pathsep.join([str(PROJECT / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(EXAMPLE), library]
    environment = {**os.environ, "PYTHONPATH": path, "KBX_URL": url}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)

    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith('{"rewards')]
    figures = json.loads(line)
    rewards = figures["rewards"]
    assert len(rewards) == 20
    best = max(rewards)
    assert sum(rewards[:3]) / 3 < 0.85 * best
    assert sum(rewards[-3:]) / 3 > 0.95 * best
    print(f"{library}: {figures['rewards_per_second']} rewards/s")
