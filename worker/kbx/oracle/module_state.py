"""What an instance of a module holds besides its weights, and which of it a call has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase

from kbx.suite.values import leaves

Held: TypeAlias = tuple[str, Any, int | None]
"""Attribute, value and version."""


_EVERY_MODULES = vars(nn.Module()).keys()


def held(module: nn.Module) -> dict[str, Held]:
    """``(attribute, value, version)`` by path, of all values held by a module and those inside it; paths read ``self.cell.hidden``.

    Running statistics of normalizations are left out: in training mode no result depends on them.
    """
    found: dict[str, Held] = {}
    for inside, part in module.named_modules():
        if isinstance(part, _NormBase):
            continue
        own = {name: value for name, value in vars(part).items() if name not in _EVERY_MODULES}
        for name, value in {**own, **part._buffers, **part._parameters}.items():
            attribute = ".".join(filter(None, ("self", inside, name)))
            for path, leaf in leaves(value, attribute):
                found[path] = attribute, leaf, leaf._version if isinstance(leaf, torch.Tensor) else None
    return found


def changed(before: dict[str, Held], after: dict[str, Held]) -> list[str]:
    """The attributes, in order of their names, that hold something else in one ``held`` than in another."""
    paths = [path for path in {**before, **after} if not _same(before.get(path), after.get(path))]
    return sorted({(before.get(path) or after[path])[0] for path in paths})


def written_buffers(
    before: dict[str, torch.Tensor], module: nn.Module, wrote: Callable[[torch.Tensor], bool]
) -> tuple[str, ...]:
    """Names of the buffers that a call has written to, or replaced by others of their form; ``before`` are those from before it.

    Batches that a normalization counts, and never looks at, are left out.
    """
    after = dict(module.named_buffers())
    for inside, part in module.named_modules():
        if isinstance(part, _NormBase) and part.momentum is not None:
            after.pop(".".join(filter(None, (inside, "num_batches_tracked"))), None)

    def form(tensor: torch.Tensor) -> tuple[Any, ...]:
        return tensor.shape, tensor.dtype

    kept = (name for name, buffer in before.items() if name in after and form(after[name]) == form(buffer))
    return tuple(name for name in kept if after[name] is not before[name] or wrote(before[name]))


def _same(one: Held | None, other: Held | None) -> bool:
    if one is None or other is None:
        return False
    (_, one, version), (_, other, later) = one, other
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
        return one is other and version == later
    try:
        return one is other or bool(one == other)
    except Exception:  # whatever a file's own class makes of ==
        return False
