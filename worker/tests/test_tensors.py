"""Where tensors lie in arenas."""

import pytest
import torch

from kbx import tensors
from kbx.oracle.arenas import MemoryArena

SMALL, LARGE = 1000, tensors.LARGE // 4  # float32 numbers


@pytest.mark.parametrize("counts", [(SMALL, LARGE, SMALL, LARGE + 1), (LARGE,), (LARGE - 1, SMALL, LARGE - 1)])
def test_large_tensors_are_aligned_like_allocations(counts):
    arena = MemoryArena("in", 64 << 20)
    values = [torch.arange(n, dtype=torch.float32) for n in counts]
    leaves = [arena.put(value) for value in values]
    for value, leaf in zip(values, leaves, strict=True):
        assert leaf["offset"] % (tensors.PAGE if value.nbytes >= tensors.LARGE else tensors.ALIGN) == 0
        assert torch.equal(arena.view(leaf), value)
