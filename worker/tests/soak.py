"""Of many alike each is tried where ``KBX_SOAK=1``, which the soak tests set, and some elsewhere."""

import os

ALL = os.environ.get("KBX_SOAK") == "1"


def some(items, step=5):
    """All ``items`` in a soak test, else every ``step``-th."""
    return list(items)[:: 1 if ALL else step]
