"""These tests need TRL and verifiers, and a server that ``KBX_URL`` names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import kbx

EXAMPLES = Path(__file__).parents[4] / "examples"
sys.path.insert(0, str(EXAMPLES / "training"))
NAMES = ("gelu", "relu", "softmax", "sum")


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["KBX_URL"]


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
