"""Guarded launches, on memory of the host: where things lie, what is copied back, what is found. ``bench/guards.py`` does it on a GPU."""

import ctypes
import faulthandler
import inspect
import mmap
import os
import pathlib
import struct
import subprocess
import sys
import types

import pytest
import torch
from triton.backends.nvidia.driver import CudaLauncher

from kbx.runner import guards
from kbx.runner.guards import GRANULE, Guards, OutOfBounds, Span, granules, merged, poison, start

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


class HostMappings:
    """What ``Mappings`` does, with memory of the host."""

    device = "cpu"

    def __init__(self, free=1 << 40):
        self.mapped, self.free, self.error, self.filled, self.waited = {}, free, 0, [], 0

    def map(self, length):
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        base = _libc.mmap(None, length + 2 * GRANULE, 0, private, -1, 0)
        address = base + GRANULE
        _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(length), mmap.PROT_READ | mmap.PROT_WRITE)
        self.mapped[address] = length
        return address

    def unmap(self, address, length):
        assert self.mapped.pop(address) == length
        _libc.munmap(address - GRANULE, length + 2 * GRANULE)

    def tensor(self, address, length):
        return torch.frombuffer((ctypes.c_ubyte * length).from_address(address), dtype=torch.uint8)

    def memory(self):
        return self.free - sum(self.mapped.values()), 1 << 40

    def synchronise(self):
        self.waited = len(self.filled)
        return self.error

    def fill(self, address, length, byte):
        self.filled.append((address, length, byte))

    def lay_out(self, part, word, stream):
        for block in (part.block, part.image):
            self.tensor(block.address, block.length).view(torch.int64).fill_(word)
            ctypes.memmove(block.address + part.start, part.span.address, part.span.length)

    def take_back(self, parts, stream):
        return [self._take_back(part) for part in parts]

    def _take_back(self, part):
        now, before = (self.tensor(each.address, part.block.length) for each in (part.block, part.image))
        there, differs = self.tensor(part.span.address, part.span.length), now != before
        within = slice(part.start, part.end)
        there[differs[within]] = now[within][differs[within]]
        return int(differs[: part.start].any()), int(differs[part.end :].any())


def kernel(name="_add", names=("x", "y", "n", "BLOCK")):
    return types.SimpleNamespace(kbx_kernel=types.SimpleNamespace(__name__=name, arg_names=list(names)))


HIDDEN = (1, 1, 1, 0, 0, None, None, None, None)
"""What a launcher is given before the kernel's arguments: a grid of one program."""


def floats(address, count):
    return (ctypes.c_float * count).from_address(address)


def launched(guarded, body, *arguments, launcher=None):
    """Makes a launch whose kernel is ``body`` on addresses and numbers; None if it was not guarded."""
    launch = guarded.enter(launcher or kernel(), (*HIDDEN, *arguments))
    given = arguments if launch is None else launch.arguments[len(HIDDEN) :]
    body(*(a.data_ptr() if hasattr(a, "data_ptr") else a for a in given))
    if launch is not None:
        guarded.leave(launch)
    return launch


@pytest.fixture(autouse=True)
def no_graphs(monkeypatch):
    """Nothing can be asked of a device that is not there."""
    monkeypatch.setattr(guards, "_is_capturing", lambda: False)


@pytest.fixture
def guarded():
    made = Guards(HostMappings())
    made.begin([])
    return made


# ---------------------------------------------------------------- where things lie


@pytest.mark.parametrize("length", [1, 15, 16, 16396, GRANULE - 1, GRANULE, 3 * GRANULE + 5])
@pytest.mark.parametrize("offset", [0, 4, 12])
@pytest.mark.parametrize("at_end", [True, False])
def test_memory_lies_at_one_end_of_whole_granules_and_keeps_its_alignment(length, offset, at_end):
    span = Span(4096 + offset, length, ("x",), 4, True)
    mapped = granules(span) * GRANULE
    begin = start(span, mapped, at_end)
    assert begin >= 0 and begin + length <= mapped and begin % 16 == offset
    assert (mapped - begin - length if at_end else begin) < 16


def test_overlapping_memory_is_one_run_and_neighbours_are_two():
    x, y = Span(512, 100, ("x",), 4, True), Span(580, 100, ("y",), 2, True)
    assert merged([y, x]) == [Span(512, 168, ("x", "y"), 2, True)]
    assert merged([x, Span(612, 4, ("z",), 4, True)]) == [x, Span(612, 4, ("z",), 4, True)]
    assert merged([x, x._replace(names=("again",))]) == [x._replace(names=("again", "x"))]


def test_what_lies_beside_tensors_is_a_large_number_then_nan_then_a_small_one():
    def read(kind, item, floating, form):
        return struct.unpack_from(form, poison(kind, item, floating).to_bytes(8, "little", signed=True))[0]

    for item, form in ((2, "e"), (4, "f"), (8, "d")):
        assert 1e4 < read("large", item, True, form) < float("inf")
        assert read("nan", item, True, form) != read("nan", item, True, form)
        assert read("small", item, True, form) == 3
    for item, form in ((1, "b"), (2, "h"), (4, "i"), (8, "q")):
        assert [read(kind, item, False, form) for kind in guards.KINDS][1:] == [-1, 3]
        assert read("large", item, False, form) > 100


# ---------------------------------------------------------------- launches


def test_a_launch_reads_and_writes_its_tensors(guarded):
    x, y, n = torch.arange(5.0), torch.zeros(5), 5

    def add(at, out, n, block):
        for i in range(n):
            floats(out, n)[i] = floats(at, n)[i] + 1
        assert at != x.data_ptr()

    launched(guarded, add, x, y, n, 64)
    assert y.tolist() == [1, 2, 3, 4, 5] and x.tolist() == [0, 1, 2, 3, 4]
    assert guarded.end() == [] and guarded.take_finding() is None


@pytest.mark.parametrize("side", ["end", "start"])
def test_calls_on_the_same_shapes_take_turns_in_the_guarded_end(side):
    made, x = Guards(HostMappings()), torch.zeros(7)
    for _ in range(2 if side == "start" else 1):
        made.begin([x])
    launch = made.enter(kernel(names=("x",)), (*HIDDEN, x))
    lies = launch.arguments[-1].data_ptr() - launch.parts[0].block.address
    assert lies == (0 if side == "start" else GRANULE - 32)  # 28 bytes and what alignment leaves
    made.leave(launch)


def test_calls_on_other_shapes_begin_with_the_end():
    made = Guards(HostMappings())
    for shape in ((7,), (8,)):
        made.begin([torch.zeros(shape)])
        assert made.enter(kernel(names=("x",)), (*HIDDEN, torch.zeros(7))).at_end


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("turns", "index"), [(1, 7), (2, -1)], ids=["behind the end", "before the start"])
def test_an_access_beyond_the_guarded_end_stops_the_process(turns, index):
    made, x = Guards(HostMappings()), torch.zeros(7)
    for _ in range(turns):
        made.begin([x])
    launch = made.enter(kernel(names=("x",)), (*HIDDEN, x[:]))
    address = launch.arguments[-1].data_ptr() + 4 * index + (4 if index > 0 else 0)
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        ctypes.string_at(address, 1)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_views_share_their_storage_and_keep_their_place(guarded):
    whole = torch.arange(10.0)

    def shift(source, target):
        assert target - source == 12
        floats(target, 1)[0] = floats(source, 1)[0]

    launched(guarded, shift, whole[2:], whole[5:], launcher=kernel(names=("x", "y")))
    assert whole[5] == 2


def test_memory_of_two_storages_stays_one(guarded):
    whole = torch.arange(10.0)
    part = torch.frombuffer(whole.numpy(), dtype=torch.float32, count=5, offset=8)

    def move(source, target):
        floats(target, 5)[0] = 9.0
        assert floats(source, 10)[2] == 9.0

    launch = launched(guarded, move, whole, part, launcher=kernel(names=("x", "y")))
    assert len(launch.parts) == 1 and whole[2] == 9


def test_a_descriptor_points_into_the_block(guarded):
    base = torch.arange(8.0)
    descriptor = types.SimpleNamespace(base=base, shape=[8], strides=[1], block_shape=[4])
    launch = guarded.enter(kernel(names=("x",)), (*HIDDEN, descriptor))
    moved = launch.arguments[-1]
    assert moved is not descriptor and moved.shape == [8] and descriptor.base is base
    assert floats(moved.base.data_ptr(), 8)[7] == 7
    guarded.leave(launch)


def test_tensors_in_tuples_are_guarded(guarded):
    x = torch.arange(4.0)

    def write(pair):
        floats(pair[0].data_ptr(), 1)[0] = 5

    launch = launched(guarded, write, (x, 3), launcher=kernel(names=("pair",)))
    assert launch.parts[0].span.names == ("pair[0]",) and x[0] == 5


def test_what_a_kernel_writes_by_another_way_stays(guarded):
    x = torch.zeros(8)

    def both(given, table):
        floats(given, 8)[1] = 1
        floats(x.data_ptr(), 8)[6] = 6

    launched(guarded, both, x, 0, launcher=kernel(names=("x", "table")))
    assert x.tolist() == [0, 1, 0, 0, 0, 0, 6, 0]


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.int64, torch.complex128])
def test_odd_tensors_come_back(guarded, dtype):
    x = torch.zeros(3, dtype=dtype)

    def write(at):
        ctypes.memset(at + 2 * x.element_size(), 1, x.element_size())

    launched(guarded, write, x, launcher=kernel(names=("x",)))
    assert x[:2].tolist() == [0, 0] and x[2] != 0


@pytest.mark.parametrize(
    ("turns", "at", "told"),
    [(1, 7, "up to 4 bytes beyond the end of x (28 bytes)"), (1, -2, "up to 8 bytes before the start of x (28 bytes)"),
     (2, 9, "up to 12 bytes beyond the end of x (28 bytes)")],
)  # fmt: skip
def test_a_write_beside_a_tensor_is_found(turns, at, told):
    made, x = Guards(HostMappings()), torch.zeros(7)
    for _ in range(turns):
        made.begin([x])

    def write(address):
        floats(address + 4 * at, 1)[0] = 1.5
        floats(address, 1)[0] = 2.0

    with pytest.raises(OutOfBounds, match=r"kernel `_add` writes ") as raised:
        launched(made, write, x, launcher=kernel(names=("x",)))
    assert told in str(raised.value) and made.take_finding() is raised.value
    assert raised.value.stack[-1].name and x[0] == 2  # where it was launched


@pytest.mark.parametrize(
    ("text", "last", "accused"),
    [("tt.descriptor_store", 7, False), ("tt.descriptor_store", 8, True), ("tt.store", 7, True), (None, 7, True)],
)  # fmt: skip
def test_a_store_that_the_device_clips_fills_the_last_unit_of_a_tensor(text, last, accused):
    """28 bytes end four before a multiple of 16."""
    made, x = Guards(HostMappings(), lambda function: text), torch.zeros(7)
    for _ in range(2):
        made.begin([x])  # so that memory follows

    def write(address):
        floats(address + 4 * last, 1)[0] = 1.5

    launcher = kernel(names=("x",))
    if accused:
        with pytest.raises(OutOfBounds):
            launched(made, write, x, launcher=launcher)
    else:
        launched(made, write, x, launcher=launcher)
        assert made.take_finding() is None


def test_an_illegal_access_names_kernel_side_and_tensors(guarded):
    mappings, x, y = guarded._mappings, torch.zeros(4099), torch.zeros(2)
    launch = guarded.enter(kernel(), (*HIDDEN, x, y, 4, 64))
    mappings.error = guards.ILLEGAL_ADDRESS
    with pytest.raises(OutOfBounds) as raised:
        guarded.leave(launch)
    assert str(raised.value).startswith("kernel `_add` accesses memory beyond the end of a tensor; ")
    assert "x (16396 bytes)" in str(raised.value) and "y (8 bytes)" in str(raised.value)
    assert guarded.take_finding() is raised.value


def test_an_illegal_access_of_nobodys_launch_is_found_and_another_error_is_not(guarded):
    guarded._mappings.error = 716  # a misaligned address
    assert guarded.take_finding() is None
    guarded._mappings.error = guards.ILLEGAL_ADDRESS
    found = guarded.take_finding()
    assert "illegal memory access" in str(found) and found.stack is None


def test_what_is_no_tensor_or_lies_elsewhere_is_named():
    mappings = HostMappings()
    mappings.device = "cuda"
    made = Guards(mappings)
    made.begin([])
    strange = types.SimpleNamespace(data_ptr=lambda: 0)
    assert made.enter(kernel(names=("x", "y")), (*HIDDEN, torch.zeros(2), strange)) is None
    assert made.end() == [
        "kernel `_add`: x, which lies in the host's memory",
        "kernel `_add`: y, which is no tensor",
    ]


def test_too_little_memory_is_named():
    made = Guards(HostMappings(free=1 << 20))
    made.begin([])
    assert made.enter(kernel(names=("x",)), (*HIDDEN, torch.zeros(2))) is None
    assert made.end() == ["kernel `_add`: not enough memory of the device is free"]


def test_only_untimed_calls_are_guarded(guarded):
    x = torch.zeros(2)
    with guarded.paused():
        assert guarded.enter(kernel(names=("x",)), (*HIDDEN, x)) is None
    assert guarded.enter(kernel(names=("x",)), (0, *HIDDEN[1:], x)) is None  # no program
    assert guarded.end() == []
    assert guarded.enter(kernel(names=("x",)), (*HIDDEN, x)) is None


def test_what_a_graph_records_is_named(guarded, monkeypatch):
    monkeypatch.setattr(guards, "_is_capturing", lambda: True)
    assert guarded.enter(kernel(names=("x",)), (*HIDDEN, torch.zeros(2))) is None
    assert guarded.end() == ["kernel `_add`: recorded in a CUDA graph"]


def test_blocks_are_kept_and_given_back(guarded):
    x, y = torch.zeros(7), torch.zeros(70)
    for _ in range(3):
        launched(guarded, lambda *_: None, x, y, launcher=kernel(names=("x", "y")))
    assert len(guarded._mappings.mapped) == 4
    guarded._pool.give_up()
    assert not guarded._mappings.mapped


def test_a_launch_that_fails_gives_its_blocks_back(guarded):
    launch = guarded.enter(kernel(names=("x",)), (*HIDDEN, torch.zeros(7)))
    guarded.abandon(launch)
    guarded._pool.give_up()
    assert not guarded._mappings.mapped


def test_free_memory_of_the_allocator_holds_other_bytes_in_each_call(monkeypatch):
    blocks = [
        {"size": 512, "state": "active_allocated"}, {"size": 1024, "state": "inactive"},
    ]  # fmt: skip
    segments = [
        {"address": 4096, "blocks": blocks, "segment_pool_id": (0, 0)},
        {"address": 65536, "blocks": blocks, "segment_pool_id": (1, 0)},
    ]
    monkeypatch.setattr(guards, "_snapshot", lambda _: {"segments": segments})
    mappings = HostMappings()
    made = Guards(mappings)
    for call in range(3):
        made.begin([])
        assert mappings.waited == call + 1, "a stream of the candidate's could be faster"
    assert mappings.filled == [(4608, 1024, 0x7B), (4608, 1024, 0xFF), (4608, 1024, 0x03)]


# ---------------------------------------------------------------- with Triton and a GPU


def test_what_copies_is_assembled_once_for_an_architecture(monkeypatch):
    monkeypatch.setattr(guards, "_images", {})
    guards.assemble("sm_90")
    assert guards._images["sm_90"].startswith(b"\x7fELF")
    monkeypatch.setattr(guards, "knobs", None)
    guards.assemble("sm_90")
    assert guards._images["sm_90"].startswith(b"\x7fELF")
    guards.assemble("sm_80")  # without an assembler the driver does it
    assert guards._images["sm_80"] == guards._PTX


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_guards_stop_what_they_should():
    script = pathlib.Path(__file__).parents[2] / "bench" / "guards.py"
    assert subprocess.run([sys.executable, str(script)], timeout=600).returncode == 0


def test_it_stands_where_triton_hands_over_the_arguments():
    """Nine arguments come before the kernel's own."""
    parameters = inspect.signature(CudaLauncher.__call__).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        parameters = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert len(parameters) - 1 == guards._HIDDEN  # without the launcher itself
