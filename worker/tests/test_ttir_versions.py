"""IR that other versions of Triton printed, kept in ``ttir_versions`` without its locations: read, executed, compared with torch."""

import pathlib

import pytest
import torch
from ttir_launch import launch_on_tensors

from kbx.ttir.executor import Kernel

FOLDER = pathlib.Path(__file__).parent / "ttir_versions"
VERSIONS = sorted(folder.name for folder in FOLDER.iterdir())
KERNELS = sorted(file.stem for file in (FOLDER / VERSIONS[0]).iterdir())

pytestmark = pytest.mark.sampled(3)


def executed(version, name, grid, *arguments):
    assert launch_on_tensors(Kernel((FOLDER / version / f"{name}.ttir").read_text()), grid, arguments) == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", KERNELS)
def test_all_are_known(name, version):
    assert Kernel((FOLDER / version / f"{name}.ttir").read_text()).function.arguments


@pytest.mark.parametrize("version", VERSIONS)
def test_softmax_of_rows_of_eight(version):
    x, out = torch.randn(20, 7), torch.zeros(20, 7)
    executed(version, "softmax", (20,), x, out, 7, 7)
    torch.testing.assert_close(out, x.softmax(-1))


@pytest.mark.parametrize("version", VERSIONS)
def test_matrix_product_in_tf32(version):
    a, b, out = torch.randn(20, 30), torch.randn(30, 24), torch.zeros(20, 24)
    executed(version, "matmul", (2, 2), a, b, out, 20, 24, 30)
    torch.testing.assert_close(out, a @ b, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("version", VERSIONS)
def test_descriptors_clip(version):
    x, out = torch.randn(13, 12), torch.zeros(13, 12)
    executed(version, "descriptor", (2, 2), x, out, 13, 12)
    assert torch.equal(out, x * 2)


@pytest.mark.parametrize("version", VERSIONS)
def test_calls_and_branches(version):
    x, out = torch.arange(10, dtype=torch.int32), torch.zeros(10, dtype=torch.int32)
    executed(version, "calls", (10,), x, out)
    assert out.tolist() == [3, 3, 3, *(2 * v for v in range(3, 10))]
    x, y, out = torch.randn(32), torch.randn(32), torch.zeros(32)
    executed(version, "map", (2,), x, y, out)
    assert torch.equal(out, torch.where(x > 0, x * y, y - 1))


@pytest.mark.parametrize("version", VERSIONS)
def test_sums_under_locks(version):
    x, out = torch.randn(9, 16), torch.zeros(2, 16)
    executed(version, "locked_sum", (9,), x, out, torch.zeros(4, dtype=torch.int32), 9)
    torch.testing.assert_close(out, torch.stack([x[0::2].sum(0), x[1::2].sum(0)]))


@pytest.mark.parametrize("version", VERSIONS)
def test_sorted_and_joined(version):
    x, y, out = torch.randn(16), torch.randn(16), torch.zeros(7 * 16)
    executed(version, "shapes", (1,), x, y, out)
    expected = [torch.stack([x, y], 1).flatten(), x, y, x - y, x.sort().values, x.reshape(4, 4).T.flatten()]
    assert torch.equal(out, torch.cat(expected))
