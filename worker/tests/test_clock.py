"""Which streams of torch's pool a candidate has taken, and what may come back as a result."""

import itertools
import types

import pytest
import torch
from bench_client import bench

from kbx.runner.clock import Streams


class Pool:
    """torch's pool: 32 streams of each of ``priorities`` priorities, handed out in turn."""

    def __init__(self, priorities=4):
        self.turns = [itertools.cycle(range(level * 32, level * 32 + 32)) for level in range(priorities)]

    def __call__(self, priority=0):
        level = min(-priority, len(self.turns) - 1)
        return types.SimpleNamespace(stream_id=next(self.turns[level]), priority=-level)


@pytest.mark.parametrize("priorities", [1, 2, 4])
def test_nobody_took_a_stream(priorities):
    streams = Streams(Pool(priorities))
    for _ in range(100):
        streams.look()
    assert streams.taken == []


@pytest.mark.parametrize("priorities", [1, 2, 4])
@pytest.mark.parametrize("count", [1, 5, 31])
def test_streams_taken_between_two_looks_are_found(priorities, count):
    pool = Pool(priorities)
    streams = Streams(pool)
    streams.look()
    mine = [pool(priority=-1).stream_id for _ in range(count)]
    streams.look()
    streams.look()
    assert sorted(s.stream_id for s in streams.taken) == sorted(mine)


def test_a_stream_is_found_once():
    pool = Pool()
    streams = Streams(pool)
    for _ in range(64):
        pool()
        streams.look()
    ids = [s.stream_id for s in streams.taken]
    assert len(ids) == len(set(ids))


PATCHED_COPY = """
stock = torch.Tensor.copy_
torch.Tensor.copy_ = lambda target, source, *args: stock(target, torch.ones_like(source))
"""

FUNCTION_MODE = """
from torch.overrides import TorchFunctionMode

class Late(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") == "copy_":
            args = (args[0], torch.ones_like(args[1]))
        return function(*args, **(kwargs or {}))

Late().__enter__()
"""


@pytest.mark.parametrize("hook", ["", PATCHED_COPY, FUNCTION_MODE])
def test_nothing_is_computed_while_a_result_is_fetched(hook):
    with bench(hook + "def run(x):\n    return torch.zeros(4, device='cuda')") as client:
        assert client.run(torch.zeros(4)).tolist() == [0.0] * 4


LAZY = """
class Lazy(torch.Tensor):
    pass

def run(x):
    return torch.Tensor._make_subclass(Lazy, torch.zeros(4, device="cuda"))
"""


def test_a_tensor_of_the_candidates_own_class_is_no_tensor():
    with bench(LAZY) as client:
        assert client.call(torch.zeros(4)).value == {"t": "opaque", "v": "candidate.Lazy"}


def test_a_parameter_is_a_tensor():
    with bench("def run(x):\n    return torch.nn.Parameter(x)") as client:
        assert client.run(torch.ones(4)).tolist() == [1.0] * 4
