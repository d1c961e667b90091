"""How long tests wait: for what comes at once on an idle machine, and in time on any. Only what never comes takes all of it."""

import time
from pathlib import Path

SECONDS = 120.0
"""For one step of another process, such as its start."""
LONG_SECONDS = 600.0
"""For all that a process of its own does in a test."""


def eventually(condition):
    """Whether ``condition()`` comes true."""
    end = time.monotonic() + SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(condition())


def has_ended(pid):
    """Whether a process is gone, though nobody may have waited for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
