"""Calls under conditions that serving makes: on a GPU another stream than the default one and CUDA graphs, and tensors of more than 2^31
elements.

What is found is a claim, like everything of a runner's, and decides nothing.
"""

import contextlib
import ctypes

import torch
from torch.utils import _pytree

from kbx import graphs, tensors
from kbx.runner import arenas, guards, large

_WAIT = 100_000_000
"""Cycles of the device before the arguments are what they are: some 50 ms, in which a launch on another stream has read them."""
_POISON = 0xFF
_REHEARSALS = 2
"""Calls before the one that counts, in which kernels are compiled and tuned: neither can be done on a stream that is recorded."""


class Conditions:
    """Of one candidate's calls on ``device``."""

    def __init__(self, device):
        self._device, self._recorded, self._own = device, None, None

    def call(self, under, entry, args, kwargs, put):
        """Calls ``entry`` under a condition of ``messages.runner.Call``; what ``put`` makes of its result, or None where nothing has run."""
        return {"stream": self._on_stream, "capture": self._capture, "replay": self._replay}[under](
            entry, args, kwargs, put
        )

    def _on_stream(self, entry, args, kwargs, put):
        _rehearse(entry, args, kwargs)
        own = _copies((args, kwargs))
        _each(_poison, own)
        torch.cuda.synchronize(self._device)
        aside = torch.cuda.Stream(self._device)
        with torch.cuda.stream(aside):
            torch.cuda._sleep(_WAIT)
            _move((args, kwargs), own)
            result = entry(*own[0], **own[1])
            # Not the device: what was launched elsewhere has not been waited for by anybody who uses this stream.
            aside.synchronize()
            _move(own, (args, kwargs))
            aside.synchronize()
        return put(result)

    def _capture(self, entry, args, kwargs, put):
        del put
        _rehearse(entry, args, kwargs)
        self._own = _copies((args, kwargs))
        torch.cuda.synchronize(self._device)
        self._recorded = graphs.Recorder(self._device).record(entry, *self._own[0], **self._own[1])
        torch.cuda.synchronize(self._device)

    def _replay(self, entry, args, kwargs, put):
        del entry
        _move((args, kwargs), self._own)
        result = self._recorded()
        torch.cuda.synchronize(self._device)
        _move(self._own, (args, kwargs))
        torch.cuda.synchronize(self._device)
        return put(result)


def _rehearse(entry, args, kwargs):
    for _ in range(_REHEARSALS):
        own = _copies((args, kwargs))
        entry(*own[0], **own[1])
    torch.cuda.synchronize()


def _copies(arguments):
    """The arguments over memory of their own, strides and all."""
    return _pytree.tree_map(_copy, arguments)


def _copy(leaf):
    if not isinstance(leaf, torch.Tensor):
        return leaf
    if not leaf.numel():
        return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device=leaf.device)
    room = leaf.as_strided((tensors.span(leaf.shape, leaf.stride()),), (1,), leaf.storage_offset())
    return room.clone().as_strided(leaf.shape, leaf.stride())


def _poison(tensor):
    if tensor.numel() and tensor.is_contiguous():
        # Whole numbers may be indices, and those that are not there would stop the device.
        tensor.view(-1).view(torch.uint8).fill_(_POISON if tensor.is_floating_point() else 0)


def _each(do, arguments):
    for leaf in _pytree.tree_leaves(arguments):
        if isinstance(leaf, torch.Tensor):
            do(leaf)


def _move(source, target):
    """Copies the tensors of one set of arguments to another; a call may have left out which of them it changes."""
    pairs = zip(_pytree.tree_leaves(source), _pytree.tree_leaves(target), strict=True)
    for one, other in pairs:
        if isinstance(one, torch.Tensor):
            tensors.once(other).copy_(tensors.once(one))


class _Large:
    """Arguments of which some have their rows ``times`` times; ``rows``: how many there were. ``read`` gives a tensor of the result with its values."""

    def __init__(self, args, kwargs, rows, times, read=lambda tensor: tensor):
        self.args, self.kwargs, self._rows, self._times, self._read = args, kwargs, rows, times, read

    def last(self, result):
        """The last rows of a result that has as many as the arguments; any other as it is."""

        def rows(leaf):
            if not isinstance(leaf, torch.Tensor):
                return leaf
            whole = leaf.dim() and leaf.shape[0] == self._rows * self._times
            return self._read(leaf[-self._rows :] if whole else leaf)

        return _pytree.tree_map(rows, result)


@contextlib.contextmanager
def mapped_many_times(request, args, kwargs):
    """Gives the arguments, with the memory of those that are marked in the request mapped so often, one behind the other, that the one with
    the longest rows has 2^31 elements before its last rows. Raises MemoryError."""
    marked = _marked(request, args, kwargs)
    rows = marked[0].shape[0]
    times = large.repetitions(marked)
    with contextlib.ExitStack() as stack:
        mapped = [stack.enter_context(_repeated(tensor, times)) for tensor in marked]
        yield _Large(*_replaced(marked, mapped, (args, kwargs)), rows, times)


@contextlib.contextmanager
def repeated(request, args, kwargs, heap, launches):
    """The same where the executor runs kernels, by ``kbx.runner.large``."""
    marked = _marked(request, args, kwargs)
    with large.repeated(marked, heap, launches) as (longer, times):
        yield _Large(*_replaced(marked, longer, (args, kwargs)), marked[0].shape[0], times, large.final)


def _replaced(marked, others, arguments):
    """The arguments with others in the place of those that are marked."""
    instead = {id(tensor): other for tensor, other in zip(marked, others, strict=True)}
    return _pytree.tree_map(lambda leaf: instead.get(id(leaf), leaf), arguments)


def _marked(request, args, kwargs):
    """The argument tensors whose leaves say ``repeated``."""
    said = []
    for tree in [*request.args, *request.kwargs.values()]:
        tensors.decode(tree, lambda leaf: said.append(bool(leaf.get("repeated"))))
    given = [leaf for leaf in _pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    return [tensor for tensor, marked in zip(given, said, strict=True) if marked]


@contextlib.contextmanager
def _repeated(tensor, times):
    """A tensor of ``times`` as many rows, all in the memory of the first ones: a copy of ``tensor``, which takes whole granules."""
    driver, length = _Driver(), tensor.numel() * tensor.element_size()
    address = driver.map(length, times)
    try:
        flat = arenas.device_bytes(address, length * times, tensor.device).view(tensor.dtype)
        flat[: tensor.numel()].copy_(tensor.reshape(-1))
        yield flat.view(tensor.shape[0] * times, *tensor.shape[1:])
    finally:
        torch.cuda.synchronize()
        driver.unmap(address, length, times)


class _Driver:
    """Memory that is mapped many times, by the driver's functions in the current context."""

    def __init__(self):
        word, size, at = ctypes.c_ulonglong, ctypes.c_size_t, ctypes.POINTER
        library = ctypes.CDLL("libcuda.so.1")

        def function(name, *types):
            found = getattr(library, name)
            found.argtypes, found.restype = types, ctypes.c_int
            return found

        self._reserve = function("cuMemAddressReserve", at(word), size, size, word, word)
        self._create = function("cuMemCreate", at(word), size, at(guards._Properties), word)
        self._map = function("cuMemMap", word, size, size, word, word)
        self._set_access = function("cuMemSetAccess", word, size, at(guards._Access), size)
        self._unmap = function("cuMemUnmap", word, size)
        self._release = function("cuMemRelease", word)
        self._free = function("cuMemAddressFree", word, size)

    def map(self, length, times):
        """The address of ``times`` mappings of ``length`` bytes, a multiple of a granule, one behind the other."""
        base, handle = ctypes.c_ulonglong(), ctypes.c_ulonglong()
        location = guards._Location(guards._DEVICE, torch.cuda.current_device())
        if self._reserve(base, length * times, 0, 0, 0):
            raise MemoryError("no addresses")
        if self._create(handle, length, guards._Properties(1, 0, location, None), 0):
            self._free(base, length * times)
            raise MemoryError("no memory of the device")
        failed = any(self._map(base.value + k * length, length, 0, handle, 0) for k in range(times))
        self._release(handle)  # mappings keep their memory
        access = guards._Access(location, guards._READ_WRITE)
        if failed or self._set_access(base.value, length * times, access, 1):
            self.unmap(base.value, length, times)
            raise MemoryError("the driver does not map it")
        return base.value

    def unmap(self, address, length, times):
        """Gives back what ``map`` has mapped. The device must have nothing left to do with it."""
        for k in range(times):
            self._unmap(address + k * length, length)
        self._free(address, length * times)
