"""Benchmark sizes: fresh inputs for the candidate, a live baseline, and the truth about timed results.

Nothing is timed on memory that the candidate can reach: the baseline has inputs of its own, and what is checked is compared
with what the reference makes of the oracle's own. What the candidate gets, it gets last.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import re
import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from kbx import suite
from kbx.clock import Call, Timed
from kbx.messages import SlottedCall, Tree
from kbx.messages import oracle as messages
from kbx.oracle import claims, faults, judge, session, truth, work
from kbx.oracle.session import WrongOrder
from kbx.oracle.task import Task
from kbx.oracle.truth import Known
from kbx.tensors import ALIGN, DTYPES, FILLERS, Arena, encode, span

if TYPE_CHECKING:
    from kbx.oracle.cuda import CudaDevice

_REASON_CHARACTERS = 300

_LINEAR_ALGEBRA = re.compile(r"linalg|cholesky|triangular|geqrf|ormqr|householder|svd|lstsq|(?<![a-z])(lu_|eig)")
"""Operations whose libraries wait for the device, or take the process with them when they are recorded."""


class NotRecorded(Exception):
    """There is no CUDA graph of the reference on this size; the text says why."""


class Bench:
    """One size in one round. Fewer than ``sets`` input sets are made when the arenas hold no more; at least one must fit.

    ``round_`` names the round: rounds of different names have different values. ``device`` is a ``CudaDevice``.
    """

    def __init__(self, opened: session.Session, size: int, sets: int, round_: str, device: CudaDevice) -> None:
        self.session, self.task, self.device = opened, opened.task, device
        if not 0 <= size < len(self.task.sizes) or sets < 1:
            raise WrongOrder(f"there is no size {size} with {sets} sets")
        self.size, self.parameters = size, self.task.sizes[size]
        self.seeds = [f"{opened.seed}/{self.task.name}/size {size}/{round_}/{k}" for k in range(sets)]
        self.calls: list[SlottedCall] = []
        self.leaves: list[list[Tree]] = []
        self.own = [self._make(0)]
        self.work = work.of(self.task, size, lambda: self.own[0])
        # Sets of one size may differ in what they return (masked_select): by far less than this.
        self.slot_bytes = max(1, self.work.result_bytes * 9 // 8)  # it need not be a tensor
        self._make_more()
        self._unfit = self._refresh()
        device.synchronize()

    @functools.cached_property
    def of_expert(self) -> Bench:
        """The same sets, lent to the expert's runner in arenas of its own. Raises WrongOrder where there is none."""
        if self.session.expert is None:
            raise WrongOrder("no expert's runner was announced")
        other = copy.copy(self)
        other.session = copy.copy(self.session)
        other.session.lent, other.session.out = self.session.expert
        other.task = self.task.begun()  # by which scheme the expert rounds says nothing about the candidate
        return other

    def message(self, id_: int) -> messages.PreparedSize:
        """As ``messages.oracle.PreparedSize``."""
        w = self.work
        return messages.PreparedSize(
            id_, self.device.flush_bytes, w.bytes, w.flops, w.precision, w.least_bytes, w.least_flops, w.uncounted,
            w.result_bytes, self.device.copies(self.slot_bytes),
        )  # fmt: skip

    def baseline(self, lead: int, warm: bool = False, graph: bool = False) -> list[Timed]:
        """A ``clock.Timed`` of the reference on each set, from the oracle's own copies; all flags as in
        ``messages.oracle.Baseline``. Raises NotRecorded."""
        if graph:
            recorded = self._recorded()
            calls = [
                Call(g, [], {}, truth.argument_tensors(c)) for g, c in zip(recorded.graphs, recorded.calls, strict=True)
            ]
        else:
            calls = [Call(self.task.reference, c.args, c.kwargs, truth.argument_tensors(c)) for c in self.own]
        with torch.no_grad():
            return self.device.time(calls, lead, warm, self.slot_bytes)

    def _refresh(self) -> str | None:
        """Gives this round's values to what was recorded in an earlier one; why they do not fit, or None."""
        try:
            if self.size in self.session.recorded:
                self.session.recorded[self.size].take(self.own)
        except NotRecorded as unfit:
            return str(unfit)  # its traceback would keep this round's values alive
        return None

    def _recorded(self) -> RecordedReference:
        """The reference's graphs of this size, made once for a candidate. They have the values of this round."""
        known = self.session.recorded.get(self.size)
        if self._unfit:
            raise NotRecorded(self._unfit)
        if waiting := [name for name in self.work.uncounted if _LINEAR_ALGEBRA.search(name)]:
            raise NotRecorded(f"{waiting[0]} waits for the device, which a CUDA graph cannot record")
        if known is None:
            known = self.session.recorded[self.size] = RecordedReference(self)
        return known

    def check(self, slots: list[int], values: list[Tree]) -> judge.Judgement:
        """Judges the results of the timed calls ``slots``; ``values`` are their trees, in the same order. Where there is no memory for
        copies of all, one of them, as chance will have it."""
        self.device.synchronize()
        if len(slots) != len(values) or not all(0 <= s < len(self.calls) for s in slots):
            raise WrongOrder("slots and values do not fit the prepared sets")
        # All that is to be checked is taken at once, before any truth is made: that takes longer than many a kernel, and a
        # runner that answered too early would finish meanwhile.
        taken = None
        with contextlib.suppress(torch.OutOfMemoryError):
            taken = [self._take(slot) for slot in slots]
        if taken is None:  # not while the exception is handled: it holds on to what was taken
            one = secrets.randbelow(len(slots))
            slots, values, taken = [slots[one]], [values[one]], [self._take(slots[one])]
        worst = judge.Judgement("correct")
        for slot, tree, (out, lent) in zip(slots, values, taken, strict=True):
            judgement = self._check_one(slot, tree, out, lent)
            if judgement.status != "correct":
                judgement.message = f"timed call {slot}: {judgement.message}"
                return judgement
            ratio = judgement.metrics.get("error_ratio", 0)
            worst = judgement if ratio >= worst.metrics.get("error_ratio", 0) else worst
        return worst

    def _make(self, k: int) -> suite.Call:
        """The arguments of set ``k``, the same each time."""
        made = self.task.call(self.parameters, self.task.plain, self.seeds[k], self.device.torch_device, fast=True)
        return self.task.inside(made)

    def _as_made(self, k: int) -> suite.Call:
        """The arguments of set ``k``; made again where the baseline may have updated its own."""
        return self._make(k) if self._updates(k) else self.own[k]

    def _make_more(self) -> None:
        """As many sets as the arenas hold, each with its slot for results."""
        pairs = [(self.session.lent, self.session.out)] + ([self.session.expert] if self.session.expert else [])
        room = session.room(self.own[0])
        held = [min(lent.capacity // room, out.capacity // self._slot_room) for lent, out in pairs]
        sets = min(*held, len(self.seeds))
        if not sets:
            raise MemoryError("the arguments and the result of one call of this size are too large for the arenas")
        self.own += [self._make(k) for k in range(1, sets)]

    def lend(self) -> list[SlottedCall]:
        """Copies every set to the runner's arena; returns the calls as in ``messages.runner.Measure``. Lent again, all sets are as they
        were."""
        self.calls, self.leaves = [], []
        self.session.lent.reset()
        self.session.lent.filler = FILLERS[self.session.prepared % len(FILLERS)]
        for k in range(len(self.own)):
            args, kwargs, leaves = session.lend(self.task.spoken(self._as_made(k), k), self.session.lent, self.task)
            self.leaves.append(leaves)
            self.calls.append({"args": args, "kwargs": kwargs, "slot": k * self._slot_room})
        session.poison(self.session.out, len(self.own) * self._slot_room, self.session.prepared)
        self.session.prepared += 1
        self.device.synchronize()
        return self.calls

    @property
    def _slot_room(self) -> int:
        return -(-self.slot_bytes // ALIGN) * ALIGN

    def _take(self, slot: int) -> tuple[Arena, Arena]:
        """Private copies of a slot's results, and of its arguments where the call may update them."""
        start, leaves = self.calls[slot]["slot"], self.leaves[slot]
        out = _Copy(self.session.out, start, self.slot_bytes)
        if not self._updates(slot):
            return out, self.session.lent
        first = min(leaf.get("base", [leaf["offset"]])[0] for leaf in leaves)
        return out, _Copy(self.session.lent, first, max(map(_end, leaves)) - first)

    def _updates(self, k: int) -> bool:
        """Whether a call may update arguments."""
        return any(self.task.updates(name) for name, _ in self.task.named_tensors(self.own[k]))

    def _check_one(self, slot: int, tree: Tree, out: Arena, lent: Arena) -> judge.Judgement:
        try:
            claim = claims.read(tree)
            self._inside(claim, self.calls[slot]["slot"])
        except claims.ClaimError as error:
            return judge.forged(error)

        def examined(known: Known) -> judge.Judgement:
            return session.examine_lent(self.task, known, claim, out, lent, self.leaves[slot])

        return self.judge(self.task, slot, examined)

    def _inside(self, claim: Any, start: int) -> None:
        """A result must lie in its own slot, not where another call left the same values."""
        end = start + self.slot_bytes
        for tensor in claims.tensor_claims(claim):
            if not start <= tensor.place < end:
                raise claims.ClaimError("a result lies outside the part of the arena that is for its call")

    def judge(self, task: Task, k: int, examined: Callable[[Known], judge.Judgement]) -> judge.Judgement:
        """Judges a result of set ``k``, which ``examined(known)`` reads. ``task`` has seen the earlier results of whoever made it."""
        return judge.judge_made(task, lambda: self._as_made(k), self.session.seed, examined)


class RecordedReference:
    """The reference on the sets of one round, as CUDA graphs; later rounds put their values where those were.

    The candidate's graphs are made and used in the same way. Raises NotRecorded, also where the graphs give wrong results.
    """

    def __init__(self, bench: Bench) -> None:
        self.task, self.calls = bench.task, [truth.copy_call(call) for call in bench.own]
        try:
            with torch.no_grad():
                self.graphs = bench.device.recorded([self._bound(call) for call in self.calls])
                self._look(bench)
        except RuntimeError as error:
            if faults.full(error):
                raise  # no word about the reference: a candidate may have left no room
            raise NotRecorded(f"{error}".strip().partition("\n")[0][:_REASON_CHARACTERS]) from error

    def take(self, calls: Sequence[suite.Call]) -> None:
        """Takes over the values of as many calls of the same form; raises NotRecorded where theirs is another."""
        if [_form(call) for call in calls] != [_form(call) for call in self.calls]:
            raise NotRecorded("cannot replay the CUDA graph: arguments changed between rounds")
        for mine, call in zip(self.calls, calls, strict=True):
            for target, source in zip(truth.argument_tensors(mine), truth.argument_tensors(call), strict=True):
                target.copy_(source)

    def _bound(self, call: suite.Call) -> Callable[[], Any]:
        return lambda: self.task.reference(*call.args, **call.kwargs)

    def _look(self, bench: Bench) -> None:
        """Every graph runs once, which loads it; the first one's result must be right."""
        values = [graph() for graph in self.graphs]
        bench.device.synchronize()
        own = self.task.begun()  # what is right by the reference's scheme says nothing about the candidate's
        judgement = bench.judge(own, 0, lambda known: judge.examine_own(own, known, values[0], self.calls[0]))
        if judgement.status != "correct":
            raise NotRecorded(f"replaying its CUDA graph gives a wrong result: {judgement.status}: {judgement.message}")
        self.take(bench.own)


def _form(call: suite.Call) -> tuple[list[Tree], dict[str, Tree]]:
    """All of a call but the values of its tensors."""

    def leaf(tensor: torch.Tensor) -> Tree:
        return {"t": "tensor", "shape": list(tensor.shape), "stride": list(tensor.stride()), "dtype": str(tensor.dtype)}

    return [encode(a, leaf) for a in call.args], {k: encode(v, leaf) for k, v in call.kwargs.items()}


class _Copy(Arena):
    """A copy of ``nbytes`` of an arena from ``start``, under the places that they have there. Its tensors share one storage."""

    private = True

    def __init__(self, arena: Arena, start: int, nbytes: int) -> None:
        nbytes = min(nbytes, arena.capacity - start)
        super().__init__(arena.name, start + nbytes)
        self.device, self.start, self.filler = arena.device, start, arena.filler
        self.held = arena.typed(start, nbytes, torch.uint8).clone()

    def typed(self, offset: int, count: int, dtype: torch.dtype) -> torch.Tensor:
        first = offset - self.start
        return self.held[first : first + count * dtype.itemsize].view(dtype)


def _end(leaf: Tree) -> int:
    """The place after a leaf's last byte, in its arena."""
    if "base" in leaf:
        return int(sum(leaf["base"]))
    return int(leaf["offset"]) + max(1, span(leaf["shape"], leaf["stride"])) * DTYPES[leaf["dtype"]].itemsize
