"""What a candidate's executor has found wrong with the launches of a call, and what becomes of the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from kbx.executor.channel import Broken, Channel
from kbx.messages import Origin, Tree
from kbx.oracle.judge import Judgement
from kbx.oracle.replayer import Replayer
from kbx.tensors import DTYPES, has_gaps, span
from kbx.ttir.findings import ASSERTION, BETWEEN, MISALIGNED, OUT_OF_BOUNDS, RACE, UNDEFINED, in_program

_STATUS = {
    OUT_OF_BOUNDS: "out_of_bounds", MISALIGNED: "runtime_error", ASSERTION: "runtime_error", RACE: "race", UNDEFINED: "undefined_value",
}  # fmt: skip
_OF_VALUES = ("wrong_values", "nondeterministic", "order_dependent")
"""Statuses of results that may be wrong because of undefined values."""
_NAMES = {MISALIGNED: "misaligned access: ", ASSERTION: "assertion: "}
"""Of kinds that have no status of their own."""
_SOURCE = "candidate.py"


class Executions:
    """Those of one candidate. ``executor()`` is the connection, None where nobody is told of launches."""

    def __init__(
        self,
        executor: Callable[[], Channel | None],
        checks: bool = True,
        replayer: Replayer | None = None,
        kernels: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """``checks``: whether what is found decides. ``replayer``: what makes calls again where launches run on a GPU; ``executor`` has
        their records then, and executes none. ``kernels`` were compiled ahead for them, see ``messages.runner.Rebuilt``."""
        self._executor, self._checks, self._unasked = executor, checks, False
        self._atomic, self._replayer, self._kernels = False, replayer, kernels

    @property
    def are_kept(self) -> bool:
        """Whether there are records of calls, or should be."""
        return self._replayer is not None or self._executor() is not None

    @property
    def on_gpu(self) -> bool:
        """Whether calls are made again on a GPU."""
        return self._replayer is not None

    @property
    def order_matters(self) -> bool:
        """Whether the result of a launch so far may depend on the order of its programs: without atomic operations only a race can make it."""
        return self._atomic or not self._executes

    @property
    def _executes(self) -> bool:
        return self._replayer is None and self._executor() is not None

    def prepare(self, seed: int, leaves: Sequence[Tree], order: str, filler: int) -> None:
        """A call begins, whose tensors are ``leaves``: kernels may touch these. ``seed`` chooses what undefined values are, ``order`` (see
        ``kbx.ttir.launch``) which programs of its launches come first. ``filler`` is the byte between the elements of strided tensors."""
        if (executor := self._executor()) is None:
            return
        message = {"prepare": seed, "lent": _lent(leaves, filler), "order": order, "forget": self._unasked}
        message["repeated"] = any(leaf.get("repeated") for leaf in leaves)
        try:
            if self._replayer is not None and self._kernels:
                executor.send({"compiled": dict(self._kernels)})
                self._kernels = {}
            executor.send(message)
            if self._replayer is not None:
                executor.receive()  # the runner must not be there first
        except Broken:
            return  # who asks for findings, or for a record, is told
        self._unasked = True

    def replay(self, back: int, leaves: Sequence[Tree], asked: Sequence[str], seed: int) -> Replayed | None:
        """What the record of the last call (``back`` 0), or of that before (1), makes of arguments that lie at these leaves. None where the
        executor has no record of a call with arguments there. ``asked``: the operations of the reference. Their memory holds then what they are afterwards."""
        if (executor := self._executor()) is None:
            return Replayed(unfit="nobody has kept records")
        lent = _lent(leaves, 0)
        forms = [[leaf.get("base", [leaf["offset"]])[0], *(leaf[name] for name in _FORM)] for leaf in leaves]
        message = {"seed": seed, "given": forms, "asked": list(asked)}
        try:
            executor.send({"replay": back, "lent": lent} | message)
            told, blobs = executor.receive()
        except Broken as error:
            if self._replayer is not None:
                self._executor = lambda: None  # a late answer would be taken for that to another question
            return _unanswered(error)
        try:
            if self._replayer is not None and "unfit" not in told:
                places = [(offset, length) for offset, length, _ in lent]
                told = self._replayer.replay(told | message | {"lent": places}, blobs)
            if "unfit" in told:
                return None if told["elsewhere"] else Replayed(unfit=str(told["unfit"]))
            if self._replayer is not None:
                return Replayed([self._replayer.result(*each) for each in told["results"]], {}, *_counts(told))
            offsets, held = sorted(offset for offset, _, _ in lent), iter(blobs)
            results = [_tensor(DTYPES[name], shape, held) for name, shape in told["results"]]
            return Replayed(results, dict(zip(offsets, held, strict=True)), *_counts(told))
        except (Broken, KeyError, TypeError, ValueError, RuntimeError) as error:
            return _unanswered(error)

    def judge(self, judgement: Judgement) -> Judgement:
        """The judgement on the call's result, with what was found: a kernel that leaves its tensors is wrong whatever it computes, one whose
        programs race is right by luck, and a wrong result that depends on undefined values is so for that reason."""
        if not self._checks or not self._executes or (executor := self._executor()) is None:
            return judgement
        try:
            executor.send({"findings": True})
            told = executor.receive()[0]
            self._atomic |= told["atomic"] is True
            found = [_Found(**each) for each in told["findings"]]
        except (Broken, KeyError, TypeError):
            return Judgement("runtime_error", "the process that executes the candidate's kernels has ended")
        self._unasked = False
        if not found:
            return judgement
        worst, result = found[0], judgement.message if judgement.status != "correct" else None
        if worst.kind == BETWEEN:
            judgement.message = f"{result}; {worst.sentence}" if judgement.status in _OF_VALUES else judgement.message
        elif worst.kind != UNDEFINED or judgement.status in _OF_VALUES:
            judgement.status = _STATUS[worst.kind]
            judgement.published &= worst.kind != MISALIGNED  # at which a GPU stops
            judgement.message = f"{worst.sentence}; the result: {result}" if result else worst.sentence
        return judgement


_FORM = ("offset", "shape", "stride", "dtype")
"""What of a leaf says where in memory that is lent its tensor lies."""


class Replayed(NamedTuple):
    """What came of a replay: tensors of the result in their order, and the bytes of arguments by their offset; or why there is nothing."""

    results: Sequence[torch.Tensor] = ()
    arguments: Mapping[int, bytearray] = MappingProxyType({})
    reads: int = 0
    """How often the call handed something to Python."""
    numbers: int = 0
    """How often that was an argument of one element, or computed from such ones alone."""
    steps: int = 0
    """Operations and launches."""
    older: int = 0
    """Bytes that are older than the call."""
    account: Origin | None = None
    """Who computed the result, as in ``messages.runner.Returned``."""
    scalars: Sequence[str] = ()
    """Fractions that the call handed to Python, as hexadecimal text."""
    unfit: str | None = None


def _unanswered(error: Exception) -> Replayed:
    return Replayed(unfit=f"the process that makes the candidate's calls again answers {type(error).__name__}")


def _counts(told: Mapping[str, Any]) -> Sequence[Any]:
    return [told[name] for name in ("reads", "numbers", "steps", "older", "account", "scalars")]


def _tensor(dtype: torch.dtype, shape: Sequence[int], held: Iterator[bytearray]) -> torch.Tensor:
    empty = torch.empty(shape, dtype=dtype)
    return torch.frombuffer(next(held), dtype=dtype).reshape(shape) if empty.numel() else empty


def _lent(leaves: Sequence[Tree], filler: int) -> list[tuple[int, int, int | None]]:
    """Where the tensors lie that a call is lent: offset, bytes, and what is between their elements."""
    lent: list[tuple[int, int, int | None]] = []
    lent += sorted({(*leaf["base"], filler) for leaf in leaves if "base" in leaf})
    for leaf in (leaf for leaf in leaves if "base" not in leaf):
        shape, stride = leaf["shape"], leaf["stride"]
        length = max(1, span(shape, stride)) * DTYPES[leaf["dtype"]].itemsize
        lent.append((leaf["offset"], length, filler if has_gaps(shape, stride) else None))
    return lent


class _Found(NamedTuple):
    """What the executor tells of a finding, see ``kbx.ttir.findings``; the worst is the first."""

    kind: str
    text: str
    file: str
    line: int
    program: Sequence[int] | None
    argument: str | None
    lanes: int
    kernel: str

    @property
    def sentence(self) -> str:
        """``line 12 of add_kernel in program (3, 0, 0): reads 4 bytes …``"""
        line = f"line {self.line}" if self.file == _SOURCE else f"{self.file}:{self.line}"
        return f"{_NAMES.get(self.kind, '')}{line} of {self.kernel}{in_program(self.program)}: {self.text}"
