"""Launches of which some programs run: which, and what they may read of what the others would have written."""

import ctypes

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from ttir_launch import text_of

from kbx.ttir import partial
from kbx.ttir.errors import Unsupported
from kbx.ttir.executor import Kernel
from kbx.ttir.findings import OUT_OF_BOUNDS
from kbx.ttir.memory import Memory, Region

ROWS, N = 3000, 4


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * n + i, tl.load(x_ptr + row * n + i, mask=i < n), mask=i < n)


@triton.jit
def copy_reversed(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.num_programs(0) - 1 - tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * n + i, tl.load(x_ptr + row * n + i, mask=i < n), mask=i < n)


@triton.jit
def copy_persistent(x_ptr, out_ptr, rows, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        tl.store(out_ptr + row * n + i, tl.load(x_ptr + row * n + i, mask=i < n), mask=i < n)


@triton.jit
def add_one(out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(out_ptr + i) + 1)


@triton.jit
def count(out_ptr):
    tl.atomic_add(out_ptr + tl.program_id(0), 1.0)


class Call:
    """Launches on the tensors of one call, of which some programs run."""

    def __init__(self, **tensors):
        self._tensors = tensors
        self.written = {name: partial.Written(np.zeros(tensor.nbytes, np.uint8)) for name, tensor in tensors.items()}

    def run(self, function, grid, arguments, constants=(), least=None):
        """Launches a kernel on tensors by their names; returns the findings."""
        values = [self._tensors.get(each, each) if isinstance(each, str) else each for each in arguments]
        kernel = Kernel(text_of(function, values, dict(constants)))
        memory = Memory([self.region(name) for name in arguments if name in self._tensors])
        launch = partial.PartialLaunch(grid, memory, 1, kernel.largest if least is None else least)
        kernel.run(launch, [v.data_ptr() if isinstance(v, torch.Tensor) else v for v in values])
        return launch.findings

    def region(self, name):
        tensor = self._tensors[name]
        memory = np.frombuffer((ctypes.c_uint8 * tensor.nbytes).from_address(tensor.data_ptr()), np.uint8)
        return partial.Tracked(Region(tensor.data_ptr(), memory, name), self.written[name])

    def final(self, name, row):
        """A row of a result; raises Unsupported unless it is final."""
        region, size = self.region(name), self._tensors[name].element_size()
        region.end()
        return region.get(1, np.arange(row * N * size, (row + 1) * N * size), None).view(np.float32)


def call():
    return Call(x=torch.arange(ROWS * N, dtype=torch.float32), out=torch.zeros(ROWS * N))


class TestChosen:
    @pytest.mark.parametrize("grid", [(1, 1, 1), (5, 7, 3), (256, 1, 1)])
    def test_all_of_a_small_grid(self, grid):
        assert partial.chosen(grid, 1 << 20).tolist() == list(range(grid[0] * grid[1] * grid[2]))

    def test_the_last_ones_of_a_long_grid(self):
        assert partial.chosen((1 << 30, 1, 1), 1 << 20).tolist() == list(range((1 << 30) - 256, 1 << 30))

    def test_more_of_smaller_programs(self):
        assert len(partial.chosen((1 << 30, 1, 1), 256)) == (1 << 20) // 256

    def test_fewer_in_each_further_launch(self):
        counts = [len(partial.chosen((1 << 30, 1, 1), 1 << 20, earlier)) for earlier in range(6)]
        assert counts == [256, 32, 16, 8, 8, 8]

    @pytest.mark.parametrize("rows", range(3))
    def test_all_of_short_axes_for_the_last_rows(self, rows):
        grid = [2, 8]
        grid.insert(rows, 1 << 20)
        found = np.unravel_index(partial.chosen(tuple(grid), 1 << 20), grid[::-1])[::-1]
        assert set(found[rows]) == set(range((1 << 20) - 16, 1 << 20))
        assert len(set(zip(*found, strict=True))) == 256

    def test_no_axis_is_left_out(self):
        assert len(partial.chosen((1000, 1000, 1000), 1 << 20)) == 256


class TestWhatIsFinal:
    def test_rows_of_programs_that_ran(self):
        made = call()
        assert not made.run(copy, (ROWS, 1, 1), ["x", "out", N], {"BLOCK": N}, least=1 << 20)
        assert made.final("out", ROWS - 1).tolist() == [ROWS * N - 4, ROWS * N - 3, ROWS * N - 2, ROWS * N - 1]

    def test_no_others(self):
        made = call()
        made.run(copy, (ROWS, 1, 1), ["x", "out", N], {"BLOCK": N}, least=1 << 20)
        with pytest.raises(Unsupported, match="were not run"):
            made.final("out", ROWS - 257)

    def test_nothing_that_a_later_launch_may_change(self):
        made = call()
        made.run(copy, (ROWS, 1, 1), ["x", "out", N], {"BLOCK": N}, least=1 << 20)
        made.run(add_one, (ROWS * N // 2, 1, 1), ["out"], {"BLOCK": 2}, least=1 << 20)
        assert made.final("out", ROWS - 1).tolist() == [ROWS * N - 3, ROWS * N - 2, ROWS * N - 1, ROWS * N]
        with pytest.raises(Unsupported):
            made.final("out", ROWS - 200)

    def test_all_where_all_programs_ran(self):
        made = call()
        made.run(copy, (ROWS, 1, 1), ["x", "out", N], {"BLOCK": N}, least=1)
        assert made.final("out", 0).tolist() == [0, 1, 2, 3]

    def test_all_of_a_persistent_kernel(self):
        made = call()
        made.run(copy_persistent, (132, 1, 1), ["x", "out", ROWS, N], {"BLOCK": N}, least=1 << 20)
        assert made.final("out", 0).tolist() == [0, 1, 2, 3]
        assert made.final("out", ROWS - 1)[-1] == ROWS * N - 1

    def test_a_persistent_kernel_that_would_fill_the_memory_is_ended(self, monkeypatch):
        monkeypatch.setattr(partial, "MOST_BYTES", ROWS * N * 4 - 1)
        with pytest.raises(Unsupported, match="write more than"):
            call().run(copy_persistent, (132, 1, 1), ["x", "out", ROWS, N], {"BLOCK": N}, least=1 << 20)

    def test_what_all_programs_write_after_some(self):
        made = call()
        made.run(copy, (ROWS, 1, 1), ["x", "out", N], {"BLOCK": N}, least=1 << 20)
        made.run(copy, (ROWS, 1, 1), ["x", "out", N], {"BLOCK": N}, least=1)
        assert made.final("out", 0).tolist() == [0, 1, 2, 3]

    def test_a_program_reads_nothing_that_is_not(self):
        made = Call(x=torch.zeros(ROWS * N), y=torch.zeros(ROWS * N), out=torch.zeros(ROWS * N))
        made.run(copy, (ROWS, 1, 1), ["x", "y", N], {"BLOCK": N}, least=1 << 20)
        assert not made.run(copy, (ROWS, 1, 1), ["y", "out", N], {"BLOCK": N}, least=1 << 20)
        with pytest.raises(Unsupported, match="were not run"):
            made.run(copy_reversed, (ROWS, 1, 1), ["y", "out", N], {"BLOCK": N}, least=1 << 20)

    def test_lanes_under_a_mask_are_not_read(self):
        made = Call(x=torch.zeros(ROWS * N), y=torch.zeros(ROWS * N), out=torch.zeros(ROWS * N))
        made.run(copy, (ROWS, 1, 1), ["x", "y", N], {"BLOCK": N}, least=1 << 20)
        assert not made.run(copy, (ROWS, 1, 1), ["y", "out", N], {"BLOCK": 2 * N}, least=1 << 20)

    def test_atomic_operations_are_not_run(self):
        with pytest.raises(Unsupported, match="atomic"):
            call().run(count, (ROWS, 1, 1), ["out"])

    def test_an_argument_is_not_written_in_parts(self):
        made = call()
        made.region = lambda name: Region(
            made._tensors[name].data_ptr(), np.zeros(ROWS * N * 4, np.uint8), name, lent=True
        )
        made.run(copy, (ROWS, 1, 1), ["x", "out", N], {"BLOCK": N}, least=1)
        with pytest.raises(Unsupported, match="to an argument"):
            made.run(copy, (ROWS, 1, 1), ["x", "out", N], {"BLOCK": N}, least=1 << 20)

    def test_an_access_outside_of_tensors_is_found(self):
        made = call()
        (found,) = made.run(copy, (ROWS + 1, 1, 1), ["x", "out", N], {"BLOCK": N}, least=1 << 20)[:1]
        assert found.kind == OUT_OF_BOUNDS
        assert found.program == (ROWS, 0, 0)


class TestOther:
    """Where a kernel has an address that is in none of its arguments."""

    def locate(self, address, others):
        memory = Memory([Region(1 << 20, np.zeros(64, np.uint8), "x")], lambda: others)
        return memory.locate(np.array([address]), None, None, 4)

    def test_a_tensor_that_was_not_given_is_not_touched(self):
        (touched,), outside = self.locate((1 << 30) + 8, [partial.Other(1 << 30, 64)])
        assert outside is None
        with pytest.raises(Unsupported, match="no argument"):
            touched.region.get(4, touched.elements, touched.live)
        with pytest.raises(Unsupported, match="no argument"):
            touched.region.put(4, touched.elements, np.zeros(1, np.int32))

    def test_what_is_no_tensor_is_outside(self):
        touched, outside = self.locate((1 << 30) - 8, [partial.Other(1 << 30, 64)])
        assert not touched
        assert outside.lanes.all()


class TestRepeated:
    def region(self):
        return partial.Repeated(64, np.arange(6, dtype=np.float32).view(np.uint8), 24 << 30)

    def test_the_same_elements_again_and_again(self):
        elements = np.array([0, 6, 7, 6 * (1 << 29) + 5, (1 << 32) + 1])
        got = self.region().get(4, elements, None).view(np.float32)
        assert got.tolist() == [0, 0, 1, 5, ((1 << 32) + 1) % 6]

    def test_its_end_is_that_of_all(self):
        memory = Memory([self.region()])
        address = np.array([64 + (24 << 30) - 4, 64 + (24 << 30)])
        (touched,), outside = memory.locate(address, memory.regions[0], None, 4)
        assert touched.live.tolist() == [True, False]
        assert outside.lanes.tolist() == [False, True]

    def test_nothing_is_written_to_it(self):
        with pytest.raises(Unsupported, match="a store to an argument"):
            self.region().put(4, slice(0, 1), np.zeros(1, np.int32))

    def test_elements_of_which_a_row_has_no_whole_number_are_not_read(self):
        region = partial.Repeated(64, np.zeros(6, np.uint8), 60)
        with pytest.raises(Unsupported, match="another size"):
            region.get(4, np.array([0]), None)
