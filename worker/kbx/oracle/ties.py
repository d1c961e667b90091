"""Indices that differ from the reference's and are right all the same: those of equal values, where PyTorch promises no order.

Where an index of a result differs, the reference runs once more, watched: which operation the index comes from, and the values that it
ranks there. They are compared at both indices. Where these values were computed, not given, the candidate may have rounded them
otherwise: then two are equal if they are no further apart than each may be off by the error model (``kbx.suite.errors``). A ``topk`` that
is not to be sorted has its elements in any order, and with them all results of its form.

What PyTorch promises is in its documentation: ``argmax``, ``argmin``, ``max`` and ``min`` return the first of several indices, a stable
sort keeps the order, and all others return any.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kbx.modes import arguments_of, without_dynamo
from kbx.oracle import truth
from kbx.oracle.task import InvalidTask, Task
from kbx.suite import Call, errors
from kbx.suite.values import leaves, tensors, transform

if TYPE_CHECKING:
    from kbx.oracle.truth import Known

_FIRST = {"argmax", "argmin", "max", "min"}
_RANKING = {*_FIRST, "topk", "sort", "argsort", "kthvalue", "mode", "median", "nanmedian", "cummax", "cummin"}
"""Operations of which one result, the last, is indices along a dimension."""
_MOVING = {
    "view", "_unsafe_view", "_reshape_alias", "slice", "select", "transpose", "permute", "t", "squeeze", "unsqueeze", "expand", "alias",
    "detach", "flip", "split", "split_with_sizes", "unbind", "clone", "_to_copy", "index_select",
}  # fmt: skip
"""Operations that leave what they are given what it is, in another place or dtype."""


class _Ranked(NamedTuple):
    """What an operation ranks, flat, in rows of ``length`` values, of which neighbours are ``step`` apart. ``given``: whether they are the
    arguments' own; ``ordered``: whether the indices of a row are; ``promise``: which of equal values it promises to name, None where it
    promises nothing."""

    values: torch.Tensor
    length: int
    step: int
    given: bool
    ordered: bool
    promise: str | None


class _Index(NamedTuple):
    """Of a tensor of indices, where among the flat values the row of each begins."""

    ranked: _Ranked
    start: torch.Tensor

    def places(self, indices: torch.Tensor) -> torch.Tensor | None:
        """Where the values of these indices are, in place of the tensor's own; None where one leaves its row."""
        indices = indices.cpu().long()
        inside = (indices >= 0) & (indices < self.ranked.length)
        return self.start + indices * self.ranked.step if bool(inside.all()) else None


@without_dynamo
class _Watch(TorchDispatchMode):
    """Notes where indices come from, and where they go. Of the tensors ``arguments`` it knows that nobody has computed them."""

    def __init__(self, arguments: list[torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's
        self._given = {id(tensor): tensor for tensor in arguments}
        self._found: dict[int, tuple[torch.Tensor, _Index]] = {}

    def index(self, leaf: object) -> _Index | None:
        """What is known of a tensor of the reference's; None if it is no index."""
        return self._found[id(leaf)][1] if id(leaf) in self._found else None

    def __torch_dispatch__(
        self,
        function: torch._ops.OpOverload,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs, name = kwargs or {}, function._schema.name.removeprefix("aten::")
        result = function(*args, **kwargs)
        if name in _RANKING:
            self._rank(name, arguments_of(function, args, kwargs), tensors(result))
        elif name in _MOVING and id(args[0]) in self._given:
            self._given.update((id(tensor), tensor) for tensor in tensors(result))
        elif name in _MOVING and (index := self.index(args[0])) is not None:
            start = index.start.clone() if name == "_to_copy" else function(index.start, *args[1:], **kwargs)
            for moved, where in zip(tensors(result), tensors(start), strict=True):
                self._note(moved, _Index(index.ranked, where))
        return result

    def _rank(self, name: str, given: dict[str, Any], results: list[torch.Tensor]) -> None:
        values, indices, dim = given["self"], results[-1], given.get("dim", -1)
        if indices.dtype != torch.int64 or not values.numel() or (name in _FIRST and "dim" not in given):
            return  # max() and min() of all values, or of two tensors, have no index
        flat = values.detach().cpu().contiguous().view(-1).clone()
        promise = "the first" if name in _FIRST else "their order" if given.get("stable") else None
        known = id(values) in self._given, given.get("sorted", True), promise
        if dim is None or not values.dim():
            start = torch.zeros_like(indices, device="cpu")
            self._note(indices, _Index(_Ranked(flat, flat.numel(), 1, *known), start))
            return
        starts = torch.arange(flat.numel()).view(values.shape).narrow(dim, 0, 1)
        starts = starts if indices.dim() == values.dim() else starts.squeeze(dim)
        start = torch.empty_strided(indices.shape, indices.stride(), dtype=torch.int64).copy_(starts)
        step = values.shape[dim % values.dim() + 1 :].numel()
        self._note(indices, _Index(_Ranked(flat, values.shape[dim], step, *known), start))

    def _note(self, tensor: torch.Tensor, index: _Index) -> None:
        self._found[id(tensor)] = tensor, index  # the tensor is kept, so that no other gets its id


def settled(task: Task, known: Known, value: Any) -> tuple[Any, list[str]]:
    """A result with the reference's index wherever its own names an equal value and PyTorch promises no order; and what is to be said of
    indices that stay wrong although the values are equal."""
    pairs = list(zip(leaves(value), leaves(known.on_host.expected), strict=True))
    differing = {i for i, ((_, got), (_, want)) in enumerate(pairs) if _differ(got, want)}
    if not differing:
        return value, []
    found = _indices(task, known, truth.copy_call(known.call))
    exact = _indices(task, known, truth.widened(known.call)) if found else {}
    replaced, notes = [leaf for (_, leaf), _ in pairs], []
    for i in sorted(differing & found.keys()):
        (path, _), (_, want) = pairs[i]
        if not found[i].ranked.ordered:
            replaced = _in_order(replaced, i, want, found[i])
        replaced[i], note = _settled(replaced[i], want, found[i], exact.get(i), getattr(task.contract, "growth", 1.0))
        notes += [f"{path}: {note}"] if note else []
    following = itertools.count()
    return transform(value, lambda _: replaced[next(following)]), notes


def _differ(got: Any, want: Any) -> bool:
    if not isinstance(want, torch.Tensor) or want.is_floating_point() or want.is_complex() or want.dtype == torch.bool:
        return False
    return not torch.equal(got, want)


def _indices(task: Task, known: Known, call: Call) -> dict[int, _Index]:
    """The leaves of the reference's result that are indices, by position; none where it does not run on such arguments."""
    watch = _Watch(truth.argument_tensors(call))
    try:
        with torch.no_grad(), watch:
            returned = task.run("the reference", task.reference, *call.args, **call.kwargs)
    except InvalidTask:
        return {}
    found = (
        (i, watch.index(leaf)) for i, (_, leaf) in enumerate(leaves(truth.after(task, call, returned, known.selves)))
    )
    return {i: index for i, index in found if index is not None}


def _in_order(found: list[Any], position: int, want: torch.Tensor, index: _Index) -> list[Any]:
    """The leaves of a result, of which those of the form of the one at ``position``, indices in any order, are put in the order of ``want``."""
    got = found[position]
    mine, theirs = index.places(got), index.places(want)
    if mine is None or theirs is None:
        return found
    moved = torch.empty(got.numel(), dtype=torch.int64)
    moved[_by_value(theirs, index)] = _by_value(mine, index)

    def arranged(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.shape != got.shape:
            return leaf
        return leaf.reshape(-1)[moved.to(leaf.device)].view(leaf.shape)

    return [arranged(leaf) for leaf in found]


def _by_value(places: torch.Tensor, index: _Index) -> torch.Tensor:
    """The elements of a tensor of indices, whose values are at ``places``, row by row in the order of these values."""
    order = places.reshape(-1).argsort()
    for key in (index.ranked.values[places], index.start):
        order = order[key.reshape(-1)[order].argsort(stable=True)]
    return order


def _settled(
    got: torch.Tensor, want: torch.Tensor, index: _Index, exact: _Index | None, growth: float
) -> tuple[torch.Tensor, str]:
    """The indices with the reference's in place of those that are right, and what is to be said of the others."""
    mine, theirs = index.places(got), index.places(want)
    if mine is None or theirs is None:
        return got, ""
    other = mine != theirs
    one, another = mine[other], theirs[other]
    equal = _same(index.ranked.values, one, another)
    if len(mine.unique()) != len(theirs.unique()):
        return got, "the values are equal, but an index occurs twice" if bool(equal.all()) else ""
    truly, near = equal, equal
    if exact is not None:
        truly = _same(exact.ranked.values, one, another)
        near = truly if index.ranked.given else _near(index.ranked.values, exact.ranked.values, one, another, growth)
    promise = index.ranked.promise
    right = near & ~truly if promise else near | equal
    kept = torch.zeros_like(other)
    kept[other] = right
    tied = int((equal & ~right).sum())
    note = f"at {tied} of these indices the values are equal, of which PyTorch promises {promise}" if tied else ""
    return torch.where(kept.to(got.device), want, got), note


def _same(values: torch.Tensor, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    a, b = values[one], values[other]
    return (a == b) | ((a != a) & (b != b))


def _near(
    values: torch.Tensor, exact: torch.Tensor, one: torch.Tensor, other: torch.Tensor, growth: float
) -> torch.Tensor:
    """Whether the values at two places are as near each other as both may be off together; ``exact`` are the values in float64."""
    if not values.is_floating_point():
        return _same(exact, one, other)
    measured = errors.yardstick(values, exact, None, growth)
    pair = exact[one].double(), exact[other].double()
    error = (pair[0] - pair[1]).abs()
    for each in pair:
        error = measured.rounding.taken_off(error, each)
    return error <= measured.allowed(pair[0].abs(), 0.0) + measured.allowed(pair[1].abs(), 0.0)
