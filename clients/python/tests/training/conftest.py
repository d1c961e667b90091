"""These tests need TRL and verifiers. The server is the one that ``KBX_URL`` names, else a stand-in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer

import kbx

EXAMPLES = Path(__file__).parents[4] / "examples"
sys.path.insert(0, str(EXAMPLES / "training"))
NAMES = ("gelu", "relu", "softmax", "sum")


class StandIn(FaultServer):
    """Finds kernels right that are named after their task."""

    def finish(self, judgement: dict[str, Any]) -> None:
        super().finish(judgement)
        name = judgement["task"].split("/")[-1]
        right = f"{name}_kernel" in judgement["code"]
        judgement["verdict"] |= {"policy": "kernel", "exe_ok": right, "status": "correct" if right else "wrong_values"}
        judgement["verdict"] |= self.verdicts.get(judgement["code"], {})


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    if "KBX_URL" in os.environ:
        yield os.environ["KBX_URL"]
        return
    server = StandIn()
    for folder, status in (("mistakes/tail_left_out", "wrong_values"), ("cheats/cached_result", "rejected_static")):
        server.verdicts[(EXAMPLES / folder / "relu.py").read_text()] = {"status": status, "exe_ok": False}
    yield server.url
    server.close()


@pytest.fixture(scope="session")
def tasks(url: str) -> list[kbx.Task]:
    with kbx.Client(url) as client:
        return [task for task in client.tasks() if task.name in NAMES]


@pytest.fixture(scope="session")
def answers() -> list[str]:
    """Honest kernels, mistakes and cheats, each as a model replies."""
    folders = ("honest", "mistakes", "cheats")
    files = [file for folder in folders for file in sorted((EXAMPLES / folder).rglob("*.py"))]
    return [f"Here it is:\n```python\n{file.read_text()}\n```" for file in files]
