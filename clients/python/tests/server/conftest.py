"""These tests need a server that ``KBX_URL`` names, with nothing judged yet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import kbx

EXAMPLES = Path(__file__).parents[4] / "examples"


@pytest.fixture
def url() -> str:
    return os.environ["KBX_URL"]


@pytest.fixture
def client(url: str) -> Iterator[kbx.Client]:
    with kbx.Client(url) as client:
        yield client


@pytest.fixture(scope="session")
def relu() -> str:
    return (EXAMPLES / "honest/relu.py").read_text()


@pytest.fixture(scope="session")
def tail_left_out() -> str:
    return (EXAMPLES / "mistakes/tail_left_out/relu.py").read_text()


@pytest.fixture(scope="session")
def cached_result() -> str:
    return (EXAMPLES / "cheats/cached_result/relu.py").read_text()
