"""Samples of what the submodules of a module return in a call, in runner and oracle alike: by these the oracle names the first that
differs. What a runner says of them is a claim, which decides nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from torch import nn

MOST, VALUES = 100, 64
"""Submodules, and values of each."""
Sample: TypeAlias = "list[Any]"
"""``[elements, some of them]`` of a tensor."""
_STEP = 2654435761
"""A prime, so that places do not all lie in one column."""


@contextlib.contextmanager
def noted(module: nn.Module) -> Iterator[dict[str, Sample]]:
    """Samples by the names of submodules, in the order in which their first calls end while this lasts."""
    found: dict[str, Sample] = {}

    def noting(name: str) -> Callable[[nn.Module, Any, Any], None]:
        def note(part: nn.Module, arguments: Any, result: Any) -> None:
            tensor = _first(result)
            if tensor is not None and name not in found and len(found) < MOST:
                found[name] = _sample(tensor)

        return note

    handles = [part.register_forward_hook(noting(name)) for name, part in module.named_modules() if name]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def _first(result: Any) -> torch.Tensor | None:
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else [result]
    return next((part for part in parts if isinstance(part, torch.Tensor)), None)


def _sample(tensor: torch.Tensor) -> Sample:
    # No modes: of a runner's, one plays a GPU and others watch who computes.
    with torch.no_grad(), torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        flat = tensor.detach().reshape(-1)
        count = flat.numel()
        places = [place * _STEP % count for place in range(min(VALUES, count))]
        return [count, flat[torch.tensor(places, dtype=torch.int64, device="cpu").to(flat.device)]]
