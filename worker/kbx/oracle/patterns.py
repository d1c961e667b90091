"""What the wrong elements of a result have in common, in a few words for a message."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import torch

from kbx.oracle.places import place_of
from kbx.oracle.relations import relation_of

MOST = 1 << 28
"""Elements of a result beyond which nothing is looked for."""


_NONE: Mapping[str, torch.Tensor] = MappingProxyType({})


def pattern_of(
    got: torch.Tensor,
    expected: torch.Tensor,
    wrong: torch.Tensor,
    arguments: Mapping[str, torch.Tensor] = _NONE,
    others: Mapping[str, torch.Tensor] = _NONE,
) -> str | None:
    """Where the wrong elements are and what they hold: ``all in the tail, from index 60 on; they are 0``; None where nothing is sure.

    ``got``, ``expected`` (in any precision) and the mask ``wrong`` are of one shape; ``arguments`` are those of the call by name,
    ``others`` what is expected of other outputs, by path.
    """
    if got.numel() > MOST:
        return None
    place, relation = place_of(wrong), relation_of(got, expected, wrong, arguments, others)
    parts = [place, relation and f"they {relation}"]
    return "; ".join(p for p in parts if p) or None
