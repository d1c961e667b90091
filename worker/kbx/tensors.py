"""Tensors between processes: arenas of shared memory, and trees of values that point into them.

An *arena* is one flat run of bytes that oracle and runner both map: a sealed memfd on the CPU, a dedicated ``cudaMalloc``
segment opened by IPC handle on a GPU. The owner never keeps anything in an arena that the runner must not see.

A *value tree* is the JSON form of arguments and results. A tensor leaf names an arena offset, so the JVM passes trees on
without looking inside. Floats travel as ``float.hex()`` text: JSON has no infinities and must not round.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from kbx.messages import Tree
    from kbx.suite.sharing import Shared

ALIGN = 512
"""Offset alignment in bytes: what ``cudaMalloc`` gives a fresh tensor, so that no kernel sees a difference."""

PAGE = 2 << 20
"""The same for large tensors, which PyTorch's allocator gives segments of their own while there are few: a product of float32 on an H200 was
14 % slower where its matrix of 256 MiB began in the middle of a page, and 4 % where its vectors of 1 MiB did."""
LARGE = 1 << 20
"""Bytes from which that is so, as measured: PyTorch's allocator keeps what is above ``kSmallSize`` (``c10/core/AllocatorConfig.h``), 1 MiB,
apart from small tensors."""

ADDRESS = 16
"""Bytes to which the address of memory that is shared stays what it is: kernels are compiled for that."""

FILLERS = (0xFF, 0x7B, 0xFB)
"""Bytes of memory that nobody has written, by turns: NaN in every floating dtype, large and finite in each, and the same below zero. What
depends on them differs from call to call."""

DTYPES = {
    str(d).removeprefix("torch."): d
    for d in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2,
        torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bool, torch.complex64, torch.complex128,
    )
}  # fmt: skip


# As they are before a candidate is loaded.
_Tensor, _Size, _dtype, _device = torch.Tensor, torch.Size, torch.dtype, torch.device


class TreeError(ValueError):
    """A value tree that cannot be read: unknown kind, or a tensor that leaves its arena."""


def dtype_name(dtype: torch.dtype) -> str:
    """``torch.float32`` as ``"float32"``."""
    return str(dtype).removeprefix("torch.")


def broadcast(*shapes: Sequence[int]) -> torch.Size:
    """The shape that tensors of these shapes broadcast to; raises RuntimeError where they do not. ``torch.broadcast_shapes`` would
    load a second's worth of symbolic mathematics first, in every process that asks."""
    together = []
    for sizes in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            raise RuntimeError(f"shapes {', '.join(map(str, map(tuple, shapes)))} do not broadcast")
        together.append(others.pop() if others else 1)
    return torch.Size(reversed(together))


def span(shape: Sequence[int], stride: Sequence[int]) -> int:
    """Elements of storage that a strided tensor touches, from its first to its last."""
    return 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))


def has_gaps(shape: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether elements of storage lie between those of a strided tensor."""
    sizes = [n for n, s in zip(shape, stride, strict=True) if s != 0]
    return math.prod(sizes) < span(shape, stride)


def fill_gaps(flat: torch.Tensor, shape: Sequence[int], stride: Sequence[int], filler: int) -> None:
    """Fills what lies between the elements of a strided tensor with a byte; ``flat`` is its storage, ``span`` elements."""
    kept = [(n, s) for n, s in zip(shape, stride, strict=True) if s != 0]
    gaps = torch.ones(len(flat), dtype=torch.bool, device=flat.device)
    gaps.as_strided([n for n, _ in kept], [s for _, s in kept]).fill_(False)
    flat.view(torch.uint8).view(len(flat), -1).masked_fill_(gaps[:, None], filler)


def once(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without what an expanded dimension repeats."""
    sizes = [1 if step == 0 else n for n, step in zip(tensor.shape, tensor.stride(), strict=True)]
    return tensor.as_strided(sizes, tensor.stride())


def alignment(nbytes: int) -> int:
    """Where a tensor of so many bytes may begin."""
    return PAGE if nbytes >= LARGE else ALIGN


class Arena:
    """One shared segment. ``typed(offset, count, dtype)`` must return a 1-d tensor with a storage of its own.

    Subclasses give ``name``, ``capacity`` (bytes) and ``typed``.
    """

    private = False
    """Whether no other process can write to it."""

    device: torch.device

    filler = FILLERS[0]
    """What lies between the elements of tensors that are lent here."""

    def __init__(self, name: str, capacity: int) -> None:
        self.name, self.capacity, self.used = name, capacity, 0

    def reset(self) -> None:
        """Forgets every allocation; the bytes stay until they are overwritten."""
        self.used = 0

    def reserve(self, nbytes: int, align: int = ALIGN) -> int:
        """Offset of a fresh, aligned region of ``nbytes``; raises MemoryError when the arena is full."""
        offset = -(-self.used // align) * align
        if offset + nbytes > self.capacity:
            raise MemoryError(f"arena {self.name!r}: {offset + nbytes} bytes are needed, it has {self.capacity}")
        self.used = offset + nbytes
        return offset

    def typed(self, offset: int, count: int, dtype: torch.dtype) -> torch.Tensor:
        raise NotImplementedError

    def put(self, tensor: torch.Tensor) -> Tree:
        """Copies a tensor with its strides into a fresh region; returns the leaf that describes it."""
        shape, stride = list(tensor.shape), list(tensor.stride())
        count = span(shape, stride)
        nbytes = max(1, count * tensor.element_size())
        offset = self.reserve(nbytes, alignment(nbytes))
        leaf = {"t": "tensor", "arena": self.name, "offset": offset, "shape": shape, "stride": stride,
                "dtype": dtype_name(tensor.dtype)}  # fmt: skip
        if count:
            source = torch.as_strided(tensor, (count,), (1,), tensor.storage_offset())
            self.typed(offset, count, tensor.dtype).copy_(source)
        return leaf

    def put_shared(self, memory: Shared) -> list[Tree]:
        """Copies tensors that share memory into one fresh region, around their elements ``filler``; returns the leaf of each, of which
        ``base`` says where the region begins and how many bytes it has."""
        shift = memory.first % ADDRESS
        base = self.reserve(memory.nbytes + shift, alignment(memory.nbytes)) + shift
        self.typed(base, memory.nbytes, torch.uint8).fill_(self.filler)
        leaves: list[Tree] = []
        for tensor in memory.members:
            shape, stride = list(tensor.shape), list(tensor.stride())
            leaf = {"t": "tensor", "arena": self.name, "offset": base + memory.place(tensor), "shape": shape, "stride": stride,
                    "dtype": dtype_name(tensor.dtype), "base": [base, memory.nbytes]}  # fmt: skip
            once(self.view(leaf)).copy_(once(tensor))
            leaves.append(leaf)
        return leaves

    def kept(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor of this arena where nobody else can change it: itself, or a copy."""
        return tensor if self.private else tensor.clone()

    def view(self, leaf: Tree, regions: dict[int, torch.Tensor] | None = None) -> torch.Tensor:
        """The tensor that a leaf describes, as a view of this arena; raises TreeError if it does not fit. ``regions`` keeps those that several
        leaves share, so that these have one storage."""
        try:
            dtype, shape, stride = DTYPES[leaf["dtype"]], list(leaf["shape"]), list(leaf["stride"])
            offset = int(leaf["offset"])
            bad = any(type(n) is not int or n < 0 for n in (*shape, *stride)) or len(shape) != len(stride)
        except (KeyError, TypeError, ValueError) as error:
            raise TreeError(f"unreadable tensor: {error!r}") from error
        count = 0 if bad else span(shape, stride)
        aligned = ALIGN if "base" not in leaf else dtype.itemsize
        if bad or offset < 0 or offset % aligned or offset + count * dtype.itemsize > self.capacity:
            raise TreeError(f"tensor outside arena {self.name!r}")
        if "base" in leaf and regions is not None:
            base, nbytes = leaf["base"]
            region = regions.setdefault(base, self.typed(base, nbytes, torch.uint8)).view(dtype)
            return region.as_strided(shape, stride, (offset - base) // dtype.itemsize)
        return self.typed(offset, max(1, count), dtype).as_strided(shape, stride)


def encode(value: Any, put: Callable[[torch.Tensor], Tree]) -> Tree:
    """A Python value as a tree; ``put(tensor)`` places a tensor and returns its leaf.

    What no task may pass or return (an object of an unknown class) becomes an ``opaque`` leaf with its type's name. Containers of
    a candidate's own classes are read as what they are underneath: none of its code runs.
    """
    of = type(value)
    if issubclass(of, _Tensor):
        return put(value)
    if value is None:
        return {"t": "none"}
    for kind, name in ((bool, "bool"), (int, "int"), (str, "str")):
        if of is kind:
            return {"t": name, "v": value}
    if of is float:
        return {"t": "float", "v": value.hex()}
    if of is complex:
        return {"t": "complex", "v": [value.real.hex(), value.imag.hex()]}
    if of is _dtype:
        return {"t": "dtype", "v": dtype_name(value)}
    if of is _device:
        # A task names only the device under test; without a GPU the runner plays one.
        return {"t": "device", "v": "cuda"}
    if of is _Size:
        return {"t": "size", "v": list(tuple.__iter__(value))}
    if issubclass(of, list):
        return {"t": "list", "v": [encode(v, put) for v in list.__iter__(value)]}
    if issubclass(of, tuple):
        return {"t": "tuple", "v": [encode(v, put) for v in tuple.__iter__(value)]}
    if issubclass(of, dict) and all(type(k) is str for k in dict.keys(value)):
        return {"t": "dict", "v": {k: encode(v, put) for k, v in dict.items(value)}}
    return {"t": "opaque", "v": f"{of.__module__}.{of.__qualname__}"}


def no_tensors(tensor: torch.Tensor) -> Tree:
    """What places the tensors of a value that has none."""
    raise TypeError("a tensor where none can be")


def decode(tree: Tree, view: Callable[[Tree], torch.Tensor]) -> Any:
    """The value of a tree; ``view(leaf)`` gives the tensor of a tensor leaf. Raises TreeError."""
    try:
        kind: str = tree["t"]
        v: Any = tree.get("v")
        match kind:
            case "tensor":
                return view(tree)
            case "none":
                return None
            case "bool" | "int" | "str":
                return v
            case "float":
                return float.fromhex(v)
            case "complex":
                return complex(float.fromhex(v[0]), float.fromhex(v[1]))
            case "dtype":
                return DTYPES[v]
            case "device":
                return torch.device(v)
            case "size":
                return torch.Size(v)
            case "list":
                return [decode(x, view) for x in v]
            case "tuple":
                return tuple(decode(x, view) for x in v)
            case "dict":
                return {k: decode(x, view) for k, x in v.items()}
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise TreeError(f"unreadable value: {error!r}") from error
    raise TreeError(f"unknown kind of value {kind!r}")
