"""What a candidate's executor has found wrong with the launches of a call, and what becomes of the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kbx.executor.channel import Broken, Channel
from kbx.messages import Tree
from kbx.oracle.judge import Judgement
from kbx.tensors import DTYPES, span
from kbx.ttir.findings import ASSERTION, MISALIGNED, OUT_OF_BOUNDS, RACE

_MEMORY = (OUT_OF_BOUNDS, MISALIGNED, ASSERTION)
_NAMES = {OUT_OF_BOUNDS: "out of bounds", MISALIGNED: "misaligned access"}
_SOURCE = "candidate.py"


class Executions:
    """Those of one candidate. ``executor()`` is the connection, None where launches are not executed but run on a GPU."""

    def __init__(self, executor: Callable[[], Channel | None]) -> None:
        self._executor = executor

    def prepare(self, seed: int, leaves: Sequence[Tree]) -> None:
        """A call begins, whose tensors are ``leaves``: kernels may touch these. ``seed`` chooses what undefined values are."""
        if (executor := self._executor()) is None:
            return
        lent = [(leaf["offset"], max(1, span(leaf["shape"], leaf["stride"])) * DTYPES[leaf["dtype"]].itemsize)
                for leaf in leaves]  # fmt: skip
        try:
            executor.send({"prepare": seed, "lent": lent})
        except Broken:
            return  # who asks for findings is told

    def judge(self, judgement: Judgement) -> Judgement:
        """The judgement on the call's result, with what was found: a kernel that leaves its tensors is wrong whatever it computes, and one
        whose programs race is right by luck."""
        if (executor := self._executor()) is None:
            return judgement
        try:
            executor.send({"findings": True})
            found: list[dict[str, Any]] = executor.receive()[0]["findings"]
        except Broken:
            return Judgement("runtime_error", "the process that executes the candidate's kernels has ended")
        if not found:
            return judgement
        first = min(found, key=lambda each: each["kind"] not in _MEMORY)
        if first["kind"] in _MEMORY:
            return Judgement("runtime_error", _sentence(first), flags=judgement.flags)
        if judgement.status != "correct":
            judgement.message = f"{judgement.message}; cause: {_sentence(first)}"
        elif first["kind"] == RACE:
            judgement.status, judgement.message = "nondeterministic", _sentence(first)
        return judgement


def _sentence(found: dict[str, Any]) -> str:
    """``out of bounds: line 12 in program (3, 0, 0): reads 4 bytes …``"""
    line = f"line {found['line']}" if found["file"] == _SOURCE else f"{found['file']}:{found['line']}"
    program = f" in program {tuple(found['program'])}" if found["program"] is not None else ""
    return f"{_NAMES.get(found['kind'], found['kind'])}: {line}{program}: {found['text']}"
