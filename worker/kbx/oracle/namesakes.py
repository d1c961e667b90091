"""How an imported module is judged: as the bundled task of its level and name is, where there is one."""

from __future__ import annotations

import inspect
import pathlib
from typing import TYPE_CHECKING

import kbx
from kbx.suite import Close, Exact

if TYPE_CHECKING:
    from torch import nn

    from kbx.oracle.models import ModelTask
    from kbx.suite import Contract

BUNDLED = pathlib.Path(kbx.__file__).resolve().parents[2] / "tasks" / "kernelbench"

GROWTH = 8
"""Of a float32 tolerance that nobody has chosen by looking at the module. Measured in parts of the tolerance: sums and products of 32,768 terms in
order 0.22; ``exp2(x * log2(e))``, which is Triton's ``exp``, 0.21 at 80. Single sums of 2^18 normal numbers by 256 lanes, which cancel by chance: none of
300 is refused, by half of the factor one, by an eighth seven. TF32 products and float16 arithmetic take 20 times the tolerance. The factor
does not count for half precision, see ``kbx.suite.errors``."""


def file(path: str) -> pathlib.Path | None:
    """The file of the bundled task that has the level and name of the original file at ``path``; None where there is none."""
    found = BUNDLED.joinpath(*pathlib.Path(path).parts[-2:])
    return found if found.is_file() else None


def contract(bundled: ModelTask | None, model: type[nn.Module] | None) -> Contract:
    """The contract of an original whose class is ``model``, where ``bundled`` is the task of its name, or None.

    A contract that reads a call's arguments, or compares in a way of its own, fits only a ``forward`` of the same parameters.
    """
    if bundled is None or model is None:
        return Close(growth=GROWTH)
    theirs = bundled.contract
    if isinstance(theirs, (Close, Exact)) and (_plain(theirs) or _parameters(model) == _parameters(bundled.model)):
        return theirs
    growth = max(GROWTH, theirs.growth) if isinstance(theirs, Close) else GROWTH
    return Close(strides=theirs.strides, growth=growth)


def _plain(contract: Contract) -> bool:
    return type(contract) in (Close, Exact) and not callable(getattr(contract, "scale", None))


def _parameters(model: type[nn.Module]) -> list[str]:
    return list(inspect.signature(model.forward).parameters)
