"""What a watched call changes of what it watches: nothing but that it is recorded without a GPU, or the watched and the timed call would
differ."""

import pytest
import torch
from bench_client import bench

MODES = """
def run(x):
    return x.clone(), torch._C._len_torch_dispatch_stack()
"""

OPERATION = """
@torch.library.custom_op("kbx_test_watching::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
"""


@pytest.mark.parametrize(("source", "modes"), [(MODES, 1), (OPERATION + MODES, 2)], ids=["plain", "a custom operation"])
def test_only_candidate_operations_go_through_python(source, modes):
    with bench() as client:
        client.attach()
        client.load(source)
        assert client.run(torch.ones(3))[1] == modes
