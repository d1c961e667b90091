"""What stands in for a function of torch says what the original says."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kbx import standins

SIZES = st.sampled_from((0, 1, 2, 3, 7))
SHAPES = st.lists(st.one_of(SIZES, st.lists(SIZES, max_size=3), st.tuples(SIZES, SIZES)), max_size=3)


def said(function, shapes):
    try:
        return function(*shapes)
    except Exception as error:
        return type(error), str(error)


@settings(deadline=None)
@given(SHAPES)
def test_shapes_broadcast_as_they_do_in_torch(shapes):
    mine, torchs = said(standins.broadcast_shapes, shapes), said(torch.broadcast_shapes, shapes)
    assert mine == torchs and type(mine) is type(torchs)


@pytest.mark.parametrize(
    "shapes", [((2, -1), (2, 1)), ((3,), "3"), (2.5,), (torch.Size((4, 1)), (5,)), ((True, 2), (2,))]
)
def test_broadcast_accepts_other_arguments(shapes):
    assert said(standins.broadcast_shapes, shapes) == said(torch.broadcast_shapes, shapes)


def test_broadcast_stand_in_imports_no_module():
    program = (
        "import sys, torch; from kbx import standins; standins.install(); "
        "assert torch.broadcast_shapes((2, 1), 3) == torch.functional.broadcast_shapes([2, 3]) == torch.Size((2, 3)); "
        "sys.exit('sympy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.later
def test_compiled_code_uses_torch():
    program = (
        "import torch; from kbx import standins; standins.install(); "
        "f = torch.compile(lambda x, y: x.expand(torch.broadcast_shapes(x.shape, y.shape)) + y, fullgraph=True, backend='eager'); "
        "assert f(torch.ones(2, 1), torch.ones(3)).shape == (2, 3)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
