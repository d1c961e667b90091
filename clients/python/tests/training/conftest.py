"""These tests need TRL and verifiers. The server is the one that ``KBX_URL`` names, else a stand-in."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from stand_in import EXAMPLES, serving

import kbx

sys.path.insert(0, str(EXAMPLES / "training"))
NAMES = ("gelu", "relu", "softmax", "sum")


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    with serving() as address:
        yield address


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
