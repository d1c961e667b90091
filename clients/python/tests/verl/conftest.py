"""These tests need verl 0.9.1, and are run by hand. The server is the one that ``KBX_URL`` names, else a stand-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from stand_in import serving


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    with serving() as address:
        yield address
