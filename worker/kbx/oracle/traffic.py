"""What a reference moves: how much it reads of its arguments and writes, and whether every correct kernel must do the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kbx.modes import without_dynamo
from kbx.suite.values import home, tensors
from kbx.tensors import span

_READ_WHOLE = frozenset((
    "sum", "mean", "prod", "amax", "amin", "max", "min", "argmax", "argmin", "std", "var", "var_mean", "std_mean", "logsumexp",
    "linalg_vector_norm", "_softmax", "_log_softmax", "native_layer_norm", "native_group_norm",
    "mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "dot",
    "copy_", "_to_copy", "empty", "empty_like", "view", "_unsafe_view", "reshape", "permute", "transpose", "t",
    "unsqueeze", "squeeze", "detach", "alias", "promote_types",
))  # fmt: skip
"""Operations beside the element-wise ones whose result depends on each element of their arguments, and moves of whole tensors.
What picks (index, gather, slice, embedding), repeats (expand, repeat) or skips (tril, convolution, pooling) is not here."""

_UNREAD = frozenset((
    "_unsafe_view", "lift_fresh", "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like",
    "new_empty", "new_zeros", "new_ones", "new_full", "new_empty_strided",
))  # fmt: skip
"""Operations that want no more than the form of their arguments; so do views."""

_OVERWRITES = frozenset(("copy_", "fill_", "zero_", "bernoulli_", "uniform_", "normal_", "random_"))
"""Operations that replace all of the tensor that they change, whatever was in it."""


def _below(args: Sequence[Any]) -> int:
    """Elements of ``tril``'s argument on its diagonal and below."""
    (rows, columns), diagonal = args[0].shape[-2:], args[1] if len(args) > 1 else 0
    each: int = sum(min(max(row + diagonal + 1, 0), columns) for row in range(rows))
    batch: int = math.prod(args[0].shape[:-2])
    return batch * each


def _above(args: Sequence[Any]) -> int:
    """Elements of ``triu``'s argument on its diagonal and above."""
    return int(args[0].numel()) - _below((args[0], (args[1] if len(args) > 1 else 0) - 1))


_PICKS: dict[str, Callable[[Sequence[Any], Any], int]] = {
    **dict.fromkeys(
        ("index", "index_select", "gather", "embedding", "masked_select", "take",
         "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"),
        lambda args, result: result.numel(),
    ),
    "nll_loss_forward": lambda args, result: args[1].numel(),
    "nll_loss2d_forward": lambda args, result: args[1].numel(),
    "grid_sampler_2d": lambda args, result: 4 * result.numel(),
    "grid_sampler_3d": lambda args, result: 8 * result.numel(),
    "tril": lambda args, result: _below(args),
    "triu": lambda args, result: _above(args),
}  # fmt: skip
"""Operations that read no more than so many elements of their first argument."""


def _put(args: Sequence[Any]) -> int:
    """Elements that ``index_put_`` writes by one tensor of places in the first dimension. Raises TypeError of any other."""
    target, places, *more = args
    if len(places) != 1 or places[0].dtype == torch.bool or any(more[1:]):
        raise TypeError("how much is written depends on values")
    return int(places[0].numel() * math.prod(target.shape[1:]))


_PUTS: dict[str, Callable[[Sequence[Any]], int]] = {
    "index_put_": _put,
    "index_fill_": lambda args: args[2].numel() * args[0].numel() // max(1, args[0].shape[args[1]]),
    "scatter_": lambda args: args[2].numel(),
    "index_copy_": lambda args: args[3].numel(),
}
"""Operations that write so many elements of the argument that they change, and read none of it."""


@without_dynamo
class Traffic(TorchDispatchMode):
    """Watches the operations of one call on ``arguments``, tensors of which each has memory of its own.

    An argument's bytes count once however often they are read, and not at all where only its shape is asked for; what
    lies between two operations is not counted, since one kernel needs none of it.
    """

    def __init__(self, arguments: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's
        self.whole = True
        """Whether each operation so far needs all of its arguments."""
        self._sizes = {home(t): nbytes(t) for t in arguments if t.numel()}
        self._read: Counter[int] = Counter()
        self._written: Counter[int] = Counter()
        self._known = True

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        try:
            self._see(function, args, kwargs or {}, result)
        except (AttributeError, IndexError, TypeError, RuntimeError):
            # An operation of another form than those known here: no fault of the task's.
            self.whole = self._known = False
        return result

    def _see(self, function: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        name, pointwise = function.overloadpacket.__name__, torch.Tag.pointwise in function.tags
        self.whole &= pointwise or name in _READ_WHOLE
        if function.is_view or name in _UNREAD:
            return
        picked = _PICKS[name](args, result) if name in _PICKS else None
        for i, (parameter, value) in enumerate(_bound(function, args, kwargs)):
            for tensor in tensors([value]):
                if parameter.alias_info is None or not parameter.alias_info.is_write:
                    self._touch(self._read, tensor, picked if i == 0 else None)
                elif name in _PUTS:
                    self._touch(self._written, tensor, _PUTS[name](args))
                else:
                    self._change(tensor, name, pointwise, parameter.kwarg_only)

    def _change(self, tensor: torch.Tensor, name: str, pointwise: bool, out: bool) -> None:
        """An operation writes to a tensor: all of it, as far as that is known, and reads it before, unless it is an ``out``."""
        replaced = out or name in _OVERWRITES
        if not replaced:
            self._touch(self._read, tensor)
        self._known &= replaced or pointwise or home(tensor) not in self._sizes
        self._touch(self._written, tensor)

    def least(self, results: list[torch.Tensor]) -> int | None:
        """Bytes that every correct kernel moves for these results: None where it may leave some out, or views do."""
        if not self.whole or any(home(t) in self._sizes for t in results if t.numel()):
            return None
        return sum(self._read.values()) + sum(map(nbytes, results))

    def total(self, results: list[torch.Tensor]) -> int | None:
        """Bytes that the reference reads and writes, each once: None where an operation changes an unknown part."""
        if not self._known:
            return None
        fresh = (nbytes(t) for t in results if t.numel() and home(t) not in self._sizes)
        return sum(self._read.values()) + sum(self._written.values()) + sum(fresh)

    def _touch(self, counts: Counter[int], tensor: torch.Tensor, elements: int | None = None) -> None:
        place = home(tensor)
        # What a call has written itself is no argument any more.
        if place not in self._sizes or (counts is self._read and place in self._written and place not in self._read):
            return
        touched = nbytes(tensor) if elements is None else min(nbytes(tensor), elements * tensor.element_size())
        counts[place] = min(self._sizes[place], counts[place] + touched)


def nbytes(tensor: torch.Tensor) -> int:
    """Bytes of the elements that exist: a broadcast tensor is small."""
    return min(tensor.numel(), span(tensor.shape, tensor.stride())) * tensor.element_size()


def _bound(function: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Any, Any]]:
    """``(parameter, value)`` of an operation's arguments, by its schema."""
    parameters = function._schema.arguments
    named = {p.name: p for p in parameters}
    return [*zip(parameters, args, strict=False), *((named[name], value) for name, value in kwargs.items())]
