"""Where tensors lie in arenas."""

import pytest
import torch

from kbx import tensors
from kbx.oracle import session
from kbx.oracle.arenas import MemoryArena
from kbx.suite import Call

SMALL, LARGE = 1000, tensors.LARGE // 4  # float32 numbers


@pytest.mark.parametrize("counts", [(SMALL, LARGE, SMALL, LARGE + 1), (LARGE,), (LARGE - 1, SMALL, LARGE - 1)])
def test_large_tensors_are_aligned_like_allocations(counts):
    arena = MemoryArena("in", 64 << 20)
    values = [torch.arange(n, dtype=torch.float32) for n in counts]
    leaves = [arena.put(value) for value in values]
    for value, leaf in zip(values, leaves, strict=True):
        assert leaf["offset"] % (tensors.PAGE if value.nbytes >= tensors.LARGE else tensors.ALIGN) == 0
        assert torch.equal(arena.view(leaf), value)


STRIDED = {
    "every second column": lambda x: x[:, ::2], "some columns": lambda x: x[:, 3:7], "transposed": lambda x: x[::3].t(),
    "expanded": lambda x: x[:, ::5].unsqueeze(0).expand(3, -1, -1), "a diagonal": lambda x: x.diagonal(), "windows": lambda x: x[0].unfold(0, 3, 2)[::2],
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.bfloat16, torch.complex128])
@pytest.mark.parametrize("view", STRIDED)
def test_nobody_may_rely_on_what_lies_between_elements(view, dtype):
    original = STRIDED[view](torch.arange(120).view(10, 12).to(dtype))
    arena, seen = MemoryArena("in", 64 << 20), []
    for filler in tensors.FILLERS:
        arena.reset()
        arena.filler = filler
        _, _, (leaf,) = session.lend(Call((original,), {}), arena)
        assert torch.equal(arena.view(leaf), original) and not session._changed(arena, leaf, original)
        count = tensors.span(original.shape, original.stride())
        lent = arena.typed(leaf["offset"], count * dtype.itemsize, torch.uint8)
        between = (lent.view(count, -1) == filler).all(1).nonzero().flatten().tolist()
        gaps = set(range(count)) - set(
            torch.arange(count).as_strided(original.shape, original.stride()).flatten().tolist()
        )
        assert gaps <= set(between) and gaps
        seen.append(lent.clone())
        place = sorted(gaps)[0] * dtype.itemsize
        lent[place] ^= 1
        assert session._changed(arena, leaf, original), "what is written between the elements is a change"
    assert not torch.equal(seen[0], seen[1]) and not torch.equal(seen[1], seen[2])


@pytest.mark.parametrize(
    "tensor",
    [torch.zeros(3, 4), torch.zeros(3, 4).t(), torch.zeros(4).expand(3, 4), torch.zeros(0, 4), torch.zeros(())],
)
def test_tensors_without_gaps(tensor):
    assert not tensors.has_gaps(tensor.shape, tensor.stride())
