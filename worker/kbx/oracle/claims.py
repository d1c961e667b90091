"""Parses a value tree from a runner, in which every field is an untrusted claim.

The result consists of lists, tuples, dicts, plain scalars, ``TensorClaim`` and ``Opaque``. Parsing checks only the form and reads
no tensor. Anything else is a ``ClaimError``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from kbx.messages import Tree
from kbx.suite.values import leaves
from kbx.tensors import ALIGN, DTYPES, Arena

DEVICE = "cuda"
"""Where results belong. Without a GPU the runner plays one, and says ``cuda`` of what would be there."""
MAX_DEPTH = 32
MAX_NODES = 4096
MAX_DIMS = 64
MAX_NUMBER = 1 << 62
MAX_TEXT = 1 << 16
_PARTS = {"t", "v"}
_TENSOR_PARTS = {"t", "arena", "offset", "shape", "dtype", "stride", "own_stride", "device", "aliases", "reused"}


class ClaimError(ValueError):
    """The tree is not one that an honest runner sends."""


@dataclass(frozen=True)
class TensorClaim:
    """A tensor as claimed. ``place`` is its offset in arena ``out``, or the tensor itself in the oracle's own controls."""

    place: int | torch.Tensor
    shape: tuple[int, ...]
    dtype: torch.dtype
    stride: tuple[int, ...]
    """Of the tensor that the entry returned; what lies in the arena is contiguous."""
    device: str
    alias: int | None
    reused: bool = False
    """Whether the result of the call before lies in the same memory."""


@dataclass(frozen=True)
class Opaque:
    """A value of a type that no task returns."""

    name: str


@dataclass(frozen=True)
class Lacking:
    """In place of a result: the candidate has no such buffers."""

    names: tuple[str, ...]


def read(tree: Tree) -> Any:
    """A tree from a runner as a value of claims; raises ClaimError and nothing else."""
    try:
        return _Reader().value(tree, 0)
    except ClaimError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ClaimError(f"unreadable result ({type(error).__name__})") from None


def of(
    value: Any, arguments: list[torch.Tensor], aliases: Callable[[torch.Tensor, list[torch.Tensor]], int | None]
) -> Any:
    """The claims of a value at hand, for controls that run inside the oracle."""
    # No function in here may call itself: it would be a cycle, and gigabytes of the device would wait for the collector.
    if isinstance(value, torch.Tensor):
        alias = aliases(value, arguments)
        return TensorClaim(value, tuple(value.shape), value.dtype, value.stride(), DEVICE, alias)
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return (list if isinstance(value, list) else tuple)(of(v, arguments, aliases) for v in value)
    return {k: of(v, arguments, aliases) for k, v in value.items()} if isinstance(value, dict) else value


def tensor_claims(value: object) -> list[TensorClaim]:
    """The tensor claims of a value, in order of appearance."""
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, TensorClaim)]


def fetch(arena: Arena) -> Callable[[TensorClaim], torch.Tensor]:
    """A function from a tensor claim to what lies there, where nobody else can change it; raises ClaimError when it leaves the arena."""

    def copy(claim: TensorClaim) -> torch.Tensor:
        count = math.prod(claim.shape)
        if claim.place + count * claim.dtype.itemsize > arena.capacity:
            raise ClaimError("a tensor of the result lies outside the arena")
        if not count:
            return torch.empty(claim.shape, dtype=claim.dtype, device=arena.device)
        return arena.kept(arena.typed(cast(int, claim.place), count, claim.dtype)).reshape(claim.shape)

    return copy


class _Reader:
    """Reads one tree and counts its nodes."""

    def __init__(self) -> None:
        self.nodes = 0

    def value(self, tree: Tree, depth: int) -> Any:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise ClaimError("the result is nested too deep or has too many parts")
        kind: str = tree["t"]
        v: Any = tree.get("v")
        # What nobody reads takes time to pass on all the same, in which a candidate could go on with its work.
        if tree.keys() - (_TENSOR_PARTS if kind == "tensor" else _PARTS):
            raise ClaimError("the description of the result has fields that are not known")
        match kind:
            case "tensor":
                return _tensor(tree)
            case "none":
                return None
            case "bool" | "str" | "int":
                return _scalar(kind, v)
            case "float":
                return float.fromhex(_text(v))
            case "complex":
                real, imaginary = v
                return complex(float.fromhex(_text(real)), float.fromhex(_text(imaginary)))
            case "dtype":
                return DTYPES[_text(v)]
            case "device":
                return Opaque("torch.device")
            case "size":
                return torch.Size(_numbers(v))
            case "list" | "tuple":
                return (list if kind == "list" else tuple)(self.value(x, depth + 1) for x in _list(v))
            case "dict":
                return {_text(k): self.value(x, depth + 1) for k, x in v.items()}
            case "lacking" if depth == 0:
                return Lacking(tuple(_text(name) for name in _list(v)))
            case "opaque":
                return Opaque(_text(v)[:80])
        raise ClaimError("the result holds an unknown kind of value")


def _tensor(tree: Tree) -> TensorClaim:
    if tree["arena"] != "out":
        raise ClaimError("a tensor of the result lies in another arena than that for results")
    shape, offset, alias = _numbers(tree["shape"]), _number(tree["offset"]), tree.get("aliases")
    if (
        offset % ALIGN
        or math.prod(shape) > MAX_NUMBER
        or not same_layout(shape, _numbers(tree["stride"]), contiguous(shape))
    ):
        raise ClaimError("a tensor of the result is not aligned and contiguous in the arena, as every runner places it")
    own = _numbers(tree["own_stride"])
    if len(own) != len(shape):
        raise ClaimError("a tensor of the result has another number of strides than of dimensions")
    alias = None if alias is None else _number(alias)
    device, reused = _text(tree["device"]).split(":")[0], tree.get("reused") is True
    return TensorClaim(offset, shape, DTYPES[_text(tree["dtype"])], own, device, alias, reused)


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous tensor of a shape."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(1, n)
    return tuple(reversed(strides))


def same_layout(shape: Sequence[int], stride: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two strides place a tensor's elements alike; a dimension of size one has no stride to speak of."""
    if len(stride) != len(shape):
        return False
    return 0 in shape or all(n == 1 or a == b for n, a, b in zip(shape, stride, other, strict=True))


def _scalar(kind: str, v: Any) -> Any:
    if type(v).__name__ != kind or (kind == "int" and abs(v) > MAX_NUMBER):
        raise ClaimError(f"not a readable {kind}")
    return _text(v) if kind == "str" else v


def _number(n: Any) -> int:
    if type(n) is not int or not 0 <= n <= MAX_NUMBER:
        raise ClaimError("a size or offset is not a number in the range allowed")
    return n


def _numbers(v: Any) -> tuple[int, ...]:
    if len(_list(v)) > MAX_DIMS:
        raise ClaimError("a tensor of the result has too many dimensions")
    return tuple(_number(n) for n in v)


def _list(v: Any) -> list[Any]:
    if type(v) is not list:
        raise ClaimError("a sequence is not a list")
    return v


def _text(v: Any) -> str:
    if type(v) is not str or len(v) > MAX_TEXT:
        raise ClaimError("a text is not a string, or is too long")
    return v
