"""Which variations of a call a user's own reference takes.

They are tried on the CPU, since values that an operation refuses may stop a GPU for good. So a call that is large for a CPU is at
most laid out in another way, which shapes alone allow to try.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import torch

from kbx.oracle import properties, truth
from kbx.oracle.fakes import fake_tensors
from kbx.oracle.original_models import MOST_BYTES, Measured, right
from kbx.oracle.task import InvalidTask, Parameters, Task
from kbx.suite import Call, Inputs
from kbx.suite.drawn import SIGNS, VARIATIONS, varied
from kbx.suite.values import tensors as tensors_of
from kbx.suite.values import wide

if TYPE_CHECKING:
    from kbx.oracle.own_references import OwnFunctionTask, OwnModelTask

_OwnTask = TypeVar("_OwnTask", bound="OwnFunctionTask | OwnModelTask")


TRIED_FLOPS = 1e11
"""What a call may compute to be tried on the CPU; its bytes are those of ``MOST_BYTES``: some seconds in all."""
LAID_OUT_BYTES = 256 << 20
"""Up to here a call that is too large to be tried is laid out in another way, which shapes alone allow to try."""
SIGNED_BYTES = 4 << 20
"""What another call than the smallest may take to have its signs varied."""
SEED = "0"
AS_DRAWN = "drawn"
"""The name of the only distribution."""


@dataclass(frozen=True)
class Asked:
    """What ``cases`` and ``sizes`` hold: which of the calls that are drawn, how it is varied, both in words, and the bytes that the call
    needs as far as these are known."""

    number: int
    variation: str | None
    text: str
    nbytes: int = 0
    masked: int = 0
    """How many sizes of its tensors are no power of two, as those of a kernel's blocks are: at their ends lies what a kernel masks."""

    def __repr__(self) -> str:
        return self.text if self.variation is None else f"{self.text}, {self.variation}"


def may_be_tried(made: Measured, device: str) -> bool:
    """Whether a call takes little enough on the CPU; where that is the device, whether it is judged at all."""
    return made.fits if device == "cpu" else made.nbytes <= MOST_BYTES and made.flops <= TRIED_FLOPS


def extended(made: _OwnTask, case: Parameters, device: str, bind: Callable[[], Task]) -> _OwnTask:
    """The task with variations of a case that the reference takes; ``bind()`` is the one to try them on, which runs on the CPU."""
    variations: list[tuple[str, Parameters]]
    if may_be_tried(made, device):
        signed = _signed(made, case)
        variations = [*((name, case) for name in VARIATIONS), *((name, signed) for name in SIGNS)]
        takes = functools.partial(_takes, bind())
    elif device != "cpu" and made.nbytes <= LAID_OUT_BYTES:
        variations, takes = [("non_contiguous", case)], functools.partial(_takes_shapes, made)
    else:
        return made
    # Others, of gigabytes, would take minutes to draw.
    small = [
        one for place, one in enumerate(made.cases) if place == 0 or one is case or one["inputs"].nbytes <= MOST_BYTES
    ]
    plain = [made.call(one, AS_DRAWN, SEED) for one in small]
    tested = frozenset().union(*(properties.of_call(made, call, plain[0]) for call in plain))
    asked = [
        {"inputs": replace(of["inputs"], variation=name)}
        for name, of in variations
        if name not in tested and varied(plain[small.index(of)], name, Inputs(seed=SEED)) is not None
    ]
    found = [one for one in asked if takes(one)]
    if not found:
        return made
    refused = ", ".join(one["inputs"].variation for one in asked if one not in found)
    return replace(
        made, cases=made.cases + found, tested=tuple(sorted(tested)),
        note=f"not varied, since the reference does not take it: {refused}" if refused else "",
    )  # fmt: skip


def _signed(made: _OwnTask, case: Parameters) -> Parameters:
    """The call whose signs are varied: where a kernel masks most, for what it takes a masked element for shows there alone."""
    few = [each for each in made.cases if each is case or each["inputs"].nbytes <= SIGNED_BYTES]
    return min(few, key=lambda each: (-each["inputs"].masked, each["inputs"].nbytes))


def masked(call: Call) -> int:
    """As ``Asked.masked``."""
    return sum(size & (size - 1) > 0 for tensor in truth.argument_tensors(call) for size in tensor.shape)


def _takes_shapes(task: Task, asked: Parameters) -> bool:
    """Whether a reference returns from a varied call on shapes alone."""
    reference, _ = task.traced()
    with fake_tensors(), torch.no_grad():
        try:
            call = task.call(asked, AS_DRAWN, SEED)
            task.run("the reference", reference, *call.args, **call.kwargs)
        except InvalidTask:
            return False
    return True


def _takes(task: Task, asked: Parameters) -> bool:
    """Whether a reference computes something of a varied call: it returns, what was finite stays finite unless arguments are not,
    and its result is right by its own contract."""
    try:
        known = truth.know(task, task.with_state(task.call(asked, AS_DRAWN, SEED), 0), SEED)
        results = [wide(t) for t in tensors_of(known.expected) if t.is_floating_point() or t.is_complex()]
        if asked["inputs"].variation == properties.SPECIAL:
            informative = not results or any(t.isfinite().any() for t in results)
        else:
            informative = all(t.isfinite().all() for t in results)
        return bool(informative) and right(task, known, known.expected)
    except InvalidTask:
        return False
