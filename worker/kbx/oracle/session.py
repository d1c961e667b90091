"""One candidate at one task: its arenas, its calls, and what it has answered so far."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch

from kbx import tensors
from kbx.executor.channel import Channel
from kbx.messages import Tree
from kbx.oracle import claims, divergence, judge, models, origin, serving, truth
from kbx.oracle.arenas import SharedArena
from kbx.oracle.executions import Executions
from kbx.oracle.plan import PlannedCall, plan
from kbx.oracle.replayer import Replayer
from kbx.oracle.task import InvalidTask, Parameters, Task
from kbx.oracle.truth import Known
from kbx.suite import Call
from kbx.suite.sharing import shared
from kbx.suite.values import tensors as tensors_of
from kbx.suite.values import transform
from kbx.tensors import ALIGN, DTYPES, FILLERS, Arena, fill_gaps, has_gaps, once, span
from kbx.ttir.launch import ASCENDING, REVERSED, SHUFFLED

if TYPE_CHECKING:
    from kbx.oracle.bench import RecordedReference

SLACK = 64 << 10
"""Bytes poisoned beyond the expected results."""

SIZED_PART = 256
"""What part of a GPU's memory the arguments of an untimed call of a benchmark size may take at most, and its result: the truth takes them
several times, in float64, and several oracles are at work."""

_AGAIN = {
    ASCENDING: "it was repeated",
    REVERSED: "its programs ran in reverse order",
    SHUFFLED: "its programs ran in random order",
}


class WrongOrder(Exception):
    """The referee asked for what the state of the candidate does not allow."""


@functools.lru_cache(maxsize=256)
def planned(task: Task, seed: str, ordered: bool, asked: frozenset[str], device: str) -> list[PlannedCall]:
    """The calls of a task under a seed, see ``plan``. Of the task as it was loaded: a seeded one would be kept here, with gigabytes of weights."""
    return plan(task, seed, ordered, asked, device)


class Session:
    """Serves ``open`` to ``close`` of one candidate. ``task`` is bound to ``seed`` here, and what it draws (weights) is kept no longer
    than the session. ``arenas`` are its own pair, ``in`` and ``out``.

    Only a session that has the device ``alone`` does without float64 where memory is short: what others take must not decide
    how exact the truth is.
    """

    def __init__(
        self,
        task: Task,
        seed: str,
        arenas: tuple[SharedArena, SharedArena],
        device: torch.device,
        alone: bool = False,
        budget: int = truth.BUDGET,
        schemes: Sequence[int] = (),
        executor: Callable[[], Channel | None] = lambda: None,
        memory_checks: bool = True,
        operations: Sequence[str] = (),
        properties: Sequence[str] = (),
        expert: tuple[SharedArena, SharedArena] | None = None,
        replayer: Replayer | None = None,
        kernels: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.task, self.seed, self.device = task.seeded(seed).begun(schemes), seed, device
        self.unseeded, self.memory_checks = task, memory_checks
        self.dtype: str | None = None
        self.memory = truth.Memory(budget)
        self.executions, self.operations = Executions(executor, memory_checks, replayer, kernels), operations
        self.know = truth.know_where_there_is_room if alone else truth.know
        self.lent, self.out = arenas
        self.expert = expert
        self.properties = frozenset(properties)
        self.current: int | None = None
        self.last: tuple[int, int] = (-1, -1)
        """The last two calls that were prepared."""
        self.leaves: list[Tree] = []
        self.sized: Parameters | None = None
        """The benchmark size whose calls are made without being timed."""
        self.prepared = 0
        self.recorded: dict[int, RecordedReference] = {}
        """``RecordedReference`` by benchmark size."""
        self.answers: dict[int, Any] = {}
        """Values read so far of the calls that others repeat, by the first one's index."""
        self.compared: dict[object, list[bool]] = {}
        """Whether the calls so far were right, by their kind; without repeats."""

    @functools.cached_property
    def calls(self) -> list[PlannedCall]:
        """Those to judge, which nobody asks for where only sizes are timed: to plan them takes a tenth of a second."""
        ordered = self.memory_checks and self.device.type == "cpu"
        return planned(self.unseeded, self.seed, ordered, self.properties, str(self.device))

    def known(self, index: int) -> Known:
        """What is known of a planned call; repeats share it with the call they repeat."""
        call = self.calls[index]
        self._turn_to(call.dtype)

        def make() -> Known:
            return self.know(call.judging(self.task), call.made(self.task, self.device), self.seed)

        return self.memory.get(call.key, make)

    def _turn_to(self, dtype: str | None) -> None:
        """Goes over to the task cast to another dtype, with its first weights; the other one's are given up."""
        if dtype == self.dtype:
            return
        self.memory.clear()
        del self.task
        task = self.unseeded if dtype is None else models.at(self.unseeded, dtype)
        self.task, self.dtype = task.seeded(self.seed), dtype

    def prepare(self, index: int) -> tuple[list[Tree], dict[str, Tree]]:
        """Lends a call's arguments and poisons the results; returns the trees of args and kwargs."""
        if not 0 <= index < len(self.calls):
            raise WrongOrder(f"there is no call {index}")
        known = self.known(index)
        self.lent.reset()
        self.lent.filler = FILLERS[self.prepared % len(FILLERS)]
        try:
            args, kwargs, self.leaves = lend(self.task.spoken(known.call, self.calls[index].turn), self.lent, self.task)
            self._mark_repeated(index, known.call)
        except MemoryError as error:
            raise InvalidTask(f"case {self.calls[index].message()['case']}: {error}", self.task.path) from None
        poison(self.out, result_bytes(known.returned) + SLACK, self.prepared)
        self.executions.prepare(self.prepared, self.leaves, self.calls[index].order, self.lent.filler)
        self.prepared += 1
        self.last, self.current = (self.last[1], index), index
        return args, kwargs

    def _mark_repeated(self, index: int, call: Call) -> None:
        """Says of the rows that are repeated that they are."""
        batch = self.calls[index].batch
        if batch is None or batch.places:
            return
        for (name, _), leaf in zip(self.task.named_tensors(call), self.leaves, strict=True):
            leaf.update({"repeated": True} if name in batch.names else {})

    def is_idle(self, index: int) -> bool:
        """Whether a call is not to be made: it could find nothing that the one it repeats has not (another order of programs, where none shows), or
        it is of another benchmark size than the one that is made, the first that has room."""
        call = self.calls[index]
        if not call.sized:
            return call.order != ASCENDING and not self.executions.order_matters
        if self.sized is None and self._fits(call):
            self.sized = call.parameters
        return call.parameters is not self.sized

    def _fits(self, call: PlannedCall) -> bool:
        """Whether arguments and result have room in the arenas, and the truth about them beside other oracles."""
        total = torch.cuda.get_device_properties(self.device).total_memory
        most = min(self.lent.capacity, self.out.capacity, total // SIZED_PART)
        if room(call.made(self.task, self.device)) > most:
            return False
        return result_room(result_bytes(self.known(call.index).returned)) <= most

    def check(self, index: int, tree: Tree) -> judge.Judgement:
        """Judges what the runner claims to have returned for the call last prepared."""
        if index != self.current:
            raise WrongOrder(f"call {index} is not the one last prepared")
        judgement = self.executions.judge(self._checked(index, tree))
        if judgement.status != "correct" or not self.executions.are_kept:
            return judgement
        known, call = self.known(index), self.calls[index]

        def lend_again() -> list[Tree]:
            self.lent.reset()
            return lend(self.task.spoken(known.call, call.turn), self.lent, self.task)[2]

        claim, task = claims.read(tree), call.judging(self.task)
        if self._may_be_replayed(index):
            return origin.judged(task, known, claim, self.lent, self.executions, self.operations, lend_again, judgement)
        if (self.task.contract.random or self.task.judges_state) and call.order == ASCENDING:
            # What it drew, or what its buffers held, is in the record of this call alone.
            claimed = [claims.fetch(self.out)(each).clone() for each in claims.tensor_claims(claim)]
            return origin.repeated(claim, claimed, self.executions, self.operations, lend_again, judgement)
        return judgement

    def _may_be_replayed(self, index: int) -> bool:
        """Whether what the candidate did in the call before can be done on the values of this one."""
        if self.task.contract.random or self.task.judges_state or self.last != (index - 1, index):
            return False
        # Only of calls that follow each other so: what is known of the one before may have to be made again.
        return origin.follow(self.calls[index - 1], self.calls[index]) and origin.comparable(
            self.known(index - 1).call, self.known(index).call
        )

    def _checked(self, index: int, tree: Tree) -> judge.Judgement:
        known = self.known(index)
        try:
            claim = claims.read(tree)
        except claims.ClaimError as error:
            return judge.forged(error)
        if isinstance(claim, claims.Lacking):
            return judge.lacking(self.task.named_tensors(known.call), claim)
        examined = examine_lent(self.calls[index].judging(self.task), known, claim, self.out, self.lent, self.leaves)
        if not examined.read:
            return examined
        first = self.calls[index].repeats
        if self.task.contract.random:
            judgement = self._draw(known, index if first is None else first, examined.value)
        else:
            judgement = self._repeat(known, index, first, examined.value)
        if serving.REPEATABLE in self.properties and not (self.calls[index].properties or self.task.contract.random):
            judgement.digest = judge.digest(examined.value)
        if any(tensor.reused for tensor in claims.tensor_claims(claim)):
            judgement.flags.append("reused_output")
        if examined.status != "correct":
            # What the call did beside its result is worse, but no published test looks at it.
            examined.published = judgement.published
            return examined
        return judgement

    def locate(self, index: int, tree: Tree) -> str | None:
        """The first submodule that differs, by what the runner claims of the call last prepared, as ``divergence.first`` says."""
        if index != self.current:
            raise WrongOrder(f"call {index} is not the one last prepared")
        try:
            claimed = transform(claims.read(tree), self._fetched)
        except claims.ClaimError:
            return None
        return divergence.first(self.calls[index].judging(self.task), self.known(index).call, claimed)

    def _fetched(self, leaf: Any) -> Any:
        return claims.fetch(self.out)(leaf) if isinstance(leaf, claims.TensorClaim) else leaf

    def change_weights(self) -> dict[str, list[int]]:
        """Gives the reference other weights, by which the calls that follow are judged; returns the parameters' shapes."""
        self._turn_to(None)
        self.memory.clear()
        return self.task.change_weights()

    def _draw(self, known: Known, first: int, value: Any) -> judge.Judgement:
        """Collects the draws of a random operation; the contract is asked when all are there."""
        draws = self.answers.setdefault(first, [])
        draws.append(value)
        if len(draws) < self.task.contract.draws:
            return judge.Judgement("correct", published=True)
        return judge.decide_both(self.task, known, self.answers.pop(first))

    def _repeat(self, known: Known, index: int, first: int | None, value: Any) -> judge.Judgement:
        """A repeat that differs from a right first answer depends on chance, or on the order of programs, if it is wrong. If it is right too,
        that is worth a flag: but another order may round otherwise."""
        judgement, order = judge.decide_both(self.task, known, [value]), self.calls[index].order
        if first is None:
            self._compare_with_earlier(index, judgement)
        if judgement.status == "wrong_values" and self._is_of_another(known, value):
            judgement.message = f"{judgement.message}; this is the result of another call"
        # No published test asks for another order.
        judgement.published |= order != ASCENDING
        if any(call.repeats == index for call in self.calls):
            self.answers[index] = value
        if (batch := self.calls[index].batch) is not None and batch.places:
            return _compared_rows(judgement, batch, value, self.answers.get(index if first is None else first))
        if first not in self.answers or judge.same_bits(self.answers[first], value):
            return judgement
        if order == ASCENDING:
            judgement.flags.append("nondeterministic")
        if judgement.status != "correct":
            judgement.status = "nondeterministic" if order == ASCENDING else "order_dependent"
            judgement.message = f"the same call gave another result when {_AGAIN[order]}: {judgement.message}"
        return judgement

    def _compare_with_earlier(self, index: int, judgement: judge.Judgement) -> None:
        """Says of a wrong result that other values of the same shapes were right before: what a kernel keeps may be the reason."""
        earlier = self.compared.setdefault(self.calls[index].kind, [])
        if judgement.status == "wrong_values" and earlier[:1] == [True]:
            text = f"the first call with these shapes was right, this is call {len(earlier) + 1}"
            judgement.message = f"{judgement.message}; {text}"
        earlier.append(judgement.status == "correct")

    def _is_of_another(self, known: Known, value: Any) -> bool:
        """Whether a wrong result would be right in a call that is still known, and whose result is another."""
        others = [other for other in self.memory.known.values() if other is not known]
        return any(judge.differs(known, other) and judge.agrees(self.task, value, other) for other in others)

    def close(self) -> None:
        """Gives the arenas back, and forgets what is known of the calls: another candidate has other seeds."""
        self.memory.clear()
        for arena in (self.lent, self.out, *(self.expert or ())):
            arena.close()


def _compared_rows(judgement: judge.Judgement, batch: serving.Batch, value: Any, largest: Any) -> judge.Judgement:
    """The judgement on a batch, whose rows must have the bits that they have in the result for the largest one; None: that was not read."""
    if judgement.status == "correct" and largest is not None and (found := batch.difference(value, largest)):
        judgement.status, judgement.message = "nondeterministic", found
    return judgement


def lend(call: Call, arena: Arena, task: Task | None = None) -> tuple[list[Tree], dict[str, Tree], list[Tree]]:
    """Copies a call's arguments into the arena; returns the trees of args and kwargs, and the tensor leaves in order.

    Between the elements of strided tensors lies the arena's ``filler``: nobody may rely on what lay there in the task. Tensors that share
    memory share it there.
    """
    leaves: list[Tree] = []
    placed: dict[int, Tree] = {}
    for memory in shared(truth.argument_tensors(call)):
        placed.update(zip(map(id, memory.members), arena.put_shared(memory), strict=True))

    def put(tensor: torch.Tensor) -> Tree:
        leaves.append(placed[id(tensor)] if id(tensor) in placed else _put(tensor, arena))
        return leaves[-1]

    args = [tensors.encode(a, put) for a in call.args]
    kwargs = {k: tensors.encode(v, put) for k, v in call.kwargs.items()}
    if task and task.marked:
        for (name, _), leaf in zip(task.named_tensors(call), leaves, strict=True):
            leaf.update({"requires_grad": True} if name.split("[")[0] in task.marked else {})
    return args, kwargs, leaves


def _put(tensor: torch.Tensor, arena: Arena) -> Tree:
    leaf = arena.put(tensor)
    shape, stride = leaf["shape"], leaf["stride"]
    if has_gaps(shape, stride):
        fill_gaps(arena.typed(leaf["offset"], span(shape, stride), tensor.dtype), shape, stride, arena.filler)
    return leaf


def room(call: Call) -> int:
    """Bytes that a call's arguments take in an arena, rounded up: sets of one size may differ a little."""
    sizes = [span(t.shape, t.stride()) * t.element_size() for t in truth.argument_tensors(call)]
    return ALIGN + sum((size + tensors.alignment(size)) * 9 // 8 for size in sizes)


def result_bytes(value: object) -> int:
    """Bytes that a result takes in the arena, every tensor contiguous and aligned."""
    sizes = [t.numel() * t.element_size() for t in tensors_of(value)]
    return sum(-(-max(1, size) // ALIGN) * ALIGN for size in sizes)


def result_room(nbytes: int) -> int:
    """Bytes of an arena for a result that takes ``nbytes``, with what is poisoned beyond; rounded up as in ``room``."""
    return -(-(nbytes * 9 // 8) // ALIGN) * ALIGN + SLACK


def poison(arena: Arena, nbytes: int, turn: int) -> None:
    """Fills the arena's start with bytes that are NaN or absurd in every dtype: what a call does not write shows.

    The next ``turn`` gets another byte, so that what an earlier call left behind shows as well; equal turns get equal bytes,
    so that equal runs give equal verdicts.
    """
    arena.typed(0, min(nbytes, arena.capacity), torch.uint8).fill_(0xFF - turn % 32)


def examine_lent(task: Task, known: Known, claim: Any, out: Arena, lent: Arena, leaves: list[Tree]) -> judge.Judgement:
    """``judge.examine`` for a call whose arguments lie in arena ``lent`` and whose result lies in arena ``out``."""
    originals = task.named_tensors(known.call)

    def changed() -> list[str]:
        return [name for (name, t), leaf in zip(originals, leaves, strict=True) if _changed(lent, leaf, t)]

    judgement = judge.examine(
        task, known, claim, claims.fetch(out), changed, judge.updated_in(lent, task, known.call, leaves)
    )
    if judgement.status == "correct":
        for (name, t), leaf in zip(originals, leaves, strict=True):
            if _changed_around(lent, leaf, leaves) or (task.may_change(name) and _changed_between(lent, leaf, t.dtype)):
                judgement.status = "input_mutated"
                judgement.message = f"the call wrote between the elements of its argument {name!r}"
                break
    return judgement


def _changed_between(arena: Arena, leaf: Tree, dtype: torch.dtype) -> bool:
    """Whether what lies between the elements of a lent tensor is not what was put there: also of one that may be updated."""
    shape, stride = leaf["shape"], leaf["stride"]
    if "base" in leaf or not has_gaps(shape, stride):
        return False
    flat = arena.typed(leaf["offset"], span(shape, stride), dtype)
    return not judge.equal_bits(flat, _with_gaps(flat, leaf, arena.filler))


def _changed_around(arena: Arena, leaf: Tree, leaves: list[Tree]) -> bool:
    """The same of what lies around the elements of tensors that share memory."""
    if "base" not in leaf:
        return False
    base, nbytes = leaf["base"]
    if any(each.get("base") == leaf["base"] and _fills(each) for each in leaves):
        return False
    memory = arena.typed(base, nbytes, torch.uint8)
    around = torch.ones(nbytes, dtype=torch.bool, device=memory.device)
    for other in (each for each in leaves if each.get("base") == leaf["base"]):
        size = DTYPES[other["dtype"]].itemsize
        stride = [step * size for step in other["stride"]]
        once(around.as_strided([*other["shape"], size], [*stride, 1], other["offset"] - base)).fill_(False)
    return bool((memory[around] != arena.filler).any())


def _fills(leaf: Tree) -> bool:
    """Whether nothing lies around the elements of a tensor in what it shares."""
    size = DTYPES[leaf["dtype"]].itemsize
    return not has_gaps(leaf["shape"], leaf["stride"]) and span(leaf["shape"], leaf["stride"]) * size == leaf["base"][1]


def _with_gaps(flat: torch.Tensor, leaf: Tree, filler: int) -> torch.Tensor:
    """A copy of a strided tensor's storage with ``filler`` between the elements."""
    filled = flat.clone()
    fill_gaps(filled, leaf["shape"], leaf["stride"], filler)
    return filled


def _changed(arena: Arena, leaf: Tree, original: torch.Tensor) -> bool:
    """Whether any byte of a lent tensor differs from what was lent, the gaps of a strided one included."""
    if "base" in leaf:
        return not judge.equal_bits(arena.view(leaf), original)
    shape, stride = leaf["shape"], leaf["stride"]
    count = span(shape, stride)
    mine = original.as_strided((count,), (1,), original.storage_offset())
    if has_gaps(shape, stride):
        mine = _with_gaps(mine, leaf, arena.filler)
    return count > 0 and not judge.equal_bits(arena.typed(leaf["offset"], count, original.dtype), mine)
