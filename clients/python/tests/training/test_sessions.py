from __future__ import annotations

import pytest
from stand_in import check_learning


@pytest.mark.parametrize("library", ["session", "verifiers", "trl"])
def test_a_policy_learns_in_sessions(url: str, library: str) -> None:
    check_learning(url, library)
