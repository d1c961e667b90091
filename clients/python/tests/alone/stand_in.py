"""The server of tests of adapters: the one that ``KBX_URL`` names, else one that tells kernels apart by their text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fault_server import FaultServer

PROJECT = Path(__file__).parents[2]
EXAMPLES = PROJECT.parents[1] / "examples"


class StandIn(FaultServer):
    """Finds kernels right that are named after their task, but for two of the examples."""

    def __init__(self) -> None:
        super().__init__()
        for folder, status in (("mistakes/tail_left_out", "wrong_values"), ("cheats/cached_result", "rejected_static")):
            source = (EXAMPLES / folder / "relu.py").read_text()
            self.verdicts[source] = {"status": status, "exe_ok": False}

    def finish(self, judgement: dict[str, Any]) -> None:
        super().finish(judgement)
        name = judgement["task"].split("/")[-1]
        right = f"{name}_kernel" in judgement["code"]
        judgement["verdict"] |= {"policy": "kernel", "exe_ok": right, "status": "correct" if right else "wrong_values"}
        judgement["verdict"] |= self.verdicts.get(judgement["code"], {})


@contextmanager
def serving() -> Iterator[str]:
    """The address of the server."""
    if "KBX_URL" in os.environ:
        yield os.environ["KBX_URL"]
        return
    server = StandIn()
    yield server.url
    server.close()


def check_learning(url: str, library: str) -> None:
    """The example of sessions, as a user runs it: within 20 steps a policy learns which of three kernels is right."""
    path = os.pathsep.join([str(PROJECT / "src"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(EXAMPLES / "training/sessions.py"), library]
    environment = {**os.environ, "PYTHONPATH": path, "KBX_URL": url}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)

    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith('{"rewards')]
    figures = json.loads(line)
    rewards = figures["rewards"]
    assert len(rewards) == 20
    best = max(rewards)
    assert sum(rewards[:3]) / 3 < 0.85 * best
    assert sum(rewards[-3:]) / 3 > 0.9 * best
    print(f"{library}: {figures['rewards_per_second']} rewards/s")
