"""Tensors of one value that share memory: one that is there twice, and views that overlap, such as a slot of a cache beside the cache.

What is made of such a value, a copy or a variation, shares memory as it does. Views of one tensor that lie apart count as tensors of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kbx.suite.values import tensors, transform
from kbx.tensors import span

_UNIT = 16
"""Bytes to which memory that is read as several dtypes is rounded: no element is larger."""


@dataclass(frozen=True)
class Shared:
    """The ``first`` byte of a storage that several tensors reach, and how many bytes that is from there to the last."""

    members: Sequence[torch.Tensor]
    first: int
    nbytes: int

    @property
    def dtype(self) -> torch.dtype | None:
        """That of all members; None where they have several."""
        dtypes = {t.dtype for t in self.members}
        return dtypes.pop() if len(dtypes) == 1 else None

    def place(self, member: torch.Tensor) -> int:
        """How many bytes a member begins behind the first."""
        return _start(member) - self.first

    def changed(self, change: Callable[[torch.Tensor], torch.Tensor]) -> list[torch.Tensor]:
        """The members as views of what ``change`` makes of their common memory, a flat tensor: of their dtype, or else of bytes."""
        some, dtype = self.members[0], self.dtype
        if dtype is None:
            storage = some.untyped_storage()
            length = min(self.nbytes, storage.nbytes() - self.first)
            flat = torch.empty(0, dtype=torch.uint8, device=some.device).set_(storage, self.first, (length,), (1,))
        else:
            size = dtype.itemsize
            flat = some.as_strided((self.nbytes // size,), (1,), self.first // size)
        made = change(flat)
        if made is flat:
            return list(self.members)
        return [_view(made, t, self.place(t) // t.element_size(), dtype is None) for t in self.members]


def _view(memory: torch.Tensor, member: torch.Tensor, place: int, of_bytes: bool) -> torch.Tensor:
    if not of_bytes:
        return memory.as_strided(member.shape, member.stride(), memory.storage_offset() + place)
    empty = torch.empty(0, dtype=member.dtype, device=memory.device)
    return empty.set_(memory.untyped_storage(), place, member.shape, member.stride())


def _start(tensor: torch.Tensor) -> int:
    return int(tensor.storage_offset()) * tensor.element_size()


def shared(found: Sequence[torch.Tensor]) -> Iterator[Shared]:
    """The memory that several of these tensors share; nothing where none do."""
    storages = defaultdict(list)
    for tensor in found:
        if tensor.layout == torch.strided and tensor.numel() and not (tensor.is_conj() or tensor.is_neg()):
            storages[tensor.untyped_storage()._cdata].append(tensor)
    for together in storages.values():
        if len(together) > 1:
            yield from _overlapping(together)


def _overlapping(found: list[torch.Tensor]) -> Iterator[Shared]:
    members: list[torch.Tensor] = []
    end = 0
    for tensor in [*sorted(found, key=_start), None]:
        if tensor is None or (members and _start(tensor) >= end):
            if len(members) > 1:
                yield _of(members, end)
            members, end = [], 0
        if tensor is not None:
            members.append(tensor)
            end = max(end, _start(tensor) + span(tensor.shape, tensor.stride()) * tensor.element_size())


def _of(members: list[torch.Tensor], end: int) -> Shared:
    first = _start(members[0])
    if len({t.dtype for t in members}) > 1:
        first, end = first // _UNIT * _UNIT, -(-end // _UNIT) * _UNIT
    return Shared(members, first, end - first)


def changed(value: Any, change: Callable[[Any], Any], together: Callable[[Any], Any] | None = None) -> Any:
    """``transform(value, change)``, whose tensors share memory as they did: ``together``, ``change`` if it is not given, is what becomes
    of the memory that several have in common, as of ``Shared.changed``."""
    made: dict[int, Any] = {}
    for memory in shared(tensors(value)):
        made.update(zip(map(id, memory.members), memory.changed(together or change), strict=True))
    return transform(value, lambda leaf: made[id(leaf)] if id(leaf) in made else change(leaf))
