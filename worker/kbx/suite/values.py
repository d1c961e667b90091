"""Results as flat lists: a result is a tensor, a scalar, or lists, tuples and dicts of results."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch

RETURNED = "output"
"""The returned value, in paths and among the keys of ``Named``."""


class Named(dict[str, Any]):
    """Several outputs by name: what was returned, and the arguments that the call updated, by their ``key``."""

    @staticmethod
    def of(returned: object, updated: Iterable[tuple[str, object]]) -> Any:
        """The returned value alone where nothing was updated; ``updated`` are pairs of an argument's name and contents."""
        named = {Named.key(name): contents for name, contents in updated}
        return Named({RETURNED: returned, **named}) if named else returned

    @staticmethod
    def key(name: str) -> str:
        """An argument's name, unless it is called as the returned value is."""
        return f"argument {name}" if name.split("[")[0] == RETURNED else name


def leaves(value: object, path: str = RETURNED) -> list[tuple[str, Any]]:
    """``(path, leaf)`` of each leaf in order; paths read as Python: ``output[0]``, ``output['loss']``."""
    if isinstance(value, Named):
        return [leaf for name, v in value.items() for leaf in leaves(v, name)]
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return [leaf for i, v in enumerate(value) for leaf in leaves(v, f"{path}[{i}]")]
    if isinstance(value, dict):
        return [leaf for k, v in value.items() for leaf in leaves(v, f"{path}[{k!r}]")]
    return [(path, value)]


def tensors(value: object) -> list[torch.Tensor]:
    """The tensors of a value, in order of appearance."""
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, torch.Tensor)]


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """float32 in place of float8, which has no comparison and hardly any operation; other tensors as they are."""
    return tensor.float() if tensor.is_floating_point() and tensor.element_size() == 1 else tensor


def home(tensor: torch.Tensor) -> int:
    """The address of the storage that a tensor lies in: views of one tensor have the same. 0 where nothing is stored."""
    return tensor.untyped_storage().data_ptr()


def copied(leaf: Any) -> Any:
    """A clone of a tensor; anything else as it is."""
    return leaf.clone() if isinstance(leaf, torch.Tensor) else leaf


def transform(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with ``change`` applied to each leaf; named tuples become tuples."""
    if isinstance(value, torch.Size):
        return change(value)
    if isinstance(value, list):
        return [transform(v, change) for v in value]
    if isinstance(value, tuple):
        return tuple(transform(v, change) for v in value)
    if isinstance(value, dict):
        return type(value)((k, transform(v, change)) for k, v in value.items())
    return change(value)


def articled(name: str) -> str:
    """A type's name with its article, for a message: ``an object``."""
    return f"{'an' if name[:1] in 'aeioAEIO' else 'a'} {name}"


def plain(leaf: Any) -> Any:
    """A NumPy array as a tensor of its own memory, a NumPy number as Python's; anything else as it is."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(leaf).__module__ != "numpy":
        return leaf
    if isinstance(leaf, numpy.ndarray) and leaf.dtype.kind in "biufc":
        return torch.from_numpy(leaf.astype(leaf.dtype.newbyteorder("=")))
    return leaf.item() if isinstance(leaf, numpy.generic) else leaf
