"""The example of examples/training, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
GENERATIONS = 4
"""Completions of each of four tasks, all of them judged."""
LOOP = PROJECT.parents[1] / "examples/training/loop.py"


@pytest.mark.parametrize("library", ["trl", "verifiers"])
def test_training_is_reproducible(url: str, library: str) -> None:
    path = os.pathsep.join([str(PROJECT / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(LOOP), library, "--generations", str(GENERATIONS)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path, "KBX_URL": url}, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    first, second = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
    assert first["completions"] == second["completions"] == 4 * GENERATIONS
    assert (first["reward"], first["best"]) == (second["reward"], second["best"])
    print(f"{library}: {first['seconds']} s, then {second['seconds']} s")
