"""Tensors of more than 2^31 elements where the executor runs kernels: this process has their addresses alone.

They lie in a part of the heap that nothing here can touch. Kernels reach the memory behind it, of which only what they touch is there, see
``kbx.executor.large``. Operations of PyTorch would take minutes and gigabytes, and what programs that do not run have left out; so they raise
``TooLarge``, but for views, and empty tensors. What is found is a claim and decides nothing.
"""

import contextlib
import ctypes
import math

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from kbx import tensors
from kbx.executor.channel import MARKS, SPARSE
from kbx.runner import execution

_FROM = 64 << 20
"""Bytes of the smallest tensor of which there are addresses alone."""
_EMPTY = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"))
_LARGE = 1 << 31
"""Elements that an argument has more of."""
_MULTIPLE = 128
"""Of the times that rows are repeated: kernels that take blocks of rows are not asked for a rest."""

_used = range(0)
"""Addresses that tensors have been given."""


class TooLarge(MemoryError):
    """What a call does with large tensors cannot be done here."""


def holds(address):
    """Whether it is one of a large tensor's."""
    return address in _used


def repetitions(marked):
    """How often the rows of tensors are there at least, for 2^31 elements of the one with the longest before its last rows."""
    return -(-_LARGE // max(tensor.numel() for tensor in marked)) + 1


@contextlib.contextmanager
def repeated(marked, heap, launches):
    """Gives a tensor for each of ``marked`` with its rows so often, one behind the other, that the one with the longest rows has 2^31 elements
    before its last rows. Inside, new tensors of such a size have addresses in the ``heap``, which begins there; ``launches()`` is how many kernels
    the call has launched. Raises TooLarge."""
    global _used
    times = -(-repetitions(marked) // _MULTIPLE) * _MULTIPLE
    _used = range(heap + SPARSE, heap + SPARSE)
    large = [_tensor([t.shape[0] * times, *t.shape[1:]], None, t.dtype) for t in marked]
    pairs = zip(large, marked, strict=True)
    execution.repeat([(each.data_ptr(), each.untyped_storage().nbytes(), t.data_ptr()) for each, t in pairs])
    refusal = _Refusal(launches)
    with _Addresses(refusal), _Unread(refusal):
        yield large, times


def final(tensor):
    """A tensor of the result with the values that the kernels have left there. Raises gaps.Unsupported where they are not known to be final, and
    TooLarge."""
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        shape, stride, storage = tensor.shape, tensor.stride(), tensor.untyped_storage()
        size, count = tensor.element_size(), tensors.span(shape, stride)
        if count * size >= _FROM:
            raise TooLarge("a result of which more than the last rows would be compared")
        place = [storage.data_ptr(), storage.nbytes(), tensor.storage_offset() * size, count * size]
        flat = torch.frombuffer(execution.final(place), dtype=torch.uint8).view(tensor.dtype)
        return flat.as_strided(shape, stride)


def _tensor(shape, stride, dtype):
    """A tensor of which there are addresses alone; contiguous without ``stride``. As many before it are nobody's: an index that wraps leads there, and
    not to another tensor."""
    global _used
    count = math.prod(shape) if stride is None else tensors.span(shape, stride)
    length = count * dtype.itemsize
    room = -(-length // tensors.PAGE) * tensors.PAGE
    address = _used.stop + room
    end = address + room
    if end - _used.start > MARKS:
        raise TooLarge("more memory than there are addresses for")
    _used = range(_used.start, end)
    execution.addresses.append((address, length))
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        flat = torch.frombuffer((ctypes.c_byte * length).from_address(address), dtype=dtype)
        return flat.view(shape) if stride is None else flat.as_strided(shape, stride)


class _Refusal:
    """Raises TooLarge for what touches memory of large tensors, or reads any after a launch: programs that did not run have left something out."""

    def __init__(self, launches):
        self._launches = launches

    def judge(self, name, given):
        """``given``: the tensors that an operation of this name takes."""
        if any(holds(tensor.data_ptr()) for tensor in given):
            raise TooLarge(f"{name} of more than 2^31 elements")
        if given and self._launches():
            raise TooLarge(f"{name} after a launch of which some programs have run")


class _Addresses(TorchDispatchMode):
    """Gives large empty tensors addresses, and refuses other operations but for views."""

    def __init__(self, refusal):
        super().__init__()
        self._refusal = refusal

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        schema = function._schema
        name = schema.name.removeprefix("aten::")
        if any(each.name == "device" for each in schema.arguments[len(args) :]):
            form = function(*args, **{**kwargs, "device": "meta"})
            length = form.untyped_storage().nbytes()
            if length >= _FROM and name in _EMPTY:
                return _tensor(form.shape, form.stride(), form.dtype)
            if length >= _FROM:
                raise TooLarge(f"{name} makes {length} bytes")
        is_view = any(each.alias_info and not each.alias_info.is_write for each in schema.returns)
        if name not in _EMPTY and not is_view:
            leaves = _pytree.tree_leaves((args, kwargs))
            self._refusal.judge(name, [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)])
        return function(*args, **kwargs)


_READS = frozenset((torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__array__))
"""What reads memory without an operation."""


class _Unread(TorchFunctionMode):
    """Refuses the same of what reads without an operation."""

    def __init__(self, refusal):
        super().__init__()
        self._refusal = refusal

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in _READS:
            self._refusal.judge(function.__name__, args[:1])
        return function(*args, **kwargs or {})
