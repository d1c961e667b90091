"""Launches of Triton kernels on a GPU with every tensor beside memory that does not exist.

In an untimed call, each run of memory that a launch is given is copied into a mapping of its own, a *block*, with nothing mapped on
either side. In one call of a case the memory ends where the block ends, in the next one it begins where the block begins: a kernel
that reads or writes beyond it there is stopped by the device. The rest of the block holds bytes that differ from call to call, so that
what is read there shows in the results. After the launch the block is compared with its *image*, a copy from before: what was written
to the rest is found, and what was written to the tensor is copied back.

Only this process sees the blocks, so nothing else has to know of them. What is found here is a claim, like everything of a runner's.
"""

import contextlib
import copy
import ctypes
import functools
import itertools
import struct
import subprocess
import tempfile
import threading
import time
import traceback
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import torch
from torch.utils._python_dispatch import _disable_current_modes
from triton import knobs

from kbx.runner import arenas, explanation, native

GRANULE = 2 << 20
"""Bytes that a driver maps at least."""
_GAP = 256 << 20
"""Bytes without memory on either side of a block: a row that is left out of the bounds check is farther away than a granule."""
_ALIGNMENT = 16
"""Bytes to which addresses stay what they are: Triton compiles for it."""
_KEPT_PART = 64
"""Of the device's memory, so many parts to one that waits in blocks for the next launch."""
_MOST_SECONDS = 5.0
"""In a call, for everything around its launches: after that, launches are made without."""
_SPARE = 1 << 30
"""Bytes of the device's memory that blocks leave free."""
_THREADS, _MOST_BLOCKS = 256, 2048
"""Of a launch that copies."""
_MOST_PARTS = 256
"""Tensors of a launch."""
_MOST_FILLED = 4 << 30
"""Bytes of the allocator's free memory that are filled before a call."""
_MOST_TOLD = 4
_FUNCTION, _HIDDEN = 4, 9
"""Of a launcher's arguments those before the kernel's: the grid, the stream, the function, and so on. And which of them is the loaded kernel."""
_STORED_BY_DESCRIPTOR, _CLIPPED = ("tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce"), 16
"""Stores that the device clips at a tensor's end: rounded up to so many bytes, as seen on an H200, which no allocator's tensors share."""
ILLEGAL_ADDRESS = 700
"""CUDA_ERROR_ILLEGAL_ADDRESS. A misaligned address is another error."""

_BYTES = {"large": 0x7B, "nan": 0xFF, "small": 0x03}
"""What the rest of a block holds, in turn. 0x7B7B is a large finite number in each format of floats, 0xFF…FF is NaN and -1."""
KINDS = tuple(_BYTES)

ADVICE = "`--device cpu` names the kernel's line and the tensor"

_PTX = (Path(__file__).parent.parent / "native" / "guards.ptx").read_bytes()  # a runner does not see the file

# Taken before any candidate is loaded.
_Tensor, _DisableTorchFunction = torch.Tensor, torch._C.DisableTorchFunction
_wait_for_device = getattr(torch._C, "_cuda_synchronize", None)  # absent from builds without CUDA
_is_capturing = getattr(torch._C, "_cuda_isCurrentStreamCapturing", lambda: False)
_snapshot = getattr(torch._C, "_cuda_memorySnapshot", lambda _: {"segments": []})


class OutOfBounds(RuntimeError):
    """A kernel has accessed memory outside of every tensor. ``stack``: ``FrameSummary`` of the frames that launched it, outermost
    first; None if that is not known."""

    def __init__(self, text, stack=None):
        super().__init__(text)
        self.stack = stack


# ---------------------------------------------------------------- where things lie


class Span(NamedTuple):
    """``length`` bytes at ``address`` that a launch is given, by the arguments ``names``; ``item``: bytes of an element."""

    address: int
    length: int
    names: tuple
    item: int
    floating: bool


def merged(spans):
    """Spans that overlap, as one each; in the order of their addresses."""
    found = []
    for span in sorted(spans):
        last = found[-1] if found else None
        if last is None or span.address >= last.address + last.length:
            found.append(span)
            continue
        end = max(last.address + last.length, span.address + span.length)
        names = last.names + tuple(n for n in span.names if n not in last.names)
        item = min(last.item, span.item)
        found[-1] = Span(last.address, end - last.address, names, item, last.floating)
    return found


def granules(span):
    """How many granules hold a span wherever its alignment puts it."""
    return -(-(span.length + _ALIGNMENT - 1) // GRANULE)


def start(span, mapped, at_end):
    """Where in a block of ``mapped`` bytes a span begins: as near to the end, or to the beginning, as its alignment allows."""
    if at_end:
        return mapped - span.length - (mapped - span.length - span.address) % _ALIGNMENT
    return span.address % _ALIGNMENT


def poison(kind, item, floating):
    """Eight bytes as a signed number: what elements of ``item`` bytes outside of tensors hold in a call of this ``kind``."""
    if kind != "small":
        return int.from_bytes(bytes([_BYTES[kind]]) * 8, "little", signed=True)
    if floating and item in (2, 4, 8):
        element = struct.pack({2: "<e", 4: "<f", 8: "<d"}[item], 3.0)
    else:
        element = _BYTES[kind].to_bytes(item if item in (1, 2, 4, 8) else 1, "little")
    return int.from_bytes(element * (8 // len(element)), "little", signed=True)


# ---------------------------------------------------------------- the driver


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Properties(ctypes.Structure):  # CUmemAllocationProp
    _fields_ = (
        ("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", _Location), ("security", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )  # fmt: skip


class _Access(ctypes.Structure):  # CUmemAccessDesc
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


_DEVICE, _READ_WRITE = 1, 3  # CU_MEM_LOCATION_TYPE_DEVICE, and CU_MEM_ALLOCATION_TYPE_PINNED is 1 as well
_MAPPED = 2  # CU_MEMHOSTALLOC_DEVICEMAP


class Mappings:
    """Memory of GPU ``index``, which is of ``arch``, and copying there, by the driver's own functions in the current context.

    Raises OSError or RuntimeError where there is no driver, or it lacks a function.
    """

    device = "cuda"

    def __init__(self, index=0, arch=None):
        self._index, word, size = index, ctypes.c_ulonglong, ctypes.c_size_t
        library, at = ctypes.CDLL("libcuda.so.1"), ctypes.POINTER

        def function(name, *types):
            found = getattr(library, name)
            found.argtypes, found.restype = types, ctypes.c_int
            return found

        self._reserve = function("cuMemAddressReserve", at(word), size, size, word, word)
        self._create = function("cuMemCreate", at(word), size, at(_Properties), word)
        self._map = function("cuMemMap", word, size, size, word, word)
        self._set_access = function("cuMemSetAccess", word, size, at(_Access), size)
        self._unmap = function("cuMemUnmap", word, size)
        self._release = function("cuMemRelease", word)
        self._free = function("cuMemAddressFree", word, size)
        self._info = function("cuMemGetInfo_v2", at(size), at(size))
        self._synchronise = function("cuCtxSynchronize")
        self._set = function("cuMemsetD32_v2", word, ctypes.c_uint, size)
        sizes = [ctypes.c_uint] * 7
        self._launch = function(
            "cuLaunchKernel", ctypes.c_void_p, *sizes, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
        )
        load = function("cuModuleLoadData", at(ctypes.c_void_p), ctypes.c_char_p)
        find = function("cuModuleGetFunction", at(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_char_p)
        pin = function("cuMemHostAlloc", at(ctypes.c_void_p), size, ctypes.c_uint)
        module, self._lay_out, self._take_back, found = (ctypes.c_void_p() for _ in range(4))
        if (
            (load(module, _images.get(arch, _PTX)) and load(module, _PTX))
            or find(self._lay_out, module, b"lay_out")
            or find(self._take_back, module, b"take_back")
            or pin(found, 8 * _MOST_PARTS, _MAPPED)
        ):
            raise RuntimeError("the driver does not load what copies to guarded memory")
        self._found = (ctypes.c_uint * (2 * _MOST_PARTS)).from_address(found.value)
        self._found_at = found.value

    def map(self, length):
        """Maps memory, a multiple of a granule, with nothing on either side; its address. Raises MemoryError."""
        base, handle = ctypes.c_ulonglong(), ctypes.c_ulonglong()
        location = _Location(_DEVICE, self._index)
        if self._reserve(base, length + 2 * _GAP, 0, 0, 0):
            raise MemoryError("no addresses")
        address = base.value + _GAP
        try:
            if self._create(handle, length, _Properties(1, 0, location, None), 0):
                raise MemoryError("no memory of the device")
            failed = self._map(address, length, 0, handle, 0)
            self._release(handle)  # a mapping keeps its memory
            if failed or self._set_access(address, length, _Access(location, _READ_WRITE), 1):
                raise MemoryError("the driver does not map it")
        except MemoryError:
            self._unmap(address, length)
            self._free(base, length + 2 * _GAP)
            raise
        return address

    def unmap(self, address, length):
        """Gives back what ``map`` has mapped. The device must have nothing left to do with it."""
        self._unmap(address, length)
        self._free(address - _GAP, length + 2 * _GAP)

    def tensor(self, address, length):
        """The memory as a tensor of bytes."""
        return arenas.device_bytes(address, length, torch.device("cuda", self._index))

    def memory(self):
        """Bytes of the device's memory that nobody has, and all of it."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        return (0, 0) if self._info(free, total) else (free.value, total.value)

    def synchronise(self):
        """Waits for the device; CUDA's number of the error, 0 for none."""
        return self._synchronise()

    def fill(self, address, length, byte):
        """Sets memory to one byte, by fours."""
        self._set(address, byte * 0x01010101, length // 4)

    def lay_out(self, part, word, stream):
        """Puts the part's span into its block and image, each filled with the eight bytes of ``word`` around it."""
        self._run(self._lay_out, part, word, stream)

    def take_back(self, parts, stream):
        """Puts what is other in the parts' blocks than in their images where the candidate has it, and waits. For each part, whether
        that is so of what lies before the span, and behind it."""
        ctypes.memset(self._found_at, 0, 8 * len(parts))
        for index, part in enumerate(parts):
            self._run(self._take_back, part, self._found_at + 8 * index, stream)
        if error := self._synchronise():
            raise RuntimeError(f"what a launch has written could not be copied back: CUDA's error {error}")
        found = self._found[: 2 * len(parts)]
        return list(zip(found[::2], found[1::2], strict=True))

    def _run(self, function, part, last, stream):
        given = (
            part.block.address,
            part.image.address,
            part.span.address,
            part.start,
            part.end,
            part.block.length,
            last,
        )
        values = (ctypes.c_ulonglong * len(given))(*given)
        first, step = ctypes.addressof(values), ctypes.sizeof(ctypes.c_ulonglong)
        pointers = (ctypes.c_void_p * len(given))(*range(first, first + step * len(given), step))
        blocks = min(_MOST_BLOCKS, part.block.length // (16 * _THREADS))
        if native.library is not None:
            native.library.expect_launch(function.value)
        error = self._launch(function, blocks, 1, 1, _THREADS, 1, 1, 0, stream, pointers, None)
        if native.library is not None:
            native.library.expect_launch(0)
        if error:
            raise RuntimeError(f"CUDA's error {error}")


_images = {}
"""By architecture, what copies there, assembled."""


def assemble(arch):
    """Has Triton's assembler make what copies on ``arch`` (``sm_90``), once, for processes that are forked from this one. Without
    that the driver does it in each of them, which takes 40 ms."""
    if arch in _images:
        return
    _images[arch] = _PTX
    with contextlib.suppress(Exception), tempfile.TemporaryDirectory(prefix="kbx-guards-") as folder:
        text, image = Path(folder, "guards.ptx"), Path(folder, "guards.cubin")
        text.write_bytes(_PTX)
        tools = knobs.nvidia
        tool = tools.ptxas_blackwell if int(arch.removeprefix("sm_")) >= 100 else tools.ptxas
        subprocess.run([tool.path, f"-arch={arch}", text, "-o", image], check=True, capture_output=True, timeout=60)
        _images[arch] = image.read_bytes()


@functools.cache
def prepared(arch=None):
    """The process's ``Mappings``, for a device of ``arch``; making them takes some milliseconds. There must be a context."""
    return Mappings(arch=arch)


class _Block:
    """Mapped memory."""

    def __init__(self, mappings, number):
        self.granules, self.length = number, number * GRANULE
        self.address = mappings.map(self.length)


class _Pool:
    """Blocks that are kept for the next launch, by their size."""

    def __init__(self, mappings):
        self._mappings, self._kept, self._bytes, self._lock = mappings, defaultdict(list), 0, threading.Lock()
        self._most = mappings.memory()[1] // _KEPT_PART

    def take(self, number):
        """A block of so many granules, whatever it holds. Raises MemoryError."""
        with self._lock:
            if kept := self._kept[number]:
                self._bytes -= number * GRANULE
                return kept.pop()
        if number * GRANULE + _SPARE > self._mappings.memory()[0]:
            self.give_up()
            if number * GRANULE + _SPARE > self._mappings.memory()[0]:
                raise MemoryError("not enough memory of the device is free")
        return _Block(self._mappings, number)

    def put_back(self, blocks):
        """Blocks that the device has nothing left to do with."""
        for block in blocks:
            with self._lock:
                keep = self._bytes + block.length <= self._most
                if keep:
                    self._bytes += block.length
                    self._kept[block.granules].append(block)
            if not keep:
                self._mappings.unmap(block.address, block.length)

    def give_up(self):
        """Unmaps all that is kept."""
        with self._lock:
            blocks, self._bytes = list(itertools.chain(*self._kept.values())), 0
            self._kept.clear()
        for block in blocks:
            self._mappings.unmap(block.address, block.length)


# ---------------------------------------------------------------- launches


class _Pointer:
    """Stands where a tensor stood, for what asks it for nothing but its address."""

    def __init__(self, address):
        self._address = address

    def data_ptr(self):
        return self._address


class _Part(NamedTuple):
    """A span in its block, and the block's image."""

    span: Span
    start: int
    block: _Block
    image: _Block

    @property
    def end(self):
        return self.start + self.span.length


class _Launch(NamedTuple):
    """A launch under way: the launcher's ``arguments`` with addresses in blocks, and as they were ``given``."""

    launcher: object
    given: tuple
    arguments: tuple
    parts: list
    at_end: bool


class Guards:
    """The guarded launches of one process. ``mappings``: a ``Mappings``, or what does the same without a GPU; ``text_of``: gives the Triton IR
    of a loaded kernel, or None.

    Between ``begin`` and ``end`` a launch that would be made with ``arguments`` is made with those of ``enter``, and ``leave``
    is called after it.
    """

    def __init__(self, mappings, text_of=lambda function: None):
        self._text_of = text_of
        self._mappings, self._pool, self._lock = mappings, _Pool(mappings), threading.Lock()
        self._turns, self._calls = Counter(), 0
        self._active, self._paused, self._at_end, self._kind = False, 0, True, KINDS[0]
        self._left_out, self._seconds, self._finding = {}, 0.0, None

    def begin(self, inputs):
        """An untimed call begins on these tensors. Calls on tensors of the same shapes take turns in what is guarded."""
        case = tuple((t.shape, t.stride(), t.dtype) for t in inputs)
        self._at_end = self._turns[case] % 2 == 0
        self._turns[case] += 1
        self._kind = KINDS[self._calls % len(KINDS)]
        self._calls += 1
        self._left_out, self._seconds, self._finding = {}, 0.0, None
        self._fill_free_memory()
        self._active = True

    def end(self):
        """The call is over: what of it was not guarded, in words."""
        self._active = False
        return list(self._left_out)[:_MOST_TOLD]

    @contextlib.contextmanager
    def paused(self):
        """While kernels are launched to be timed."""
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1

    def leave_out(self, what):
        """Notes what of this call is not guarded."""
        if self._active and not self._paused:
            self._left_out[what] = None

    def take_finding(self):
        """The OutOfBounds of the call begun last, also if the candidate has caught it; None for none, and once it was taken. An illegal
        access that no launch was stopped for, as of kernels that are not guarded, is one too: after it the device does nothing more for
        this process."""
        found, self._finding = self._finding, None
        if found is None and self._mappings.synchronise() == ILLEGAL_ADDRESS:
            return OutOfBounds(f"the device was stopped by an illegal memory access; {ADVICE}")
        return found

    # ------------------------------------------------------------ around a launch

    def enter(self, launcher, arguments):
        """The launch with its memory in blocks; None if it is to be made as it is. A fault of this must not become the candidate's."""
        if not self._active or self._paused or 0 in arguments[:3]:
            return None
        name = _name(launcher)
        if _is_capturing():
            return self.leave_out(f"kernel `{name}`: recorded in a CUDA graph")
        if self._seconds > _MOST_SECONDS:
            return self.leave_out(f"launches after the first {_MOST_SECONDS:.0f} s of guarding them")
        begun = time.perf_counter()
        try:
            with _DisableTorchFunction():
                return self._entered(launcher, arguments)
        except Exception as error:
            return self.leave_out(f"kernel `{name}`: {error}")
        finally:
            self._seconds += time.perf_counter() - begun

    def leave(self, launch):
        """The launch has been made. Raises OutOfBounds for what it has accessed, and what torch raises where the device has stopped for
        another reason."""
        code = self._mappings.synchronise()
        begun = time.perf_counter()
        try:
            self._left(launch, code)
        finally:
            self._seconds += time.perf_counter() - begun

    def _entered(self, launcher, arguments):
        given, spans = arguments[_HIDDEN:], []
        names = _names(launcher, len(given))
        for name, tensor in (found for pair in zip(names, given, strict=True) for found in _given(*pair)):
            if lack := self._lack(tensor):
                self.leave_out(f"kernel `{_name(launcher)}`: {name}, {lack}")
            elif (storage := tensor.untyped_storage()).nbytes():
                floating = tensor.is_floating_point() or tensor.is_complex()
                spans.append(Span(storage.data_ptr(), storage.nbytes(), (name,), tensor.element_size(), floating))
        spans = merged(spans)
        if len(spans) > _MOST_PARTS:
            raise RuntimeError(f"more than {_MOST_PARTS} tensors")
        if not spans:
            return None
        parts, blocks = [], []
        try:
            for span in spans:
                blocks += [self._pool.take(granules(span)) for _ in range(2)]
                begin = start(span, blocks[-1].length, self._at_end)
                parts.append(_Part(span, begin, *blocks[-2:]))
            for part in parts:
                word = poison(self._kind, part.span.item, part.span.floating)
                self._mappings.lay_out(part, word, arguments[3])
            places = [(p.span.address, p.span.length, p.block.address + p.start) for p in parts]
            moved = tuple(_moved(value, places) for value in given)
        except BaseException:
            self._mappings.synchronise()
            self._pool.put_back(blocks)
            raise
        return _Launch(launcher, arguments, (*arguments[:_HIDDEN], *moved), parts, self._at_end)

    def _lack(self, tensor):
        """Why a tensor cannot be guarded; None if it can."""
        if tensor is None:
            return "which is no tensor"
        if tensor.device.type != self._mappings.device:
            return "which lies in the host's memory"
        try:
            tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):
            return "which has no plain storage"
        return None

    def _left(self, launch, code):
        if code:
            if code == ILLEGAL_ADDRESS:
                self._accuse(
                    launch, f"accesses memory {_side(launch)} of a tensor; its tensors were {_all_told(launch)}"
                )
            if _wait_for_device is not None:
                _wait_for_device()
            raise RuntimeError(f"the device has stopped with CUDA's error {code}")
        with self._lock:
            found = self._mappings.take_back(launch.parts, launch.arguments[3])
        written = [
            (part, before, self._distance(part, before))
            for part, (before, behind) in zip(launch.parts, found, strict=True)
            if before or behind
        ]
        self._put_back(launch.parts)
        for part, before, distance in written:
            if before or distance > -part.end % _CLIPPED or not self._stores_by_descriptor(launch):
                side = "before the start" if before else "beyond the end"
                self._accuse(launch, f"writes up to {distance} bytes {side} of {_told(part.span)}")

    def _distance(self, part, before):
        """How many bytes before or behind its span a part was written."""
        begin, end = (0, part.start) if before else (part.end, part.block.length)
        with _DisableTorchFunction(), _disable_current_modes():
            now, then = (self._mappings.tensor(each.address + begin, end - begin) for each in (part.block, part.image))
            places = (now != then).nonzero()
            return end - begin - int(places.min()) if before else int(places.max()) + 1

    def _stores_by_descriptor(self, launch):
        text = self._text_of(launch.given[_FUNCTION])
        return text is not None and any(name in text for name in _STORED_BY_DESCRIPTOR)

    def abandon(self, launch):
        """The launch has failed before anything of it ran."""
        if self._mappings.synchronise() == 0:
            self._put_back(launch.parts)

    def _put_back(self, parts):
        self._pool.put_back([block for part in parts for block in (part.block, part.image)])

    def _accuse(self, launch, seen):
        """Raises OutOfBounds for a launch of which the device has ``seen`` so much; line and tensor are found without it, if they can be."""
        stack = traceback.extract_stack()
        text, types = self._text_of(launch.given[_FUNCTION]), getattr(launch.launcher, "kbx_types", None)
        why = None
        with contextlib.suppress(Exception):  # only words are lost
            if text and types:
                why = explanation.explained(text, types, launch.given[:3], launch.given[_HIDDEN:])
        kernel = f"kernel `{_name(launch.launcher)}`"
        error = OutOfBounds(f"{kernel}, {why}" if why else f"{kernel} {seen}; {ADVICE}", stack)
        self._finding = self._finding or error
        raise error

    # ------------------------------------------------------------ the candidate's own memory

    def _fill_free_memory(self):
        """Fills what the allocator has free, which is what the candidate's own allocations find."""
        left, segments = _MOST_FILLED, []
        with contextlib.suppress(Exception):  # it is told in another way by other versions of torch
            segments = _segments()
        for segment in segments:
            address = segment["address"]
            for block in segment["blocks"]:
                if block["state"] == "inactive" and block["size"] <= left:
                    self._mappings.fill(block.get("address", address), block["size"], _BYTES[self._kind])
                    left -= block["size"]
                address += block["size"]
        if left < _MOST_FILLED:
            self._mappings.synchronise()  # a candidate's own streams do not wait for the one that fills


def _segments():
    """The allocator's segments but for those of recorded graphs, which find there what they have left."""
    try:
        found = _snapshot((0, 0, False))
    except TypeError:  # versions that take a pool, or nothing
        found = _snapshot(None)
    return [s for s in found["segments"] if tuple(s.get("segment_pool_id", (0, 0))) == (0, 0)]


def _name(launcher):
    return str(getattr(getattr(launcher, "kbx_kernel", None), "__name__", "of an unknown name"))


def _names(launcher, count):
    """Names of a kernel's arguments, or their numbers."""
    names = list(getattr(getattr(launcher, "kbx_kernel", None), "arg_names", None) or ())
    return names if len(names) == count else [f"argument {i}" for i in range(count)]


def _given(name, value):
    """``(name, tensor)`` of all that leads to memory in an argument; None for a tensor if it is not known how."""
    if isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from _given(f"{name}[{index}]", item)
    elif isinstance(value, _Tensor):
        yield name, value
    elif isinstance(base := getattr(value, "base", None), _Tensor):  # a descriptor, or another dtype's view
        yield name, base
    elif hasattr(value, "data_ptr") or hasattr(value, "tma_desc_cpu_ptr"):
        yield name, None


def _moved(value, places):
    """An argument with each address in ``places``, ``(address, length, where it lies now)``, replaced."""
    if isinstance(value, (tuple, list)):
        items = [_moved(item, places) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    base = value if isinstance(value, _Tensor) else getattr(value, "base", None)
    if not isinstance(base, _Tensor):
        return value
    is_descriptor = hasattr(value, "block_shape")
    address = base.data_ptr() if is_descriptor else value.data_ptr()
    there = next((now + address - old for old, length, now in places if old <= address < old + length), None)
    if there is None:
        return value
    if not is_descriptor:
        return _Pointer(there)
    moved = copy.copy(value)
    object.__setattr__(moved, "base", _Pointer(there))
    return moved


def _side(launch):
    return "beyond the end" if launch.at_end else "before the start"


def _all_told(launch):
    return ", ".join(_told(part.span) for part in launch.parts)


def _told(span):
    return f"{' and '.join(span.names)} ({span.length} bytes)"
