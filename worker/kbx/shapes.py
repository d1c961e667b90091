"""Lets PyTorch run on shapes: what is large is not computed, and has no memory that anybody touches.

For compiling ahead of the device, where only which kernels are launched on what counts: a network of gigabytes is then
walked through in as many milliseconds as it has operations. Unlike PyTorch's fake tensors, which import for seconds, it needs
nothing that is not there already.
"""

import functools
import math
import mmap
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from kbx import tensors
from kbx.modes import PlainMode, implementation

SMALL = 1 << 16
"""Elements of a tensor up to which it is real: bounds, tables of indices, offsets of sequences."""
_CERTAINLY_SMALL = 1 << 20
"""Elements that a result may have at most for which PyTorch's rules are not asked first whether it is small."""
_AFFORDABLE = 1 << 24
"""Elements that an operation may read whose shapes depend on values."""
_MEMORY_BYTES = 1 << 37
"""The largest tensor: as much as a GPU holds, and pages that are never touched take nothing."""
_MAP_NORESERVE = 0x4000
"""``<sys/mman.h>``; Python's mmap has it since 3.11 only."""


@functools.cache
def warm() -> None:
    """Loads what PyTorch's rules for most operations need, once for all runners that are forked afterwards."""
    with Shapes():
        large = blank((2, SMALL), (SMALL, 1), torch.float32)
        torch.mm(large, large.t())
        large.mean(0)


class ValuesNeeded(Exception):
    """A shape or a number depends on values that are not there."""


class Shapes(PlainMode):
    """While it is entered, operations with a large tensor among their arguments or results give its shape and no values.

    What looks at values that are not there sees zeros, or with ``exact`` raises ``ValuesNeeded``.
    """

    def __init__(self, exact: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's
        self._exact = exact

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if (parts := _parts(function)) is not None:
            with self:
                return parts(*args, **kwargs)
        if _is_about_memory(function):
            return function(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            return self._run(function, args, kwargs)

    def _run(self, function: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        named = _named(function._schema, args, kwargs)
        given = _tensors_in((args, kwargs))
        unknown = any(map(self._is_unknown, given))
        if self._exact and unknown and torch.Tag.data_dependent_output in function.tags:
            raise ValuesNeeded(f"{function} without values")
        if function._schema.is_mutable and not unknown and not any(map(_is_blank, given)):
            return function(*args, **kwargs)
        if function._schema.is_mutable and all(result.alias_info for result in function._schema.returns):
            return _written(function._schema, named)
        if not given:
            return _made(function, named)
        if torch.Tag.pointwise in function.tags or function._schema.name.endswith("_like"):
            shape = tensors.broadcast(*(t.shape for t in given))
            if unknown or math.prod(shape) > SMALL:
                return _pointwise(function, args, kwargs, shape, named.get("memory_format"))
            return function(*args, **kwargs)
        return self._inferred(function, args, kwargs, given, unknown)

    def _is_unknown(self, tensor: torch.Tensor) -> bool:
        """Whether nothing is computed of its values; what is small and part of something large may be, from zeros."""
        return tensor.numel() > SMALL or (self._exact and _is_blank(tensor))

    def _inferred(
        self,
        function: torch._ops.OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        given: list[torch.Tensor],
        unknown: bool,
    ) -> Any:
        """By PyTorch's own rules for tensors without memory, of which some take seconds to be loaded."""
        if not unknown and _most_elements(args, kwargs) <= _CERTAINLY_SMALL:
            return function(*args, **kwargs)
        try:
            results = _on_meta(function, args, kwargs)
        except Exception:
            # It looks at values, or PyTorch does not know its shapes.
            if self._exact and any(map(_is_blank, given)):
                raise ValuesNeeded(f"{function} without values") from None
            if sum(t.numel() for t in given) > _AFFORDABLE or function._schema.is_mutable:
                raise
            return function(*args, **kwargs)
        if not unknown and all(t.numel() <= SMALL for t in _tensors_in(results)):
            return function(*args, **kwargs)
        return tree_map(
            lambda leaf: blank(leaf.shape, leaf.stride(), leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf,
            results,
        )


def blank(shape: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """A tensor of these, on the CPU, whose values cannot be written: all large ones lie in the same pages, of zeros."""
    nbytes = tensors.span(shape, stride) * dtype.itemsize
    if nbytes > _MEMORY_BYTES:
        raise MemoryError(f"a tensor of {nbytes >> 30} GiB")
    return _memory()[:nbytes].view(dtype).as_strided(shape, stride)


@functools.cache
def _memory() -> torch.Tensor:
    # What cannot be written does not count as a process's data, of which a runner may have little.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    pages = mmap.mmap(-1, _MEMORY_BYTES, flags=flags, prot=mmap.PROT_READ)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.frombuffer(pages, dtype=torch.uint8)


def _is_blank(tensor: torch.Tensor) -> bool:
    return tensor.untyped_storage().data_ptr() == _memory().data_ptr()


def _parts(function: torch._ops.OpOverload) -> Callable[..., Any] | None:
    """What an operation that is made of others is made of: the candidate's own ones launch its kernels there."""
    if (made := implementation(function)) is not None:
        return made
    return function.decompose if _is_made_of_others(function) else None


@functools.cache
def _is_made_of_others(function: torch._ops.OpOverload) -> bool:
    """Whether PyTorch takes it to pieces. In inference mode it does so below modes like this one."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(
        function.name(), torch._C.DispatchKey.CompositeImplicitAutograd
    )


@functools.cache
def _is_about_memory(function: torch._ops.OpOverload) -> bool:
    """Whether it gives another look at the memory of an argument, or other memory to it: no element is touched."""
    if torch.Tag.inplace_view in function.tags:
        return True
    aliases = [result.alias_info for result in function._schema.returns]
    return any(alias is not None and not alias.is_write for alias in aliases)


def _named(schema: torch.FunctionSchema, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**{a.name: value for a, value in zip(schema.arguments, args, strict=False)}, **kwargs}


def _written(schema: torch.FunctionSchema, named: dict[str, Any]) -> Any:
    """What an operation returns that returns what it writes to. Outputs, and what is updated in place, have their shapes."""
    changed = [named[a.name] for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    if not schema.returns:
        return None
    return changed[0] if len(schema.returns) == 1 else tuple(changed)


def _made(function: torch._ops.OpOverload, named: dict[str, Any]) -> torch.Tensor:
    """A tensor made of nothing but numbers. One whose size is no argument (arange, eye) is real, however large."""
    size, stride = named.get("size"), named.get("stride")
    if size is None or math.prod(size) <= SMALL:
        made: torch.Tensor = function(**named)
        return made
    none = {"size": [0] * len(size)} | ({"stride": [1] * len(size)} if stride is not None else {})
    dtype = function(**{**named, **none}).dtype
    return blank(size, _strides(size, named.get("memory_format")) if stride is None else stride, dtype)


def _pointwise(
    function: torch._ops.OpOverload,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    shape: torch.Size,
    memory_format: torch.memory_format | None,
) -> Any:
    """The type is that of the same operation on single elements, and the layout that of the first tensor of that shape."""

    def single(leaf: Any) -> Any:
        return torch.zeros([1] * leaf.dim(), dtype=leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf

    made = function(*tree_map(single, args), **tree_map(single, kwargs))
    alike = next((t for t in _tensors_in((args, kwargs)) if t.shape == shape and 0 not in t.stride()), None)
    stride: Sequence[int]
    if memory_format in (None, torch.preserve_format) and alike is not None:
        stride = _packed(shape, alike.stride())
    else:
        stride = _strides(shape, memory_format)
    return tree_map(lambda leaf: blank(shape, stride, leaf.dtype) if isinstance(leaf, torch.Tensor) else leaf, made)


def _packed(shape: Sequence[int], stride: Sequence[int]) -> list[int]:
    """Strides without gaps, dimensions in the order that ``stride`` has them in memory: how PyTorch lays out a result."""
    packed, room = [0] * len(shape), 1
    for dim in sorted(range(len(shape)), key=lambda dim: (stride[dim], -dim)):
        packed[dim] = room
        room *= max(1, shape[dim])
    return packed


def _strides(shape: Sequence[int], memory_format: torch.memory_format | None) -> tuple[int, ...]:
    if memory_format in (None, torch.preserve_format):
        memory_format = torch.contiguous_format
    return torch.empty(shape, device="meta", memory_format=memory_format).stride()


def _most_elements(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """More elements than the results have: each may be of one element of every argument (outer), as often as a number says (repeat)."""
    leaves = tree_flatten((args, kwargs))[0]
    counts = (
        leaf.numel() if isinstance(leaf, torch.Tensor) else abs(leaf)
        for leaf in leaves
        if isinstance(leaf, (torch.Tensor, int))
    )
    return math.prod(max(1, count) for count in counts)


def _on_meta(function: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    def as_meta(leaf: Any) -> Any:
        if isinstance(leaf, torch.device):
            return torch.device("meta")
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device="meta")

    args, kwargs = tree_map(as_meta, (args, kwargs))
    if any(argument.name == "device" for argument in function._schema.arguments):
        kwargs["device"] = torch.device("meta")
    return function(*args, **kwargs)


def _tensors_in(tree: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor)]
