"""Seeds that a file of a user's sets itself, made to depend on the call.

``torch.manual_seed(42)`` in ``inputs()`` would give every call the same values, and a kernel that returns an earlier result would be right.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch


@contextlib.contextmanager
def mixed(number: int) -> Iterator[None]:
    """While it lasts, each seed that Python code gives a generator of torch, ``random`` or numpy by its full name is another one for
    another ``number``, and one that it leaves to chance is not. A generator that was made before is what it was."""

    def mix(seed: object) -> int:
        digest = hashlib.sha256(f"{number} {seed}".encode()).digest()
        return int.from_bytes(digest[:4], "big")  # numpy takes 32 bits

    class Generator(torch.Generator):
        def __init__(self, device: torch.device | str = "cpu") -> None:
            self.manual_seed(self.initial_seed())

        def manual_seed(self, seed: int) -> Any:
            return super().manual_seed(mix(seed))

        def seed(self) -> int:
            self.manual_seed(0)
            return self.initial_seed()

    class Random(random.Random):
        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(mix(a))

    def seeding(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda seed=None, *rest, **named: function(mix(seed), *rest, **named)

    found: list[tuple[Any, str, Any]] = [
        (torch, "Generator", Generator), (torch, "manual_seed", seeding(torch.manual_seed)),
        (torch.random, "manual_seed", seeding(torch.manual_seed)), (torch.cuda, "manual_seed", seeding(torch.cuda.manual_seed)),
        (torch.cuda, "manual_seed_all", seeding(torch.cuda.manual_seed_all)), (torch, "seed", lambda: torch.manual_seed(0).initial_seed()),
        (random, "seed", seeding(random.seed)), (random, "Random", Random),
    ]  # fmt: skip
    if numpy := sys.modules.get("numpy"):
        found += [(numpy.random, name, seeding(getattr(numpy.random, name))) for name in ("seed", "default_rng")]
        found += [(numpy.random, "RandomState", _state_of(numpy.random, mix))]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in found]
    try:
        for owner, name, other in found:
            setattr(owner, name, other)
        yield
    finally:
        for owner, name, usual in before:
            setattr(owner, name, usual)


def _state_of(module: Any, mix: Callable[[object], int]) -> type:
    """numpy's older generator, as a class, since numpy asks for instances of it."""

    class RandomState(module.RandomState):  # type: ignore[misc]
        def __init__(self, seed: Any = None) -> None:
            super().__init__(mix(seed))

        def seed(self, seed: Any = None) -> None:
            super().seed(mix(seed))

    return RandomState
